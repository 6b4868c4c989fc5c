//! The keys of an issuer.

use crate::clock::Clock;
use crate::door;
use crate::hex;
use crate::records::{Changes, Document, Records, RecordsError};
use crate::secret::SecretBytes;
use crate::sha256::sha256;
use modmill::Engine;
use modmill_rsa::{KeyError, PrivateKey, PublicKey, Sizes};
use pkcs1::RsaPssParamsRef;
use serde::{Deserialize, Serialize};
use sha2::Sha384;
use spki::der::Encode as _;
use spki::der::asn1::BitString;
use spki::{AlgorithmIdentifier, ObjectIdentifier, SubjectPublicKeyInfo};
use std::sync::Arc;

/// The length of a key of token type 0x0002.
const BITS: usize = 2048;

/// The identifier of RSASSA-PSS.
const PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");

/// Keys that an issuer has at most: their identifiers end with different bytes, and a new key is found in a
/// few attempts as long as most bytes are free.
const MAX_KEYS: usize = 64;

/// Why a key cannot be created or retired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IssuerError {
    /// The store failed.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The key cannot be made.
    #[error("the key cannot be made: {0}")]
    Key(String),
    /// There are too many keys.
    #[error("an issuer has at most {MAX_KEYS} keys: retire one first")]
    TooMany,
    /// There is no such key.
    #[error("the issuer has no key {0}")]
    Missing(String),
}

impl From<KeyError> for IssuerError {
    fn from(error: KeyError) -> Self {
        Self::Key(error.to_string())
    }
}

/// A key that signs token requests.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IssuerKey {
    /// The token key's identifier, SHA-256 of the public key, in hexadecimal.
    pub id: String,
    /// The private key in PKCS #8.
    pub material: SecretBytes,
    /// The public key as `SubjectPublicKeyInfo` with the identifier of RSASSA-PSS.
    pub public_key: Vec<u8>,
    /// The time from which on the key signs, in seconds since 1970.
    pub not_before_s: u64,
    /// The time at which the key was created, in milliseconds since 1970.
    pub created_ms: u64,
}

impl Document for IssuerKey {
    const KIND: &'static str = "issuer_key";

    fn id(&self) -> &str {
        &self.id
    }
}

impl IssuerKey {
    /// The last byte of the identifier, which token requests name the key by.
    #[must_use]
    pub fn truncated_id(&self) -> u8 {
        sha256(&[&self.public_key]).last().copied().unwrap_or_default()
    }
}

/// The public key as a directory has it: a `SubjectPublicKeyInfo` of RSASSA-PSS with SHA-384, MGF1 with
/// SHA-384 and 48 bytes of salt. The hashes have no parameters, not even NULL (RFC 9578, section 6.5).
fn spki(key: &PublicKey) -> Result<Vec<u8>, IssuerError> {
    let rsa = key.to_pkcs1_der()?;
    let mut parameters = RsaPssParamsRef::new::<Sha384>(48);
    parameters.hash.parameters = None;
    parameters.mask_gen.parameters = Some(parameters.hash);
    let algorithm = AlgorithmIdentifier { oid: PSS, parameters: Some(parameters) };
    let key = BitString::from_bytes(&rsa);
    key.and_then(|subject_public_key| SubjectPublicKeyInfo { algorithm, subject_public_key }.to_der())
        .map_err(|error| IssuerError::Key(error.to_string()))
}

/// Creates a key that signs from `not_before_s` on (seconds since 1970), or from now on. Keys are rotated by
/// creating one that starts later than clients keep the directory, and retiring the old one when its tokens
/// are no longer wanted.
pub async fn create(
    records: &Records,
    engine: &Arc<Engine>,
    clock: &Clock,
    not_before_s: Option<u64>,
) -> Result<IssuerKey, IssuerError> {
    loop {
        let now_ms = clock.now_ms();
        let engine = Arc::clone(engine);
        let work = move || -> Result<_, IssuerError> {
            let key = PrivateKey::generate(&engine, BITS, Sizes::Standard)
                .map_err(|error| IssuerError::Key(error.to_string()))?;
            Ok((SecretBytes::new(key.to_der()?), spki(key.public_key())?))
        };
        let (material, public_key) = door::blocking(work).await.map_err(IssuerError::Key)??;
        let id = hex::encode(&sha256(&[&public_key]));
        let not_before_s = not_before_s.unwrap_or(now_ms / 1000);
        let key = IssuerKey { id, material, public_key, not_before_s, created_ms: now_ms };
        // A request names a key by one byte, which another key must not have.
        let is_new = records
            .change::<_, IssuerError>(|records| {
                let keys = records.all::<IssuerKey>();
                if keys.len() >= MAX_KEYS {
                    return Err(IssuerError::TooMany);
                }
                let is_new = keys.iter().all(|other| other.truncated_id() != key.truncated_id());
                Ok((if is_new { Changes::new().put(&key) } else { Changes::new() }, is_new))
            })
            .await?;
        if is_new {
            return Ok(key);
        }
    }
}

/// All keys, in the order in which a directory has them at the time `now_s`: first the one that clients
/// should use, which is the newest that signs already.
#[must_use]
pub fn in_order(records: &Records, now_s: u64) -> Vec<Arc<IssuerKey>> {
    let mut keys = records.all::<IssuerKey>();
    keys.sort_by_key(|key| (key.not_before_s > now_s, std::cmp::Reverse((key.not_before_s, key.created_ms))));
    keys
}

/// Deletes a key: it signs no longer. Tokens that it signed still verify with its public key.
pub async fn retire(records: &Records, id: &str) -> Result<(), IssuerError> {
    let decide = |records: &Records| {
        if records.get::<IssuerKey>(id).is_none() {
            return Err(IssuerError::Missing(id.to_owned()));
        }
        Ok((Changes::new().delete::<IssuerKey>(id), ()))
    };
    records.change(decide).await
}
