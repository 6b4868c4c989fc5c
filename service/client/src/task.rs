//! The operations of a private key.

use crate::Error;
use modmill_rsa::{Digest, EncryptionScheme, Hash, Oaep, PrivateTask, SignatureScheme};
use zeroize::Zeroizing;

/// The bytes that an operation gives: a signature, a message or a number. They are cleared when they are
/// dropped.
pub type Answer = Result<Zeroizing<Vec<u8>>, Error>;

/// How a message was encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encryption {
    /// RSAES-PKCS1-v1_5. A wrong padding is no error: the answer is then a substitute that the key and the
    /// ciphertext determine (implicit rejection).
    Pkcs1v15,
    /// RSAES-OAEP.
    Oaep {
        /// The hash of the label.
        hash: Hash,
        /// The hash of the mask generation function.
        mask_hash: Hash,
        /// The label, often empty.
        label: Vec<u8>,
    },
}

impl Encryption {
    /// The scheme of the RSA library.
    #[must_use]
    pub fn scheme(&self) -> EncryptionScheme<'_> {
        match self {
            Self::Pkcs1v15 => EncryptionScheme::Pkcs1v15,
            Self::Oaep { hash, mask_hash, label } => {
                EncryptionScheme::Oaep(Oaep { hash: *hash, mask_hash: *mask_hash, label })
            }
        }
    }
}

/// An operation with a private key.
#[derive(Debug, Clone)]
pub enum Task {
    /// Signs a digest. The answer is the signature.
    Sign {
        /// The scheme of the signature.
        scheme: SignatureScheme,
        /// The digest of the message, by the hash of the scheme.
        digest: Digest,
    },
    /// Decrypts a ciphertext. The answer is the message.
    Decrypt {
        /// The scheme of the ciphertext.
        scheme: Encryption,
        /// The ciphertext, as long as the modulus.
        ciphertext: Vec<u8>,
    },
    /// Raises a number to the private exponent, without a padding. The answer is as long as the modulus.
    ///
    /// This is for callers that have made or will take off a padding themselves. RSA without a padding is
    /// easy to forge and to decrypt.
    Raw {
        /// A big-endian number below the modulus and as long as the modulus. It may be a secret, and is
        /// cleared.
        number: Zeroizing<Vec<u8>>,
    },
}

impl Task {
    /// The task as the RSA library takes it.
    pub(crate) fn borrowed(&self) -> PrivateTask<'_> {
        match self {
            Self::Sign { scheme, digest } => PrivateTask::Sign { scheme: *scheme, digest: digest.as_ref() },
            Self::Decrypt { scheme, ciphertext } => {
                PrivateTask::Decrypt { scheme: scheme.scheme(), ciphertext }
            }
            // A blind signature is the private operation on a number, and nothing else.
            Self::Raw { number } => PrivateTask::BlindSign { blinded: number },
        }
    }
}
