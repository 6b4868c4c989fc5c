//! Errors of a call, of a key, and of one item of a batch.

use modmill_primes::ModulusFlaw;
use thiserror::Error;

/// The reason why a call has no answers at all.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The engine could not compute.
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
    /// The scheme is not defined with the hash.
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

/// The reason why one item of a batch has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ItemError {
    /// The signature is not one of this message by this key. The error has no further detail.
    #[error("the signature does not verify")]
    Verification,
    /// The ciphertext does not decrypt. The error has no further detail, because an attacker could use it.
    #[error("the ciphertext does not decrypt")]
    Decryption,
    /// The result of a private operation failed its check and was discarded. The machine is faulty, or a
    /// factor of the key is not prime.
    #[error("the result of the private operation was wrong and is not returned")]
    Fault,
    /// The message is longer than the padding leaves room for.
    #[error("the message has {found} bytes; at most {limit} fit")]
    MessageTooLong {
        /// The length of the longest message, in bytes.
        limit: usize,
        /// The length of the input, in bytes.
        found: usize,
    },
    /// The key is too short for the hash and the salt.
    #[error("the key is too short for this hash and salt")]
    KeyTooShort,
    /// The input has another length than the key or the hash asks for.
    #[error("the input has {found} bytes instead of {expected}")]
    WrongLength {
        /// The right length, in bytes.
        expected: usize,
        /// The length of the input, in bytes.
        found: usize,
    },
    /// The number is not below the modulus.
    #[error("the input is not below the modulus")]
    OutOfRange,
    /// The encoded message or its blinding factor shares a factor with the modulus, as happens only with
    /// broken keys.
    #[error("the message or its blinding factor shares a factor with the modulus: the key is broken")]
    NotInvertible,
    /// The scheme of this item is not defined with the hash. Calls with one scheme for all items have
    /// [`Error::UnsupportedHash`] instead.
    #[error("{scheme} is not defined with {hash}")]
    UnsupportedHash {
        /// The scheme.
        scheme: &'static str,
        /// The hash.
        hash: crate::Hash,
    },
}

/// A scheme that is not defined with a hash: an error of the call if all items share the scheme, and of the
/// item if each has its own.
pub(crate) struct Unsupported {
    pub(crate) scheme: &'static str,
    pub(crate) hash: crate::Hash,
}

impl From<Unsupported> for Error {
    fn from(Unsupported { scheme, hash }: Unsupported) -> Self {
        Self::UnsupportedHash { scheme, hash }
    }
}

impl From<Unsupported> for ItemError {
    fn from(Unsupported { scheme, hash }: Unsupported) -> Self {
        Self::UnsupportedHash { scheme, hash }
    }
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
    #[error("the key takes too long to decrypt: {0}")]
    CostlyPassword(String),
    /// The key is public, and a private key is needed.
    #[error("this is a public key; a private one is needed")]
    NotPrivate,
    /// The modulus is shorter than allowed.
    #[error("the modulus has {bits} bits; at least {limit} are needed")]
    TooShort {
        /// The length of the modulus.
        bits: usize,
        /// The least length.
        limit: usize,
    },
    /// The modulus is longer than supported.
    #[error("the modulus has {bits} bits; at most {limit} are supported")]
    TooLong {
        /// The length of the modulus.
        bits: usize,
        /// The greatest length.
        limit: usize,
    },
    /// The modulus is even.
    #[error("the modulus is even")]
    EvenModulus,
    /// The public exponent is even, too small or too long.
    #[error("the public exponent {0}")]
    Exponent(&'static str),
    /// The key has more than two primes.
    #[error("keys with more than two primes are not supported")]
    MultiPrime,
    /// A number of the key is missing.
    #[error("the key has no {0}")]
    Missing(&'static str),
    /// The numbers of the key do not belong together.
    #[error("the key is inconsistent: {0}")]
    Inconsistent(&'static str),
    /// The key has no prime factors, and they do not follow from its exponents.
    #[error("the key has no prime factors, and they cannot be computed from its exponents: give p and q")]
    NoFactors,
    /// The modulus is easy to factor.
    #[error("the modulus is not well-formed: {0}")]
    Modulus(ModulusFlaw),
    /// A factor is not prime.
    #[error("the factor {0} is not prime")]
    NotPrime(&'static str),
    /// No key can be generated with this length.
    #[error("cannot generate a key of {bits} bits: {reason}")]
    Generate {
        /// The length asked for.
        bits: usize,
        /// The reason.
        reason: &'static str,
    },
}
