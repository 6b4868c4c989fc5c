//! Signature schemes and encryption schemes.

use crate::error::Unsupported;
use crate::padding::oaep::Oaep;
use crate::padding::pss::Pss;
use crate::padding::{ct, pkcs1v15};
use crate::steps::Refusal;
use crate::{Digest, Hash, ItemError, PrivateKey, random};
use zeroize::Zeroizing;

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
    /// PSS with the parameters of [`Pss::new`]: `hash` for the message and for the mask. A signature is made
    /// with a salt as long as the digest. A signature with a salt of any length verifies.
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
    pub(crate) fn check_signing(&self) -> Result<(), Unsupported> {
        match self.hash() {
            Hash::Sha1 => Err(Unsupported { scheme: "signing", hash: Hash::Sha1 }),
            _ => Ok(()),
        }
    }

    /// The bytes before the digest in PKCS #1 v1.5. PSS has none.
    pub(crate) fn prefix(&self) -> Result<Vec<u8>, Unsupported> {
        match self {
            Self::Pkcs1v15(hash) => {
                hash.digest_info_prefix().ok_or(Unsupported { scheme: "PKCS #1 v1.5", hash: *hash })
            }
            Self::Pss(_) => Ok(Vec::new()),
        }
    }

    /// Reads a digest that the caller computed. It has to be as long as digests of the scheme's hash.
    pub(crate) fn read_digest(&self, bytes: &[u8]) -> Result<Digest, ItemError> {
        let expected = self.hash().len();
        let wrong = ItemError::WrongLength { expected, found: bytes.len() };
        Digest::from_bytes(bytes).filter(|_| bytes.len() == expected).ok_or(wrong)
    }

    /// Writes the encoding of `digest` into `block`, for a signature by a key of `key_bits` bits. The salt of
    /// PSS is drawn. `prefix` is that of the scheme.
    pub(crate) fn encode(
        &self,
        prefix: &[u8],
        digest: &Digest,
        key_bits: usize,
        block: &mut [u8],
    ) -> Result<(), Refusal> {
        match self {
            Self::Pkcs1v15(_) => pkcs1v15::encode_digest(prefix, digest.as_ref(), block)?,
            Self::Pss(pss) => {
                let mut salt = Zeroizing::new(vec![0; pss.salt_len(key_bits)?]);
                random::fill(&mut salt)?;
                pss.encode(digest.as_ref(), &salt, key_bits, block)?;
            }
        }
        Ok(())
    }

    /// Whether `block`, the public power of a signature by a key of `key_bits` bits, is an encoding of
    /// `digest`. The block is overwritten.
    pub(crate) fn verify(
        &self,
        prefix: &[u8],
        digest: &Digest,
        key_bits: usize,
        block: &mut [u8],
    ) -> Result<(), ItemError> {
        let verifies = match self {
            Self::Pkcs1v15(_) => {
                let mut expected = vec![0; block.len()];
                // A key that is too short for the hash has no valid signature.
                pkcs1v15::encode_digest(prefix, digest.as_ref(), &mut expected).is_ok()
                    && ct::equal(&expected, block).declassify()
            }
            Self::Pss(pss) => pss.verify(digest.as_ref(), key_bits, block),
        };
        if verifies { Ok(()) } else { Err(ItemError::Verification) }
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
    pub(crate) fn check(&self) -> Result<(), Unsupported> {
        match self {
            Self::Oaep(oaep) => {
                match [oaep.hash, oaep.mask_hash].into_iter().find(|hash| hash.is_extendable()) {
                    Some(hash) => Err(Unsupported { scheme: "OAEP", hash }),
                    None => Ok(()),
                }
            }
            Self::Pkcs1v15 => Ok(()),
        }
    }

    /// Writes the encoding of `message` into `block`. Seed and padding are drawn.
    pub(crate) fn encode(&self, message: &[u8], block: &mut [u8]) -> Result<(), Refusal> {
        match self {
            Self::Pkcs1v15 => {
                pkcs1v15::encode_message(message, block, |bytes| Ok::<(), Refusal>(random::fill(bytes)?))
            }
            Self::Oaep(oaep) => {
                let mut seed = Zeroizing::new(vec![0; oaep.hash.len()]);
                random::fill(&mut seed)?;
                Ok(oaep.encode(message, &seed, block)?)
            }
        }
    }

    /// Returns the message in `block`, the private power of `ciphertext`. The block is overwritten.
    pub(crate) fn decode<'b>(
        &self,
        key: &PrivateKey,
        ciphertext: &[u8],
        block: &'b mut [u8],
    ) -> Result<&'b [u8], ItemError> {
        match self {
            Self::Oaep(oaep) => oaep.decode(block),
            Self::Pkcs1v15 => pkcs1v15::decode_message(key.rejection_key(), ciphertext, block),
        }
    }
}
