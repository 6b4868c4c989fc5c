//! Credentials: who may ask for what. Making, finding and revoking them.

mod document;

pub use document::{Credential, Principal, Right};

use crate::records::{Changes, Kinds, Records, RecordsError};
use crate::secret::SecretBytes;
use crate::sha256::sha256;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use parking_lot::RwLock;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The beginning of every token.
const TOKEN_PREFIX: &str = "mm.";
/// The longest name.
const LONGEST_NAME: usize = 64;
/// The letters of an access key's identifier.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Why a credential is not made or revoked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The name is not one that ARNs can hold.
    #[error("a name has 1 to {LONGEST_NAME} letters, digits or characters of _+=,.@-")]
    Name,
    /// There is no such credential.
    #[error("there is no credential {0}")]
    Unknown(String),
    /// The system's generator of random numbers failed.
    #[error("no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    /// The documents cannot be changed.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

/// A new credential. Its secrets are shown once: the token cannot be had from the store again.
pub struct NewCredential {
    /// The access key's identifier: `AKIA` and 16 letters and digits.
    pub access_key_id: String,
    /// The secret access key, 40 characters.
    pub secret_access_key: Zeroizing<String>,
    /// The token for interfaces that take a token.
    pub token: Zeroizing<String>,
}

/// The kinds of documents of this module.
#[must_use]
pub fn kinds(kinds: Kinds) -> Kinds {
    kinds.with::<Credential>()
}

/// Whether a text may be the name of a principal. ARNs can hold it.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_+=,.@-".contains(&byte);
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(allowed)
}

/// Makes a credential for the principal `name` with `rights`. `now_ms` is the time in milliseconds
/// since 1970.
pub async fn create(
    records: &Records,
    name: &str,
    rights: BTreeSet<Right>,
    now_ms: u64,
) -> Result<NewCredential, CredentialError> {
    if !is_name(name) {
        return Err(CredentialError::Name);
    }
    let new = NewCredential {
        access_key_id: access_key_id()?,
        secret_access_key: Zeroizing::new(STANDARD.encode(SecretBytes::random(30)?.expose())),
        token: token()?,
    };
    let credential = Credential {
        access_key_id: new.access_key_id.clone(),
        secret_access_key: SecretBytes::new(Zeroizing::new(new.secret_access_key.as_bytes().to_vec())),
        token_hash: token_hash(&new.token),
        name: name.to_owned(),
        rights,
        created_ms: now_ms,
    };
    records.change(|_| Ok::<_, CredentialError>((Changes::new().put(&credential), ()))).await?;
    Ok(new)
}

/// All credentials, in the order of their identifiers.
#[must_use]
pub fn list(records: &Records) -> Vec<Arc<Credential>> {
    records.all()
}

/// Deletes the credential `access_key_id`. Every replica refuses it as soon as it has seen the change.
pub async fn revoke(records: &Records, access_key_id: &str) -> Result<(), CredentialError> {
    let delete = |records: &Records| match records.get::<Credential>(access_key_id) {
        Some(_) => Ok((Changes::new().delete::<Credential>(access_key_id), ())),
        None => Err(CredentialError::Unknown(access_key_id.to_owned())),
    };
    records.change(delete).await
}

/// Finds credentials by their tokens.
///
/// The map is looked up by the hash of a token of 32 random bytes. The time that this takes tells nothing
/// about another token, because nobody can choose a token whose hash is near that of one he does not know.
#[derive(Default)]
pub struct CredentialIndex(RwLock<Index>);

#[derive(Default)]
struct Index {
    /// The commit that the map was made from.
    seen: u64,
    by_token: HashMap<[u8; 32], Arc<Credential>>,
}

impl CredentialIndex {
    /// The credential with `token`.
    #[must_use]
    pub fn by_token(&self, records: &Records, token: &str) -> Option<Arc<Credential>> {
        let hash = token_hash(token);
        // Read before the documents: what is committed in between is in the map, and makes it new once more.
        let seen = records.seen();
        let index = self.0.read();
        if index.seen == seen {
            return index.by_token.get(&hash).cloned();
        }
        drop(index);
        let by_token: HashMap<_, _> = list(records).into_iter().map(|it| (it.token_hash, it)).collect();
        let found = by_token.get(&hash).cloned();
        let mut index = self.0.write();
        if index.seen < seen {
            *index = Index { seen, by_token };
        }
        found
    }
}

/// SHA-256 of a token, which is all that the store holds of it.
#[must_use]
pub fn token_hash(token: &str) -> [u8; 32] {
    sha256(&[token.as_bytes()])
}

fn token() -> Result<Zeroizing<String>, getrandom::Error> {
    let random = Zeroizing::new(URL_SAFE_NO_PAD.encode(SecretBytes::random(32)?.expose()));
    Ok(Zeroizing::new([TOKEN_PREFIX, &random].concat()))
}

fn access_key_id() -> Result<String, getrandom::Error> {
    let bits = u128::from(getrandom::u64()?) << 64 | u128::from(getrandom::u64()?);
    let letter = |index: usize| char::from(BASE32[(bits >> (5 * index)) as usize % 32]);
    Ok("AKIA".chars().chain((0..16).map(letter)).collect())
}

#[cfg(test)]
mod tests;
