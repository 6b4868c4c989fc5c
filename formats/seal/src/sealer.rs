//! Sealing documents: AES-256-GCM-SIV, bound to the kind and the identifier of the document.
//!
//! A sealed document is one byte 1 for this form, the number of the data key in four bytes (most significant
//! first), a nonce of 12 bytes, and the ciphertext with its tag.

use crate::secret::SecretBytes;
use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};
use zeroize::Zeroizing;

/// Bytes of a key.
pub const KEY: usize = 32;
/// Bytes of a nonce.
const NONCE: usize = 12;
/// The first byte of a sealed document.
const FORM: u8 = 1;
/// Bytes before the nonce: the form and the number of the key.
const PREFIX: usize = 5;

/// Why bytes cannot be sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The key does not have 32 bytes.
    #[error("a sealing key has 32 bytes")]
    Key,
    /// The bytes were not sealed with this key for this place, or were changed.
    #[error("{kind} {id} was sealed with another key, or was changed")]
    Open {
        /// The kind of document.
        kind: String,
        /// The document's identifier.
        id: String,
    },
    /// The bytes were sealed with a data key of another number.
    #[error("{kind} {id} was sealed with data key {number}, and the key at hand is number {held}")]
    OtherKey {
        /// The kind of document.
        kind: String,
        /// The document's identifier.
        id: String,
        /// The number of the data key that sealed it.
        number: u32,
        /// The number of the data key at hand.
        held: u32,
    },
    /// None of the master keys at hand opens the store.
    #[error("the master key is wrong: it does not open the store's data key")]
    WrongMasterKey,
    /// A header asks for more memory or time than a passphrase is given.
    #[error("the parameters by which the passphrase is stretched are out of bounds")]
    Stretch,
    /// The system's generator of random numbers failed.
    #[error("no random numbers: {0}")]
    Random(String),
    /// The bytes are longer than the cipher allows.
    #[error("too long to be sealed")]
    TooLong,
}

impl From<getrandom::Error> for SealError {
    fn from(error: getrandom::Error) -> Self {
        Self::Random(error.to_string())
    }
}

/// A data key, which seals documents.
pub struct Sealer {
    number: u32,
    cipher: Aes256GcmSiv,
}

impl Sealer {
    /// The sealer with the 32 bytes of `key`, as data key 1.
    pub fn new(key: &SecretBytes) -> Result<Self, SealError> {
        Self::numbered(1, key)
    }

    /// The sealer with the 32 bytes of `key`, as data key `number`.
    pub fn numbered(number: u32, key: &SecretBytes) -> Result<Self, SealError> {
        let cipher = Aes256GcmSiv::new_from_slice(key.expose()).map_err(|_| SealError::Key)?;
        Ok(Self { number, cipher })
    }

    /// Seals the bytes of a document.
    pub fn seal(&self, kind: &str, id: &str, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce)?;
        let prefix = prefix(self.number);
        let payload = Payload { msg: plain, aad: &place(prefix, kind, id) };
        let sealed = self.cipher.encrypt(&Nonce::from(nonce), payload).map_err(|_| SealError::TooLong)?;
        Ok([&prefix[..], &nonce, &sealed].concat())
    }

    /// The bytes of a document that was sealed.
    pub fn open(&self, kind: &str, id: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let wrong = || SealError::Open { kind: kind.to_owned(), id: id.to_owned() };
        let (&prefix, sealed) = sealed.split_first_chunk::<PREFIX>().ok_or_else(wrong)?;
        let [form, number @ ..] = prefix;
        let number = u32::from_be_bytes(number);
        if form != FORM {
            return Err(wrong());
        }
        if number != self.number {
            let (kind, id) = (kind.to_owned(), id.to_owned());
            return Err(SealError::OtherKey { kind, id, number, held: self.number });
        }
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>().ok_or_else(wrong)?;
        let payload = Payload { msg: sealed, aad: &place(prefix, kind, id) };
        self.cipher.decrypt(&Nonce::from(*nonce), payload).map(Zeroizing::new).map_err(|_| wrong())
    }
}

fn prefix(number: u32) -> [u8; PREFIX] {
    let [a, b, c, d] = number.to_be_bytes();
    [FORM, a, b, c, d]
}

/// The context that a sealed document is bound to. Kinds have no zero byte, so that no two places are the
/// same.
fn place(prefix: [u8; PREFIX], kind: &str, id: &str) -> Vec<u8> {
    [&prefix[..], kind.as_bytes(), &[0], id.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealer(number: u32) -> Sealer {
        Sealer::numbered(number, &SecretBytes::new(Zeroizing::new(vec![7; KEY]))).unwrap()
    }

    #[test]
    fn a_document_opens_in_its_own_place_only() {
        let sealed = sealer(1).seal("kind", "id", b"plain").unwrap();
        assert_eq!(sealer(1).open("kind", "id", &sealed).unwrap().as_slice(), b"plain");
        for (kind, id) in [("kind", "other"), ("other", "id"), ("kin", "did")] {
            assert!(matches!(sealer(1).open(kind, id, &sealed), Err(SealError::Open { .. })));
        }
        assert!(matches!(
            sealer(2).open("kind", "id", &sealed),
            Err(SealError::OtherKey { number: 1, held: 2, .. })
        ));
    }

    #[test]
    fn every_changed_bit_and_every_length_is_noticed() {
        let sealed = sealer(1).seal("kind", "id", b"plain").unwrap();
        for bit in 0..8 * sealed.len() {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(sealer(1).open("kind", "id", &changed).is_err(), "bit {bit}");
        }
        for len in 0..sealed.len() {
            assert!(sealer(1).open("kind", "id", &sealed[..len]).is_err(), "length {len}");
        }
    }

    #[test]
    fn the_same_document_is_sealed_differently_each_time() {
        assert_ne!(
            sealer(1).seal("kind", "id", b"plain").unwrap(),
            sealer(1).seal("kind", "id", b"plain").unwrap()
        );
    }

    #[test]
    fn a_key_of_another_length_is_refused() {
        let short = SecretBytes::new(Zeroizing::new(vec![7; KEY - 1]));
        assert_eq!(Sealer::new(&short).err(), Some(SealError::Key));
    }
}
