//! The tasks of the batcher, and the reasons why a task gets no answer.

use crate::credentials::Principal;
use modmill_rsa::{Digest, EncryptionScheme, Hash, ItemError, Oaep, SignatureScheme};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// How a message is encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encryption {
    /// RSAES-PKCS1-v1_5.
    Pkcs1v15,
    /// RSAES-OAEP with one hash for the label and the mask.
    Oaep {
        /// The hash.
        hash: Hash,
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
            Self::Oaep { hash, label } => EncryptionScheme::Oaep(Oaep { label, ..Oaep::new(*hash) }),
        }
    }
}

/// An operation with a private key.
#[derive(Debug, Clone)]
pub enum PrivateTask {
    /// Signs a digest.
    Sign {
        /// The scheme.
        scheme: SignatureScheme,
        /// The digest of the message with the scheme's hash.
        digest: Digest,
    },
    /// Decrypts a ciphertext.
    Decrypt {
        /// The scheme.
        scheme: Encryption,
        /// The ciphertext.
        ciphertext: Vec<u8>,
    },
    /// Signs a blinded message (RFC 9474, BlindSign).
    BlindSign {
        /// The blinded message, as long as the modulus.
        blinded: Vec<u8>,
    },
}

/// An operation with a public key.
#[derive(Debug, Clone)]
pub enum PublicTask {
    /// Verifies the signature of a digest. The answer is empty.
    Verify {
        /// The scheme.
        scheme: SignatureScheme,
        /// The digest of the message with the scheme's hash.
        digest: Digest,
        /// The signature.
        signature: Vec<u8>,
    },
    /// Encrypts a message.
    Encrypt {
        /// The scheme.
        scheme: Encryption,
        /// The message.
        message: Zeroizing<Vec<u8>>,
    },
}

/// The origin of an operation, for fairness between principals and for the audit log.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The principal that asks.
    pub principal: Arc<Principal>,
    /// The door: `kms`, `transit`, `bulk`, `privacy_pass`.
    pub door: &'static str,
    /// The operation as its door names it: `Sign`.
    pub operation: &'static str,
    /// The key's identifier.
    pub key_id: Arc<str>,
    /// The request's identifier.
    pub request_id: Arc<str>,
    /// The time from which on the answer is of no use.
    pub deadline: Instant,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The queue is full. Clients try again.
    #[error("the service is busy: try again in {0:?}")]
    Overloaded(Duration),
    /// The deadline passed before the operation was computed.
    #[error("the request took too long")]
    Late,
    /// The service is shutting down and takes no more requests.
    #[error("the service is shutting down")]
    Draining,
    /// The item has no answer: wrong ciphertext, wrong signature, wrong length.
    #[error(transparent)]
    Item(#[from] ItemError),
    /// The engine failed.
    #[error("the operation failed: {0}")]
    Failed(String),
}
