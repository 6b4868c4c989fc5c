//! Data keys, data key pairs, random bytes.

use super::encrypt::Side;
use super::keys::read_spec;
use crate::kms::call::Call;
use crate::kms::codec::{Blob, Encoded};
use crate::kms::documents::Spec;
use crate::kms::fields::Context;
use crate::kms::names::Names;
use crate::kms::{KmsError, fields};
use crate::secret::SecretBytes;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use zeroize::Zeroizing;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct Request {
    key_id: Option<String>,
    #[serde(default, deserialize_with = "fields::context")]
    encryption_context: Option<Context>,
    number_of_bytes: Option<i64>,
    key_spec: Option<String>,
    key_pair_spec: Option<String>,
    recipient: Option<IgnoredAny>,
    grant_tokens: Option<Vec<String>>,
    dry_run: Option<bool>,
}

impl Request {
    /// The key that seals what is generated, with every check passed.
    fn side(self, call: &Call) -> Result<Side, KmsError> {
        fields::grant_tokens(self.grant_tokens.as_ref())?;
        fields::no_recipient(self.recipient.as_ref())?;
        let key = call.key(self.key_id.as_deref(), Names::All)?;
        if key.record.spec != Spec::Symmetric {
            call.allow(&key, call.operation, crate::kms::policy::Facts::default())?;
            let message = format!("{} is not a symmetric encryption key.", key.arn);
            return Err(KmsError::new("InvalidKeyUsageException", message));
        }
        let side = Side::symmetric(call, key, self.encryption_context)?;
        call.dry_run(self.dry_run)?;
        Ok(side)
    }

    /// The length of a data key, in bytes.
    fn len(&self) -> Result<usize, KmsError> {
        let len = match (self.key_spec.as_deref(), self.number_of_bytes) {
            (Some("AES_128"), None) => 16,
            (Some("AES_256"), None) => 32,
            (Some(other), None) => {
                return Err(fields::not_in_list(other, "keySpec", &["AES_256", "AES_128"]));
            }
            (None, Some(len)) => fields::number(len, "numberOfBytes", 1..=1024)?,
            _ => return Err(KmsError::validation("Please specify either number of bytes or key spec.")),
        };
        Ok(usize::try_from(len).unwrap_or_default())
    }

    /// The bits of a data key pair.
    fn pair_spec(&self) -> Result<(Spec, usize), KmsError> {
        let name = fields::needed(self.key_pair_spec.as_deref(), "keyPairSpec")?;
        let spec = read_spec(name, "keyPairSpec")?;
        let bits = spec
            .rsa_bits()
            .ok_or_else(|| fields::not_in_list(name, "keyPairSpec", &["RSA_2048", "RSA_3072", "RSA_4096"]))?;
        Ok((spec, bits))
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct DataKey<'a> {
    ciphertext_blob: Blob,
    #[serde(skip_serializing_if = "Option::is_none")]
    plaintext: Option<Blob>,
    key_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_material_id: Option<&'a str>,
}

pub(in crate::kms) async fn data_key(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    generate_key(call, request, true).await
}

pub(in crate::kms) async fn data_key_without_plaintext(
    call: &Call,
    request: Request,
) -> Result<Encoded, KmsError> {
    generate_key(call, request, false).await
}

async fn generate_key(call: &Call, request: Request, show: bool) -> Result<Encoded, KmsError> {
    let len = request.len()?;
    let side = request.side(call)?;
    let plain = SecretBytes::random(len)?;
    let plain = Zeroizing::new(plain.expose().to_vec());
    let plaintext = show.then(|| plain.clone().into());
    let ciphertext_blob = side.encrypt(call, plain).await?;
    call.used(&side.key);
    call.codec.encode_secret(&DataKey {
        ciphertext_blob,
        plaintext,
        key_id: &side.key.arn,
        key_material_id: side.material_id(call),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct DataKeyPair<'a> {
    private_key_ciphertext_blob: Blob,
    #[serde(skip_serializing_if = "Option::is_none")]
    private_key_plaintext: Option<Blob>,
    public_key: Blob,
    key_id: &'a str,
    key_pair_spec: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_material_id: Option<&'a str>,
}

pub(in crate::kms) async fn pair(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    generate_pair(call, request, true).await
}

pub(in crate::kms) async fn pair_without_plaintext(
    call: &Call,
    request: Request,
) -> Result<Encoded, KmsError> {
    generate_pair(call, request, false).await
}

async fn generate_pair(call: &Call, request: Request, show: bool) -> Result<Encoded, KmsError> {
    let (spec, bits) = request.pair_spec()?;
    let side = request.side(call)?;
    let unwritable = |error: modmill_rsa::KeyError| KmsError::internal(&error);
    let key =
        call.service.generator.rsa(call.service.batcher.cpu(), &call.principal, bits, call.deadline).await?;
    let private = key.to_der().map_err(unwritable)?;
    let private_key_plaintext = show.then(|| private.clone().into());
    let private_key_ciphertext_blob = side.encrypt(call, private).await?;
    call.used(&side.key);
    call.codec.encode_secret(&DataKeyPair {
        private_key_ciphertext_blob,
        private_key_plaintext,
        public_key: key.public_key().to_der().map_err(unwritable)?.into(),
        key_id: &side.key.arn,
        key_pair_spec: spec.name(),
        key_material_id: side.material_id(call),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct RandomRequest {
    number_of_bytes: Option<i64>,
    custom_key_store_id: Option<IgnoredAny>,
    recipient: Option<IgnoredAny>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Random {
    plaintext: Blob,
}

pub(in crate::kms) async fn random(call: &Call, request: RandomRequest) -> Result<Encoded, KmsError> {
    call.allow_account()?;
    fields::no_recipient(request.recipient.as_ref())?;
    if request.custom_key_store_id.is_some() {
        return Err(KmsError::unsupported("Custom key stores are not supported by this service."));
    }
    let len = request.number_of_bytes.ok_or_else(|| KmsError::validation("NumberOfBytes is required."))?;
    let len = fields::number(len, "numberOfBytes", 1..=1024)?;
    let mut bytes = Zeroizing::new(vec![0; usize::try_from(len).unwrap_or_default()]);
    getrandom::fill(&mut bytes)?;
    call.codec.encode_secret(&Random { plaintext: bytes.into() })
}
