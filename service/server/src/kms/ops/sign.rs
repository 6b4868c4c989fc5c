//! Sign and Verify.

use super::algorithms::Signing;
use crate::kms::call::Call;
use crate::kms::codec::{Blob, Encoded};
use crate::kms::documents::Usage;
use crate::kms::names::{Key, Names};
use crate::kms::policy::Facts;
use crate::kms::{KmsError, fields};
use modmill_rsa::{Digest, ItemError, PrivateKey, PrivateTask, PublicTask};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The longest message, in bytes.
const MESSAGE_LIMIT: usize = 4096;

/// The longest signature, in bytes.
const SIGNATURE_LIMIT: usize = 6144;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct Request {
    key_id: Option<String>,
    message: Option<Blob>,
    message_type: Option<String>,
    signing_algorithm: Option<String>,
    signature: Option<Blob>,
    grant_tokens: Option<Vec<String>>,
    dry_run: Option<bool>,
}

/// A request that passed every check, and the key that it is about.
struct Checked {
    key: Key,
    algorithm: Signing,
    digest: Digest,
    private: Arc<PrivateKey>,
}

impl Checked {
    async fn of(call: &Call, request: Request) -> Result<Self, KmsError> {
        let message = fields::blob(request.message, "message", MESSAGE_LIMIT)?;
        let message_type = request.message_type.as_deref().unwrap_or("RAW");
        fields::grant_tokens(request.grant_tokens.as_ref())?;
        let key = call.key(request.key_id.as_deref(), Names::All)?;
        let facts = Facts {
            signing_algorithm: request.signing_algorithm.as_deref(),
            message_type: Some(message_type),
            ..Facts::default()
        };
        call.allow(&key, call.operation, facts)?;
        let material = call.material(&key, Usage::Sign)?;
        let algorithm = Signing::read(request.signing_algorithm.as_deref(), key.record.spec)?;
        let digest = digest(algorithm, message_type, message.bytes())?;
        call.dry_run(request.dry_run)?;
        let private = call.service.keys.load(&material.id, &material.secret).await?;
        Ok(Self { key, algorithm, digest, private })
    }
}

fn digest(algorithm: Signing, message_type: &str, message: &[u8]) -> Result<Digest, KmsError> {
    let hash = algorithm.hash();
    let wrong = |why: &str| KmsError::validation(format!("{why} {}.", algorithm.name()));
    match message_type {
        "RAW" => Ok(hash.digest(&[message])),
        "DIGEST" => Digest::from_bytes(message)
            .filter(|_| message.len() == hash.len())
            .ok_or_else(|| wrong("Digest is invalid length for algorithm")),
        "EXTERNAL_MU" => Err(wrong("MessageType EXTERNAL_MU is not valid for algorithm")),
        other => Err(fields::not_in_list(other, "messageType", &["RAW", "DIGEST", "EXTERNAL_MU"])),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Signed<'a> {
    key_id: &'a str,
    signature: Blob,
    signing_algorithm: &'static str,
}

pub(in crate::kms) async fn sign(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let Checked { key, algorithm, digest, private } = Checked::of(call, request).await?;
    let task = PrivateTask::Sign { scheme: algorithm.scheme(), digest };
    let signature = call.service.batcher.private(call.origin(&key), private, task).await?;
    call.used(&key);
    let signature = Blob::from(signature);
    call.codec.encode(&Signed { key_id: &key.arn, signature, signing_algorithm: algorithm.name() })
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Verified<'a> {
    key_id: &'a str,
    signature_valid: bool,
    signing_algorithm: &'static str,
}

pub(in crate::kms) async fn verify(call: &Call, mut request: Request) -> Result<Encoded, KmsError> {
    let signature = fields::blob(request.signature.take(), "signature", SIGNATURE_LIMIT)?;
    let Checked { key, algorithm, digest, private } = Checked::of(call, request).await?;
    let public = private.public_key().clone();
    let signature = signature.bytes().to_vec();
    let task = PublicTask::Verify { scheme: algorithm.scheme(), digest, signature };
    let mut answers = call.service.batcher.public_many(call.origin(&key), public, vec![task]).await?;
    match answers.pop().unwrap_or(Err(ItemError::Fault)) {
        Ok(_) => {}
        Err(ItemError::Fault) => return Err(ItemError::Fault.into()),
        // A signature of another length is as wrong as any other.
        Err(_) => return Err(ItemError::Verification.into()),
    }
    call.used(&key);
    call.codec.encode(&Verified {
        key_id: &key.arn,
        signature_valid: true,
        signing_algorithm: algorithm.name(),
    })
}
