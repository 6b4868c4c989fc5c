//! Encrypt, Decrypt and ReEncrypt.

use super::algorithms::Cipher;
use crate::kms::call::Call;
use crate::kms::codec::{Blob, Encoded};
use crate::kms::documents::{Material, Usage};
use crate::kms::fields::Context;
use crate::kms::names::{self, Key, Names};
use crate::kms::policy::Facts;
use crate::kms::{KmsError, fields, sealed};
use modmill_rsa::{Encryption, ItemError, PrivateTask, PublicTask};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use zeroize::Zeroizing;

/// The longest plaintext, in bytes.
const PLAINTEXT_LIMIT: usize = 4096;

/// The longest ciphertext, in bytes.
const CIPHERTEXT_LIMIT: usize = 6144;

/// One side of an operation: a key, how to use it, and what is authenticated.
pub(super) struct Side {
    pub(super) key: Key,
    cipher: Cipher,
    context: Context,
}

impl Side {
    /// Checks that `action` is allowed with `key`, and that the key can do it.
    fn of(
        call: &Call,
        key: Key,
        action: &str,
        cipher: Cipher,
        context: Option<Context>,
    ) -> Result<Self, KmsError> {
        let facts = Facts {
            encryption_algorithm: Some(cipher.name()),
            encryption_context: context.as_ref(),
            ..Facts::default()
        };
        call.allow(&key, action, facts)?;
        call.material(&key, Usage::Encrypt)?;
        cipher.check(key.record.spec)?;
        let context = context.unwrap_or_default();
        if cipher != Cipher::Symmetric && !context.is_empty() {
            return Err(KmsError::validation(
                "EncryptionContext is not supported for an asymmetric KMS key.",
            ));
        }
        Ok(Self { key, cipher, context })
    }

    /// The side of a symmetric key, for data keys.
    pub(super) fn symmetric(call: &Call, key: Key, context: Option<Context>) -> Result<Self, KmsError> {
        Self::of(call, key, call.operation, Cipher::Symmetric, context)
    }

    pub(super) fn material(&self, call: &Call) -> Result<&Material, KmsError> {
        call.material(&self.key, Usage::Encrypt)
    }

    /// Refuses a plaintext that the algorithm has no room for.
    fn check_room(&self, len: usize) -> Result<(), KmsError> {
        let (Some(Encryption::Oaep { hash, .. }), Some(bits)) =
            (self.cipher.rsa(), self.key.record.spec.rsa_bits())
        else {
            return Ok(());
        };
        let room = (bits / 8).saturating_sub(2 * hash.len() + 2);
        if len <= room {
            return Ok(());
        }
        Err(KmsError::validation(format!(
            "Algorithm {} and key spec {} cannot encrypt data larger than {room} bytes.",
            self.cipher.name(),
            self.key.record.spec.name()
        )))
    }

    pub(super) async fn encrypt(&self, call: &Call, plain: Zeroizing<Vec<u8>>) -> Result<Blob, KmsError> {
        self.check_room(plain.len())?;
        let material = self.material(call)?;
        let Some(scheme) = self.cipher.rsa() else {
            let sealed = sealed::seal(&self.key.record.id, material, &self.context, &plain)?;
            call.audit(&self.key, sealed.bytes(), None)?;
            return Ok(sealed);
        };
        let private = call.service.keys.load(&material.id, &material.secret).await?;
        let public = private.public_key().clone();
        let tasks = vec![PublicTask::Encrypt { scheme, message: plain }];
        let mut answers = call.service.batcher.public_many(call.origin(&self.key), public, tasks).await?;
        Ok(answers.pop().unwrap_or(Err(ItemError::Fault))?.into())
    }

    async fn decrypt(&self, call: &Call, ciphertext: &Blob) -> Result<Zeroizing<Vec<u8>>, KmsError> {
        let material = self.material(call)?;
        let Some(scheme) = self.cipher.rsa() else {
            let opened = sealed::open(material, &self.context, ciphertext.bytes());
            let error = opened.as_ref().err().map(|error| error.name.to_string());
            call.audit(&self.key, ciphertext.bytes(), error)?;
            return opened;
        };
        let private = call.service.keys.load(&material.id, &material.secret).await?;
        let task = PrivateTask::Decrypt { scheme, ciphertext: ciphertext.bytes().to_vec() };
        Ok(call.service.batcher.private(call.origin(&self.key), private, task).await?)
    }

    /// The identifier of a symmetric key's material.
    pub(super) fn material_id(&self, call: &Call) -> Option<&str> {
        let material = self.key.record.material_at(call.now_ms)?;
        (self.cipher == Cipher::Symmetric).then_some(&material.id)
    }
}

/// The key that a ciphertext is to be decrypted with. Symmetric ciphertexts name it; a request may name it as
/// well.
fn source(
    call: &Call,
    name: Option<&str>,
    member: &str,
    cipher: Cipher,
    ciphertext: &Blob,
) -> Result<Key, KmsError> {
    if cipher != Cipher::Symmetric {
        return call.key_at(name, member, Names::All);
    }
    let named = name.map(|_| call.key_at(name, member, Names::All)).transpose()?;
    let id = match (sealed::key_of(ciphertext.bytes()), &named) {
        // The algorithm does not fit, which says more than that the ciphertext does not.
        (Err(_), Some(key)) if key.record.spec.rsa_bits().is_some() => return Ok(key.clone()),
        (id, _) => id?,
    };
    match named {
        Some(key) if key.record.id == id => Ok(key),
        Some(_) => Err(KmsError::new(
            "IncorrectKeyException",
            "The key ID in the request does not identify a CMK that can perform this operation.",
        )),
        None => names::find(&call.service.settings, &call.service.records, &id, Names::Keys).map_err(|_| {
            let message = "The ciphertext refers to a customer master key that does not exist, does not exist in this \
                           region, or you are not allowed to access.";
            KmsError::new("AccessDeniedException", message)
        }),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct EncryptRequest {
    key_id: Option<String>,
    plaintext: Option<Blob>,
    #[serde(default, deserialize_with = "fields::context")]
    encryption_context: Option<Context>,
    encryption_algorithm: Option<String>,
    grant_tokens: Option<Vec<String>>,
    dry_run: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Encrypted<'a> {
    ciphertext_blob: Blob,
    key_id: &'a str,
    encryption_algorithm: &'static str,
}

pub(in crate::kms) async fn encrypt(call: &Call, request: EncryptRequest) -> Result<Encoded, KmsError> {
    let plain = fields::blob(request.plaintext, "plaintext", PLAINTEXT_LIMIT)?;
    fields::grant_tokens(request.grant_tokens.as_ref())?;
    let cipher = Cipher::read(request.encryption_algorithm.as_deref(), "encryptionAlgorithm")?;
    let key = call.key(request.key_id.as_deref(), Names::All)?;
    let side = Side::of(call, key, "Encrypt", cipher, request.encryption_context)?;
    side.check_room(plain.bytes().len())?;
    call.dry_run(request.dry_run)?;
    let ciphertext_blob = side.encrypt(call, plain.into_bytes()).await?;
    call.used(&side.key);
    call.codec.encode(&Encrypted {
        ciphertext_blob,
        key_id: &side.key.arn,
        encryption_algorithm: cipher.name(),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct DecryptRequest {
    ciphertext_blob: Option<Blob>,
    #[serde(default, deserialize_with = "fields::context")]
    encryption_context: Option<Context>,
    key_id: Option<String>,
    encryption_algorithm: Option<String>,
    recipient: Option<IgnoredAny>,
    grant_tokens: Option<Vec<String>>,
    dry_run: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Decrypted<'a> {
    key_id: &'a str,
    plaintext: Blob,
    encryption_algorithm: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_material_id: Option<&'a str>,
}

pub(in crate::kms) async fn decrypt(call: &Call, request: DecryptRequest) -> Result<Encoded, KmsError> {
    let ciphertext = fields::blob(request.ciphertext_blob, "ciphertextBlob", CIPHERTEXT_LIMIT)?;
    fields::grant_tokens(request.grant_tokens.as_ref())?;
    fields::no_recipient(request.recipient.as_ref())?;
    let cipher = Cipher::read(request.encryption_algorithm.as_deref(), "encryptionAlgorithm")?;
    let key = source(call, request.key_id.as_deref(), "keyId", cipher, &ciphertext)?;
    let side = Side::of(call, key, "Decrypt", cipher, request.encryption_context)?;
    call.dry_run(request.dry_run)?;
    let plaintext = side.decrypt(call, &ciphertext).await?.into();
    call.used(&side.key);
    call.codec.encode_secret(&Decrypted {
        key_id: &side.key.arn,
        plaintext,
        encryption_algorithm: cipher.name(),
        key_material_id: side.material_id(call),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct ReEncryptRequest {
    ciphertext_blob: Option<Blob>,
    #[serde(default, deserialize_with = "fields::context")]
    source_encryption_context: Option<Context>,
    source_key_id: Option<String>,
    source_encryption_algorithm: Option<String>,
    destination_key_id: Option<String>,
    #[serde(default, deserialize_with = "fields::context")]
    destination_encryption_context: Option<Context>,
    destination_encryption_algorithm: Option<String>,
    grant_tokens: Option<Vec<String>>,
    dry_run: Option<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct ReEncrypted<'a> {
    ciphertext_blob: Blob,
    source_key_id: &'a str,
    key_id: &'a str,
    source_encryption_algorithm: &'static str,
    destination_encryption_algorithm: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_key_material_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_key_material_id: Option<&'a str>,
}

pub(in crate::kms) async fn re_encrypt(call: &Call, request: ReEncryptRequest) -> Result<Encoded, KmsError> {
    let ciphertext = fields::blob(request.ciphertext_blob, "ciphertextBlob", CIPHERTEXT_LIMIT)?;
    fields::grant_tokens(request.grant_tokens.as_ref())?;
    let from = Cipher::read(request.source_encryption_algorithm.as_deref(), "sourceEncryptionAlgorithm")?;
    let to =
        Cipher::read(request.destination_encryption_algorithm.as_deref(), "destinationEncryptionAlgorithm")?;
    let key = call.key_at(request.destination_key_id.as_deref(), "destinationKeyId", Names::All)?;
    let destination = Side::of(call, key, "ReEncryptTo", to, request.destination_encryption_context)?;
    let key = source(call, request.source_key_id.as_deref(), "sourceKeyId", from, &ciphertext)?;
    let source = Side::of(call, key, "ReEncryptFrom", from, request.source_encryption_context)?;
    call.dry_run(request.dry_run)?;
    let plain = source.decrypt(call, &ciphertext).await?;
    let ciphertext_blob = destination.encrypt(call, plain).await?;
    call.used(&source.key);
    call.used(&destination.key);
    call.codec.encode(&ReEncrypted {
        ciphertext_blob,
        source_key_id: &source.key.arn,
        key_id: &destination.key.arn,
        source_encryption_algorithm: from.name(),
        destination_encryption_algorithm: to.name(),
        source_key_material_id: source.material_id(call),
        destination_key_material_id: destination.material_id(call),
    })
}
