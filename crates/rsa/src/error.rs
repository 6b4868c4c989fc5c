//! Errors: of a call, of a key, of one item of a batch.

use thiserror::Error;

/// Why a call has no answers at all.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A key that cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The engine could not compute.
    #[error(transparent)]
    Engine(#[from] modmill::Error),
    /// Keys, messages and signatures of one call differ in number.
    #[error("there are {found} {what} for {expected} items")]
    LengthMismatch {
        /// Which argument.
        what: &'static str,
        /// How many items the call has.
        expected: usize,
        /// How many of these there are.
        found: usize,
    },
    /// A hash that the scheme is not defined with.
    #[error("{scheme} is not defined with {hash}")]
    UnsupportedHash {
        /// The scheme.
        scheme: &'static str,
        /// The hash.
        hash: crate::Hash,
    },
    /// The operating system gave no random numbers.
    #[error("no random numbers: {0}")]
    Random(String),
}

/// Why one item of a batch has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ItemError {
    /// The signature is not one of this message by this key. Nothing more is said.
    #[error("the signature does not verify")]
    Verification,
    /// The ciphertext does not decrypt. Nothing more is said.
    #[error("the ciphertext does not decrypt")]
    Decryption,
    /// A private operation went wrong and its result was thrown away: a fault of the machine, or a key
    /// whose factors are not prime.
    #[error("the result of the private operation was wrong and is not released")]
    Fault,
    /// A message longer than the padding leaves room for.
    #[error("the message has {found} bytes; at most {limit} fit")]
    MessageTooLong {
        /// Bytes that fit.
        limit: usize,
        /// Bytes given.
        found: usize,
    },
    /// A key too short for hash and salt.
    #[error("the key is too short for this hash and salt")]
    KeyTooShort,
    /// An input of another length than the key or the hash asks for.
    #[error("the input has {found} bytes instead of {expected}")]
    WrongLength {
        /// Bytes needed.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// A number that is not below the modulus.
    #[error("the input is not below the modulus")]
    OutOfRange,
}

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Neither PEM, nor DER, nor a JSON Web Key.
    #[error("not a key that can be read: {0}")]
    Format(String),
    /// The key is of another algorithm.
    #[error("the key is for {0}, not for RSA")]
    Algorithm(String),
    /// The key is encrypted and no password was given.
    #[error("the key is encrypted: it needs a password")]
    PasswordNeeded,
    /// The key does not decrypt with the password.
    #[error("the key does not decrypt with this password")]
    WrongPassword,
    /// Decrypting the key would take too much time or memory.
    #[error("the key's encryption asks for too much: {0}")]
    CostlyPassword(String),
    /// A public key where a private one is needed.
    #[error("this is a public key; a private one is needed")]
    NotPrivate,
    /// The modulus is shorter than allowed.
    #[error("the modulus has {bits} bits; at least {limit} are needed")]
    TooShort {
        /// Its length.
        bits: usize,
        /// The least allowed.
        limit: usize,
    },
    /// The modulus is longer than supported.
    #[error("the modulus has {bits} bits; at most {limit} are supported")]
    TooLong {
        /// Its length.
        bits: usize,
        /// The most supported.
        limit: usize,
    },
    /// The modulus is even.
    #[error("the modulus is even")]
    EvenModulus,
    /// A public exponent that is even, too small or too long.
    #[error("the public exponent {0}")]
    Exponent(&'static str),
    /// More than two primes.
    #[error("keys with more than two primes are not supported")]
    MultiPrime,
    /// A part is missing.
    #[error("the key has no {0}")]
    Missing(&'static str),
    /// Parts that do not belong together.
    #[error("the key is inconsistent: {0}")]
    Inconsistent(&'static str),
    /// A factor that is not prime.
    #[error("the factor {0} is not prime")]
    NotPrime(&'static str),
    /// A length that keys cannot be generated with.
    #[error("cannot generate a key of {bits} bits: {reason}")]
    Generate {
        /// The length asked for.
        bits: usize,
        /// Why not.
        reason: &'static str,
    },
}
