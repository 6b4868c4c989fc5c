//! Signature schemes and encryption schemes.

use crate::padding::oaep::Oaep;
use crate::padding::pss::Pss;
use crate::{Digest, Error, Hash, ItemError};

/// A signature scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureScheme {
    /// RSASSA-PKCS1-v1_5 with the given hash.
    Pkcs1v15(Hash),
    /// RSASSA-PSS with the given parameters.
    Pss(Pss),
}

impl SignatureScheme {
    /// PSS with the parameters of [`Pss::new`]: `hash` for the message and for the mask. A signature is made with a
    /// salt as long as the digest. A signature with a salt of any length verifies.
    #[must_use]
    pub fn pss(hash: Hash) -> Self {
        Self::Pss(Pss::new(hash))
    }

    /// The hash of the message.
    #[must_use]
    pub fn hash(&self) -> Hash {
        match self {
            Self::Pkcs1v15(hash) => *hash,
            Self::Pss(pss) => pss.hash,
        }
    }

    /// Refuses to sign with SHA-1, for which collisions are known.
    pub(crate) fn check_signing(&self) -> Result<(), Error> {
        match self.hash() {
            Hash::Sha1 => Err(Error::UnsupportedHash { scheme: "signing", hash: Hash::Sha1 }),
            _ => Ok(()),
        }
    }

    /// The bytes before the digest in PKCS #1 v1.5. PSS has none.
    pub(crate) fn prefix(&self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Pkcs1v15(hash) => hash
                .digest_info_prefix()
                .ok_or(Error::UnsupportedHash { scheme: "PKCS #1 v1.5", hash: *hash }),
            Self::Pss(_) => Ok(Vec::new()),
        }
    }

    /// Reads a digest that the caller computed. It has to be as long as digests of the scheme's hash.
    pub(crate) fn read_digest(&self, bytes: &[u8]) -> Result<Digest, ItemError> {
        let expected = self.hash().len();
        let wrong = ItemError::WrongLength { expected, found: bytes.len() };
        Digest::from_bytes(bytes).filter(|_| bytes.len() == expected).ok_or(wrong)
    }
}

/// An encryption scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncryptionScheme<'a> {
    /// RSAES-PKCS1-v1_5. A wrong padding is no error of decryption: see [`crate::Rsa::decrypt`].
    Pkcs1v15,
    /// RSAES-OAEP with the given parameters.
    Oaep(Oaep<'a>),
}

impl EncryptionScheme<'_> {
    /// OAEP with `hash` for the label and for the mask, and an empty label.
    #[must_use]
    pub fn oaep(hash: Hash) -> Self {
        Self::Oaep(Oaep::new(hash))
    }

    /// Refuses OAEP with an extendable-output function, which no standard defines.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Self::Oaep(oaep) => {
                match [oaep.hash, oaep.mask_hash].into_iter().find(|hash| hash.is_extendable()) {
                    Some(hash) => Err(Error::UnsupportedHash { scheme: "OAEP", hash }),
                    None => Ok(()),
                }
            }
            Self::Pkcs1v15 => Ok(()),
        }
    }
}
