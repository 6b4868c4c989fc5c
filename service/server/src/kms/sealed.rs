//! Ciphertexts of symmetric keys.
//!
//! ```text
//!  version   key's UUID   nonce      AES-256-GCM-SIV of the plaintext, with its tag
//!  1 byte    16 bytes     12 bytes   length + 16 bytes
//! ```
//!
//! Version, UUID and encryption context are authenticated. The key is that of the ciphertext's key
//! identifier, so that clients need not say which.

use super::KmsError;
use super::codec::Blob;
use super::documents::Material;
use super::fields::Context;
use crate::uuid;
use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};
use zeroize::Zeroizing;

const VERSION: u8 = 1;
const HEAD: usize = 17;
const NONCE: usize = 12;

/// The identifier of the key that a ciphertext is of.
pub(super) fn key_of(ciphertext: &[u8]) -> Result<String, KmsError> {
    match ciphertext.split_first_chunk::<HEAD>() {
        Some(([VERSION, id @ ..], _)) => Ok(uuid::text(id)),
        _ => Err(KmsError::ciphertext()),
    }
}

/// Encrypts with the key `key_id`, whose secret is `material`.
pub(super) fn seal(
    key_id: &str,
    material: &Material,
    context: &Context,
    plain: &[u8],
) -> Result<Blob, KmsError> {
    let id = uuid::octets(key_id).ok_or_else(|| KmsError::internal(&"a key's identifier is not a UUID"))?;
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce)?;
    let mut head = [VERSION; HEAD];
    head[1..].copy_from_slice(&id);
    let payload = Payload { msg: plain, aad: &authenticated(&head, context) };
    let sealed = cipher(material)?.encrypt(&Nonce::from(nonce), payload);
    let sealed = sealed.map_err(|_| KmsError::internal(&"the plaintext is too long"))?;
    Ok([&head[..], &nonce, &sealed].concat().into())
}

/// Decrypts what [`seal`] wrote. There is one error, whatever is wrong.
pub(super) fn open(
    material: &Material,
    context: &Context,
    ciphertext: &[u8],
) -> Result<Zeroizing<Vec<u8>>, KmsError> {
    let (head, rest) = ciphertext.split_first_chunk::<HEAD>().ok_or_else(KmsError::ciphertext)?;
    let (nonce, sealed) = rest.split_first_chunk::<NONCE>().ok_or_else(KmsError::ciphertext)?;
    let payload = Payload { msg: sealed, aad: &authenticated(head, context) };
    let plain = cipher(material)?.decrypt(&Nonce::from(*nonce), payload);
    plain.map(Zeroizing::new).map_err(|_| KmsError::ciphertext())
}

fn cipher(material: &Material) -> Result<Aes256GcmSiv, KmsError> {
    Aes256GcmSiv::new_from_slice(material.secret.expose())
        .map_err(|_| KmsError::internal(&"a symmetric key does not have 32 bytes"))
}

/// The data that are authenticated besides the plaintext. Lengths stand before texts, so that no two contexts
/// are the same bytes.
fn authenticated(head: &[u8; HEAD], context: &Context) -> Vec<u8> {
    let mut bytes = head.to_vec();
    for text in context.iter().flat_map(|(name, value)| [name, value]) {
        bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::SecretBytes;

    const KEY: &str = "01234567-89ab-4cde-8f01-23456789abcd";

    fn material() -> Material {
        let secret = SecretBytes::random(32).unwrap();
        Material { id: String::new(), secret, public: Blob::default(), expires_ms: None }
    }

    fn context(entries: &[(&str, &str)]) -> Context {
        entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn ciphertexts_open_with_their_context_only() {
        let material = material();
        let right = context(&[("a", "bc"), ("d", "")]);
        let sealed = seal(KEY, &material, &right, b"secret").unwrap();
        assert_eq!(key_of(sealed.bytes()).unwrap(), KEY);
        assert_eq!(&**open(&material, &right, sealed.bytes()).unwrap(), b"secret");
        for wrong in [&[][..], &[("a", "bc")], &[("ab", "c"), ("d", "")], &[("a", "bc"), ("d", "x")]] {
            assert_eq!(open(&material, &context(wrong), sealed.bytes()), Err(KmsError::ciphertext()));
        }
        assert_eq!(open(&super::tests::material(), &right, sealed.bytes()), Err(KmsError::ciphertext()));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        let material = material();
        let none = Context::new();
        let sealed = seal(KEY, &material, &none, b"secret").unwrap();
        for at in 0..sealed.bytes().len() {
            let mut changed = sealed.bytes().to_vec();
            changed[at] ^= 1;
            assert_eq!(open(&material, &none, &changed), Err(KmsError::ciphertext()), "byte {at}");
            assert!(open(&material, &none, &sealed.bytes()[..at]).is_err());
        }
        assert!(key_of(&[2; 100]).is_err());
        assert!(key_of(&[1; 16]).is_err());
    }
}
