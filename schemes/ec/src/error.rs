//! Errors of a call, of a key, and of one item of a batch.

use crate::{Curve, Hash};
use thiserror::Error;

/// The reason why a call has no answers at all.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The engine could not compute, or the operating system gave no random numbers.
    #[error(transparent)]
    Engine(#[from] modmill::Error),
    /// The keys, messages and signatures of a call differ in number.
    #[error("there are {found} {what} for {expected} items")]
    LengthMismatch {
        /// The name of the argument.
        what: &'static str,
        /// The number of items of the call.
        expected: usize,
        /// The number of entries of the argument.
        found: usize,
    },
    /// The hash is refused for ECDSA, or for these nonces.
    #[error("{hash} is refused for {scheme}")]
    UnsupportedHash {
        /// The scheme.
        scheme: &'static str,
        /// The hash.
        hash: Hash,
    },
    /// The context of Ed25519 has more than 255 bytes.
    #[error("the context has {0} bytes; at most 255 are allowed")]
    ContextTooLong(usize),
    /// Digests were given to Ed25519 without prehashing, which signs messages.
    #[error("Ed25519 signs messages; digests (SHA-512) are for Ed25519ph")]
    NotPrehashed,
}

/// The reason why one item of a batch has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ItemError {
    /// The signature is not one of this message by this key.
    #[error("the signature does not verify")]
    Verification,
    /// The bytes are no signature in strict DER.
    #[error("the signature is not strict DER of two positive integers")]
    NotDer,
    /// The signature has another length than those of its curve.
    #[error("the signature has {found} bytes instead of {expected}")]
    SignatureLength {
        /// The right length, in bytes.
        expected: usize,
        /// The length of the signature, in bytes.
        found: usize,
    },
    /// A number of the signature is zero, or not below the order of the group.
    #[error("the number {0} of the signature is out of range")]
    OutOfRange(&'static str),
    /// The signature has the larger of the two possible values of `s`, and the smaller one was asked for.
    #[error("the number s of the signature is above half the order")]
    HighS,
    /// The digest has another length than those of its hash.
    #[error("the digest has {found} bytes instead of {expected}")]
    WrongLength {
        /// The right length, in bytes.
        expected: usize,
        /// The length of the digest, in bytes.
        found: usize,
    },
    /// A point cannot be used: of the peer, of the public key, or of the signature.
    #[error(transparent)]
    Point(#[from] PointError),
    /// The key's curve does not have the operation.
    #[error("{curve} keys do not {operation}")]
    WrongCurve {
        /// The curve of the key.
        curve: Curve,
        /// The operation.
        operation: &'static str,
    },
    /// The result failed its check and was discarded. The machine is faulty, or the halves of the key do not
    /// belong together.
    #[error("the result was wrong and is not returned")]
    Fault,
}

/// The reason why bytes are not a point that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PointError {
    /// The bytes have another length.
    #[error("the point has {found} bytes instead of {expected}")]
    WrongLength {
        /// The right length, in bytes.
        expected: usize,
        /// The length found, in bytes.
        found: usize,
    },
    /// The first byte says neither uncompressed nor compressed.
    #[error("the point begins with {0:#04x}, which is neither an uncompressed nor a compressed point")]
    Prefix(u8),
    /// The point is the one at infinity.
    #[error("the point is the one at infinity")]
    Infinity,
    /// A coordinate is not below the prime, or the sign of zero is set.
    #[error("the point is not in canonical form")]
    NonCanonical,
    /// No point of the curve has these coordinates.
    #[error("the point is not on the curve")]
    OffCurve,
    /// The point is of small order.
    #[error("the point is of small order")]
    SmallOrder,
}

/// The reason why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The bytes are not a key in PEM, DER or JSON, or their contents are wrong.
    #[error("not a key that can be read: {0}")]
    Format(String),
    /// The key has a format that is not supported. `command` converts it.
    #[error("this is {format}, which is not supported; convert it with: {command}")]
    Convert {
        /// The format of the key.
        format: &'static str,
        /// A command that converts the key. `FILE` stands for the name of its file.
        command: &'static str,
    },
    /// The key is of another algorithm or curve.
    #[error("the key is for {0}, which is not supported here")]
    Algorithm(String),
    /// The key is written by SEC 1, which has no keys of its curve.
    #[error("SEC 1 has no keys of {0}; write PKCS #8 or a JSON Web Key")]
    NoSec1(Curve),
    /// The key is public, and a private key is needed.
    #[error("this is a public key; a private one is needed")]
    NotPrivate,
    /// The private number is zero, or not below the order of the group.
    #[error("the private number is zero or not below the order of the group")]
    ScalarRange,
    /// The private key has another length.
    #[error("the private key has {found} bytes instead of {expected}")]
    WrongLength {
        /// The right length, in bytes.
        expected: usize,
        /// The length found, in bytes.
        found: usize,
    },
    /// The public point cannot be used.
    #[error(transparent)]
    Point(#[from] PointError),
    /// The public half is not that of the private half.
    #[error("the public half of the key does not belong to its private half")]
    Inconsistent,
    /// A part of the key is missing.
    #[error("the key has no {0}")]
    Missing(&'static str),
}
