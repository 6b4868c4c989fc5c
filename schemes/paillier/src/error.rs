//! Errors of calls and of keys.

use modmill_container::FileError;
use modmill_primes::ModulusFlaw;
use thiserror::Error;

/// The reason why a call has no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The engine could not compute.
    #[error(transparent)]
    Engine(#[from] modmill::Error),
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A column cannot be read.
    #[error("not a Paillier column that can be read: {0}")]
    Column(#[source] FileError),
    /// The operands of a call differ in number.
    #[error("{}", modmill::Error::LengthMismatch { what, expected: *expected, found: *found })]
    LengthMismatch {
        /// The operand.
        what: &'static str,
        /// The number of items of the first operand.
        expected: usize,
        /// The number of items of this operand.
        found: usize,
    },
    /// Two operands, or an operand and the key, belong to different keys.
    #[error("{what} belongs to the key {found} and not to the key {expected}")]
    WrongKey {
        /// The operand.
        what: &'static str,
        /// The start of the fingerprint of the key that is needed.
        expected: String,
        /// The start of the fingerprint of the operand's key.
        found: String,
    },
    /// A number is outside of its range.
    #[error("item {index} of {what} is not {range}")]
    OutOfRange {
        /// The operand.
        what: &'static str,
        /// The position of the item.
        index: usize,
        /// The range.
        range: &'static str,
    },
    /// Items do not decrypt. The ciphertexts share a factor with n, or the machine erred. No plaintext is
    /// returned.
    #[error("{} of the items do not decrypt, the first is item {}: it shares a factor with n, or the machine erred",
        items.len(), items.first().copied().unwrap_or(0))]
    Decryption {
        /// The positions of the items, rising.
        items: Vec<usize>,
    },
    /// The short exponents of Damgård, Jurik and Nielsen need a key that was generated for them.
    #[error("the key has no base for short exponents")]
    NoShortExponents,
    /// A number is too large for its encoding.
    #[error("item {index} is too large: its encoding may have {limit} bits")]
    TooLarge {
        /// The position of the item.
        index: usize,
        /// The greatest length of an encoding, in bits.
        limit: usize,
    },
    /// A floating-point number is infinite or not a number.
    #[error("item {index} is not finite")]
    NotFinite {
        /// The position of the item.
        index: usize,
    },
    /// The sum of two exponents of a fixed-point column does not fit 32 bits.
    #[error("the exponent {0} of a fixed-point number is out of range")]
    Exponent(i64),
    /// The answer of an operation might exceed the range of encoded numbers.
    #[error(
        "{operation} might overflow: the answer may have {bits} bits, and the key holds signed numbers of {limit} bits"
    )]
    Overflow {
        /// The operation.
        operation: &'static str,
        /// The length that the answer may have, in bits.
        bits: usize,
        /// The length that the key allows, in bits.
        limit: usize,
    },
    /// The answer of an operation might exceed the headroom of packed numbers.
    #[error(
        "{operation} might overflow: the answer is a sum of {terms} numbers, and the packing allows {limit}"
    )]
    Headroom {
        /// The operation.
        operation: &'static str,
        /// The number of terms of the answer.
        terms: u128,
        /// The number of terms that the packing allows.
        limit: u128,
    },
    /// Columns of packed numbers have different layouts.
    #[error("the columns are packed in different ways")]
    Layout,
    /// A layout of packed numbers is not possible.
    #[error("the packing is not possible: {0}")]
    Packing(String),
    /// A decrypted number is no encoding: a sum or a product overflowed.
    #[error("item {index} is no encoded number: a computation overflowed")]
    NotEncoded {
        /// The position of the item.
        index: usize,
    },
}

impl modmill::OfEngine for Error {
    fn of_engine(&self) -> Option<&modmill::Error> {
        match self {
            Self::Engine(error) => Some(error),
            _ => None,
        }
    }
}

/// The reason why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is not a key in JSON, or a number of it is wrong.
    #[error("not a key that can be read: {0}")]
    Format(String),
    /// The modulus has a length that is not supported.
    #[error("n has {bits} bits; it must have {least} to {most}", least = crate::MIN_BITS, most = crate::MAX_BITS)]
    Length {
        /// The length of n.
        bits: usize,
    },
    /// No key can be generated with an odd length.
    #[error(
        "cannot generate a key of {0} bits: the length is odd, so that the primes cannot be of one length"
    )]
    OddLength(usize),
    /// The modulus is even.
    #[error("n is even")]
    Even,
    /// Anyone can factor the modulus.
    #[error("n is not well-formed: {0}")]
    Modulus(ModulusFlaw),
    /// The numbers of the key do not belong together.
    #[error("the key is inconsistent: {0}")]
    Inconsistent(&'static str),
    /// A factor is not prime.
    #[error("the factor {0} is not prime")]
    NotPrime(&'static str),
    /// The engine could not check the key.
    #[error("the key could not be checked: {0}")]
    Unchecked(String),
}
