//! The errors of the scheme.

use thiserror::Error;

/// An error of Gentry and Halevi's scheme.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter of a setting is out of range.
    #[error("{what} is {value}; it must be {least} to {most}")]
    Setting {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: usize,
        /// The least allowed value.
        least: usize,
        /// The greatest allowed value.
        most: usize,
    },
    /// The dimension of a setting is not a power of two.
    #[error("the dimension {0} is not a power of two")]
    Dimension(usize),
    /// The engine could not compute.
    #[error(transparent)]
    Engine(#[from] modmill::Error),
    /// The operating system gave no random numbers.
    #[error("no random numbers: {0}")]
    Random(String),
    /// No lattice of the right form was found.
    #[error("none of {0} random lattices has the form that the scheme needs")]
    NoLattice(usize),
    /// An operation would leave a ciphertext with less budget than is needed.
    #[error(
        "item {item} would be left with {budget:.1} bits of budget, and {needed:.1} are needed: recrypt it, or its inputs, first"
    )]
    Budget {
        /// The position of the item in the batch.
        item: usize,
        /// Its budget, as anyone can estimate it.
        budget: f64,
        /// The budget that is needed.
        needed: f64,
    },
    /// A ciphertext or a secret key belongs to another public key.
    #[error("{0} belongs to another public key")]
    AnotherKey(&'static str),
    /// Two batches of one operation have different numbers of items.
    #[error("{found} ciphertexts where {expected} were expected")]
    Length {
        /// The number of items of the first batch.
        expected: usize,
        /// The number of items of the other.
        found: usize,
    },
    /// A batch has no such item.
    #[error("there is no item {index} in a batch of {len}")]
    Index {
        /// The position that was asked for.
        index: usize,
        /// The number of items.
        len: usize,
    },
    /// A part of a stored key or ciphertext is missing or malformed.
    #[error("the part `{part}` {reason}")]
    Part {
        /// The name of the part.
        part: &'static str,
        /// The fault of the value.
        reason: String,
    },
}

impl Error {
    /// The error of a part.
    pub(super) fn part(part: &'static str, reason: impl Into<String>) -> Self {
        Self::Part { part, reason: reason.into() }
    }
}
