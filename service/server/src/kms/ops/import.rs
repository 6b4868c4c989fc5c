//! Key material from elsewhere.

use crate::hex;
use crate::kms::call::{Call, gone};
use crate::kms::codec::{Blob, Encoded, Time};
use crate::kms::documents::{ImportToken, KeyRecord, Material, Origin, Spec, names};
use crate::kms::names::Key;
use crate::kms::{KmsError, fields};
use crate::records::{Changes, Records};
use crate::secret::SecretBytes;
use crate::sha256::sha256;
use aes_kw::{KeyInit, KwpAes256};
use modmill::Engine;
use modmill_rsa::{EncryptionScheme, Hash, PrivateKey, Rsa, Sizes};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use zeroize::Zeroizing;

/// How long a token can be used, in milliseconds.
const TOKEN_MS: u64 = 86_400_000;

/// The longest time after which material may expire, in milliseconds.
const VALIDITY_MS: u64 = 365 * 86_400_000;

/// Bytes of a token.
const TOKEN: usize = 32;

/// The longest wrapped material and the longest token that a request may have, in bytes.
const LIMIT: usize = 6144;

names! {
    /// How material is wrapped.
    pub(super) Wrapping {
        /// OAEP with SHA-1.
        Oaep1 = "RSAES_OAEP_SHA_1",
        /// OAEP with SHA-256.
        Oaep256 = "RSAES_OAEP_SHA_256",
        /// An AES key by OAEP with SHA-1, and the material by that key (RFC 5649).
        KeyWrap1 = "RSA_AES_KEY_WRAP_SHA_1",
        /// An AES key by OAEP with SHA-256, and the material by that key (RFC 5649).
        KeyWrap256 = "RSA_AES_KEY_WRAP_SHA_256",
    }
}

const WRAPPINGS: [&str; 6] = [
    "RSAES_PKCS1_V1_5",
    "RSAES_OAEP_SHA_1",
    "RSAES_OAEP_SHA_256",
    "RSA_AES_KEY_WRAP_SHA_1",
    "RSA_AES_KEY_WRAP_SHA_256",
    "SM2PKE",
];

impl Wrapping {
    fn read(name: Option<&str>, spec: Spec) -> Result<Self, KmsError> {
        let name = fields::needed(name, "wrappingAlgorithm")?;
        let wrapping = match Self::of(name) {
            Some(wrapping) => wrapping,
            None if WRAPPINGS.contains(&name) => {
                return Err(KmsError::unsupported(format!("{name} is not supported by this service.")));
            }
            None => return Err(fields::not_in_list(name, "wrappingAlgorithm", &WRAPPINGS)),
        };
        if spec != Spec::Symmetric && !wrapping.has_key_wrap() {
            let message = format!("{name} has no room for key material of {}.", spec.name());
            return Err(KmsError::unsupported(message));
        }
        Ok(wrapping)
    }

    fn has_key_wrap(self) -> bool {
        matches!(self, Self::KeyWrap1 | Self::KeyWrap256)
    }

    fn hash(self) -> Hash {
        match self {
            Self::Oaep1 | Self::KeyWrap1 => Hash::Sha1,
            Self::Oaep256 | Self::KeyWrap256 => Hash::Sha256,
        }
    }

    /// The material. There is one error, whatever is wrong.
    fn unwrap(self, engine: &Engine, key: &PrivateKey, wrapped: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (first, rest) = wrapped.split_at_checked(key.public_key().size())?;
        let opened = Rsa::new(engine).decrypt(key, EncryptionScheme::oaep(self.hash()), &[first]);
        let opened = opened.ok()?.pop()?.ok()?;
        if !self.has_key_wrap() {
            return rest.is_empty().then_some(opened);
        }
        let wrapper = KwpAes256::new_from_slice(&opened).ok()?;
        let mut material = Zeroizing::new(vec![0; rest.len()]);
        let len = wrapper.unwrap_key(rest, &mut material).ok()?.len();
        Some(Zeroizing::new(material.get(..len)?.to_vec()))
    }
}

/// A key that material can be imported into.
fn importable(call: &Call, name: Option<&str>) -> Result<Key, KmsError> {
    let key = call.allowed_key(name)?;
    if key.record.origin != Origin::External {
        let message = format!(
            "{} origin is {} which is not valid for this operation.",
            key.arn,
            key.record.origin.name()
        );
        return Err(KmsError::unsupported(message));
    }
    call.not_pending_deletion(&key, &key.record)?;
    Ok(key)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct ParametersRequest {
    key_id: Option<String>,
    wrapping_algorithm: Option<String>,
    wrapping_key_spec: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Parameters<'a> {
    key_id: &'a str,
    import_token: Blob,
    public_key: Blob,
    parameters_valid_to: Time,
}

pub(in crate::kms) async fn parameters(call: &Call, request: ParametersRequest) -> Result<Encoded, KmsError> {
    let key = importable(call, request.key_id.as_deref())?;
    let wrapping = Wrapping::read(request.wrapping_algorithm.as_deref(), key.record.spec)?;
    let name = fields::needed(request.wrapping_key_spec.as_deref(), "wrappingKeySpec")?;
    let specs = ["RSA_2048", "RSA_3072", "RSA_4096", "SM2"];
    let bits = Spec::of(name).and_then(Spec::rsa_bits).ok_or_else(|| match name {
        "SM2" => KmsError::unsupported("SM2 is not supported by this service."),
        name => fields::not_in_list(name, "wrappingKeySpec", &specs),
    })?;
    let pair = Material::of_rsa(
        &call.service.generator.rsa(call.service.batcher.cpu(), &call.principal, bits, call.deadline).await?,
    )?;
    let token = SecretBytes::random(TOKEN)?;
    call.note("wrapping", wrapping.name());
    let expires_ms = call.now_ms + TOKEN_MS;
    let document = ImportToken {
        id: hex::encode(&sha256(&[token.expose()])),
        key_id: key.record.id.clone(),
        algorithm: wrapping.name().to_owned(),
        secret: pair.secret,
        expires_ms,
    };
    call.service.records.change(|_| Ok::<_, KmsError>((Changes::new().put(&document), ()))).await?;
    call.codec.encode_secret(&Parameters {
        key_id: &key.arn,
        import_token: token.expose().to_vec().into(),
        public_key: pair.public,
        parameters_valid_to: Time::of_ms(expires_ms),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct ImportRequest {
    key_id: Option<String>,
    import_token: Option<Blob>,
    encrypted_key_material: Option<Blob>,
    valid_to: Option<Time>,
    expiration_model: Option<String>,
    import_type: Option<String>,
    key_material_id: Option<String>,
}

impl ImportRequest {
    /// The time at which the material is to expire, in milliseconds since 1970.
    fn expires_ms(&self, now_ms: u64) -> Result<Option<u64>, KmsError> {
        match (self.expiration_model.as_deref().unwrap_or("KEY_MATERIAL_EXPIRES"), self.valid_to) {
            ("KEY_MATERIAL_DOES_NOT_EXPIRE", None) => Ok(None),
            ("KEY_MATERIAL_DOES_NOT_EXPIRE", Some(_)) => {
                Err(KmsError::validation("ValidTo must not be set if the key material does not expire."))
            }
            ("KEY_MATERIAL_EXPIRES", None) => Err(KmsError::validation(
                "A validTo date must be set if the ExpirationModel is KEY_MATERIAL_EXPIRES",
            )),
            ("KEY_MATERIAL_EXPIRES", Some(time)) => match time.ms() {
                at_ms if at_ms <= now_ms => Err(KmsError::validation("ValidTo must be in the future.")),
                at_ms if at_ms > now_ms + VALIDITY_MS => {
                    Err(KmsError::validation("ValidTo must be within 365 days."))
                }
                at_ms => Ok(Some(at_ms)),
            },
            (other, _) => {
                let list = ["KEY_MATERIAL_EXPIRES", "KEY_MATERIAL_DOES_NOT_EXPIRE"];
                Err(fields::not_in_list(other, "expirationModel", &list))
            }
        }
    }
}

fn incorrect(message: &str) -> KmsError {
    KmsError::new("IncorrectKeyMaterialException", message)
}

/// The token's document, if it is one of this key and of today.
fn find_token(call: &Call, key: &Key, token: &Blob) -> Result<Arc<ImportToken>, KmsError> {
    let document = call.service.records.get::<ImportToken>(&hex::encode(&sha256(&[token.bytes()])));
    let document = document.filter(|document| document.key_id == key.record.id);
    let document = document
        .ok_or_else(|| KmsError::new("InvalidImportTokenException", "The import token is not valid."))?;
    if document.expires_ms <= call.now_ms {
        return Err(KmsError::new("ExpiredImportTokenException", "The import token expired."));
    }
    Ok(document)
}

/// Unwraps and checks material. This takes its time.
fn read_material(
    engine: &Engine,
    token: &ImportToken,
    wrapped: &Blob,
    spec: Spec,
) -> Result<Material, KmsError> {
    let wrapping = Wrapping::of(&token.algorithm)
        .ok_or_else(|| KmsError::internal(&"a token's algorithm is not known"))?;
    let pair = PrivateKey::read(token.secret.expose(), None, Sizes::Standard)
        .map_err(|error| KmsError::internal(&error))?;
    let plain = wrapping.unwrap(engine, &pair, wrapped.bytes()).ok_or_else(KmsError::ciphertext)?;
    let Some(bits) = spec.rsa_bits() else {
        return match plain.len() {
            32 => Material::of_symmetric(SecretBytes::new(plain)),
            _ => Err(incorrect("Symmetric key material has 32 bytes.")),
        };
    };
    // PKCS #8 is DER, which begins so. Keys in text are for files.
    if plain.first() != Some(&0x30) {
        return Err(incorrect("The key material is not a key in PKCS #8."));
    }
    let key = PrivateKey::read(&plain, None, Sizes::Standard)
        .map_err(|_| incorrect("The key material is not a valid RSA private key in PKCS #8."))?;
    if key.bits() != bits {
        return Err(incorrect("The key material is of another key spec."));
    }
    key.check_primes(engine).map_err(|_| incorrect("The key material is not a valid RSA private key."))?;
    Material::of_rsa(&key)
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Imported<'a> {
    key_id: &'a str,
    key_material_id: &'a str,
}

pub(in crate::kms) async fn import(call: &Call, mut request: ImportRequest) -> Result<Encoded, KmsError> {
    let token = fields::blob(request.import_token.take(), "importToken", LIMIT)?;
    let wrapped = fields::blob(request.encrypted_key_material.take(), "encryptedKeyMaterial", LIMIT)?;
    let expires_ms = request.expires_ms(call.now_ms)?;
    match request.import_type.as_deref() {
        None | Some("EXISTING_KEY_MATERIAL" | "NEW_KEY_MATERIAL") => {}
        Some(other) => {
            let list = ["NEW_KEY_MATERIAL", "EXISTING_KEY_MATERIAL"];
            return Err(fields::not_in_list(other, "importType", &list));
        }
    }
    let key = importable(call, request.key_id.as_deref())?;
    let token = find_token(call, &key, &token)?;
    let (engine, spec) = (Arc::clone(call.service.batcher.cpu()), key.record.spec);
    call.note_received(wrapped.bytes());
    let read = move || read_material(&engine, &token, &wrapped, spec);
    let material = call.service.generator.run(&call.principal, call.deadline, read).await??;
    let material = Material { expires_ms, ..material };
    call.note("material", material.id.as_str());
    call.note("expires_ms", expires_ms);
    if request.key_material_id.as_ref().is_some_and(|id| *id != material.id) {
        return Err(incorrect("The key material does not have this identifier."));
    }
    let change = |record: &mut KeyRecord| {
        call.not_pending_deletion(&key, record)?;
        let existing = record.imported_id.as_ref();
        if existing.is_some_and(|id| *id != material.id) {
            return Err(incorrect("The key material is not the same that was imported into the key before."));
        }
        if existing.is_none() && request.import_type.as_deref() == Some("EXISTING_KEY_MATERIAL") {
            return Err(incorrect("No key material was imported into the key before."));
        }
        record.imported_id = Some(material.id.clone());
        record.material = Some(material.clone());
        Ok(())
    };
    call.change_key(&key, change).await?;
    call.codec.encode(&Imported { key_id: &key.arn, key_material_id: &material.id })
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct DeleteRequest {
    key_id: Option<String>,
    key_material_id: Option<String>,
}

pub(in crate::kms) async fn delete(call: &Call, request: DeleteRequest) -> Result<Encoded, KmsError> {
    let key = importable(call, request.key_id.as_deref())?;
    let delete = |records: &Records| {
        let record = records.get::<KeyRecord>(&key.record.id).ok_or_else(|| gone(&key))?;
        let mut record = KeyRecord::clone(&record);
        call.not_pending_deletion(&key, &record)?;
        let material = record.material.take();
        let wanted = request.key_material_id.as_ref();
        if wanted.is_some() && wanted != material.as_ref().map(|material| &material.id) {
            return Err(KmsError::not_found("The key has no key material with this identifier."));
        }
        // Deleting what is not there succeeds, so that requests can be repeated.
        let changes = if material.is_some() { Changes::new().put(&record) } else { Changes::new() };
        Ok((changes, material))
    };
    let material = call.service.records.change(delete).await?;
    let id = material.map(|material| {
        call.service.keys.forget(&material.id);
        material.id
    });
    let id = id.or_else(|| key.record.imported_id.clone()).unwrap_or_default();
    call.note("material", id.as_str());
    call.codec.encode(&Imported { key_id: &key.arn, key_material_id: &id })
}
