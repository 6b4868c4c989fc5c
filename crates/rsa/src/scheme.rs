//! Which signature, which encryption.

use crate::padding::oaep::Oaep;
use crate::padding::pss::Pss;
use crate::{Error, Hash};

/// A signature scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureScheme {
    /// RSASSA-PKCS1-v1_5 with this hash.
    Pkcs1v15(Hash),
    /// RSASSA-PSS.
    Pss(Pss),
}

impl SignatureScheme {
    /// PSS with one hash for everything and a salt as long as the digest.
    #[must_use]
    pub fn pss(hash: Hash) -> Self {
        Self::Pss(Pss::new(hash))
    }

    /// The hash of messages.
    #[must_use]
    pub fn hash(&self) -> Hash {
        match self {
            Self::Pkcs1v15(hash) => *hash,
            Self::Pss(pss) => pss.hash,
        }
    }

    /// Whether it can be signed with: not with SHA-1, whose collisions are known.
    pub(crate) fn check_signing(&self) -> Result<(), Error> {
        match self.hash() {
            Hash::Sha1 => Err(Error::UnsupportedHash { scheme: "signing", hash: Hash::Sha1 }),
            _ => Ok(()),
        }
    }

    /// What stands before digests of PKCS #1 v1.5, and nothing for PSS.
    pub(crate) fn prefix(&self) -> Result<Vec<u8>, Error> {
        match self {
            Self::Pkcs1v15(hash) => hash
                .digest_info_prefix()
                .ok_or(Error::UnsupportedHash { scheme: "PKCS #1 v1.5", hash: *hash }),
            Self::Pss(_) => Ok(Vec::new()),
        }
    }
}

/// An encryption scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncryptionScheme<'a> {
    /// RSAES-PKCS1-v1_5. Decryption never fails for its padding: see [`crate::Rsa::decrypt`].
    Pkcs1v15,
    /// RSAES-OAEP.
    Oaep(Oaep<'a>),
}

impl EncryptionScheme<'_> {
    /// OAEP with one hash for everything and no label.
    #[must_use]
    pub fn oaep(hash: Hash) -> Self {
        Self::Oaep(Oaep::new(hash))
    }

    /// OAEP is not defined with extendable functions.
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
