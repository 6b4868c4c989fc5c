//! The errors of the leveled scheme.

use thiserror::Error;

/// An error of the leveled scheme.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside of its range.
    #[error("{what} is {value}; it must be {least} to {most}")]
    Parameter {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: usize,
        /// The least allowed value.
        least: usize,
        /// The greatest allowed value.
        most: usize,
    },
    /// The noise of a fresh ciphertext may reach half of the modulus.
    #[error(
        "fresh noise of up to 2^{noise_bits} does not fit a modulus of {modulus_bits} bits; take more moduli"
    )]
    NoRoom {
        /// Bits of the bound.
        noise_bits: u32,
        /// Bits of the modulus.
        modulus_bits: u32,
    },
    /// The noise after an operation may reach half of the modulus; nothing was computed.
    #[error(
        "the circuit is too deep: noise of up to 2^{noise_bits} does not fit the {modulus_bits} bits of modulus \
         that are left; take more moduli, or fewer products in a row"
    )]
    TooDeep {
        /// Bits of the bound.
        noise_bits: u32,
        /// Bits of the modulus that is left.
        modulus_bits: u32,
    },
    /// Operands have different numbers of ciphertexts.
    #[error("one operand has {first} ciphertexts, the other {second}")]
    Count {
        /// Ciphertexts of the first operand.
        first: usize,
        /// Ciphertexts of the second.
        second: usize,
    },
    /// Keys or ciphertexts belong to other parameters.
    #[error("{0} belongs to other parameters")]
    OtherParameters(&'static str),
    /// The parts of a key or of ciphertexts do not fit together.
    #[error("{what}: {reason}")]
    Parts {
        /// The key or the ciphertexts.
        what: &'static str,
        /// The reason why they do not fit.
        reason: String,
    },
    /// The operating system gave no random bytes.
    #[error("no random bytes: {0}")]
    Random(String),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] modmill::Error),
}
