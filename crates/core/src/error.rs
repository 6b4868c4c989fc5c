//! Errors that say what was wrong and which item it was.

use crate::Batch;
use thiserror::Error;

/// Why one item of a batch has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ItemErrorKind {
    /// Nothing is defined modulo zero.
    #[error("the modulus is zero")]
    ZeroModulus,
    /// The number shares a factor with its modulus.
    #[error("the number has no inverse: it shares a factor with the modulus")]
    NotInvertible,
}

/// One item of a batch that has no answer, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("item {index}: {kind}")]
pub struct ItemError {
    /// Position in the batch, from zero.
    pub index: usize,
    /// What was wrong with it.
    pub kind: ItemErrorKind,
}

/// A batch some of whose items failed: the good answers are still here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// The answers in order; zero at the failed items.
    pub answers: Batch,
    /// The failed items, by rising index; never empty.
    pub failed: Vec<ItemError>,
}

/// Everything that can go wrong in a call.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// Some items have no answer; the others do, in [`Partial::answers`].
    #[error("{}", summary(&.0.failed))]
    Items(Box<Partial>),
    /// Two operands of one call have different lengths.
    #[error("{what} has {found} items where {expected} were expected")]
    LengthMismatch {
        /// Which operand.
        what: &'static str,
        /// Items in the first operand.
        expected: usize,
        /// Items in this one.
        found: usize,
    },
    /// A number is longer than the limit.
    #[error("{what} has {bits} bits; the limit is {limit}")]
    TooLong {
        /// Which operand.
        what: &'static str,
        /// Its length.
        bits: usize,
        /// The most that is supported.
        limit: usize,
    },
    /// A device failed, and nothing else was allowed to finish the batch.
    #[error("a device failed: {0}")]
    Device(String),
    /// A number longer than the width declared for it.
    #[error("item {index} does not fit in {bits} bits")]
    DoesNotFit {
        /// Position in the batch.
        index: usize,
        /// Declared width.
        bits: usize,
    },
    /// A limb vector whose length is not a multiple of the numbers' width.
    #[error("{limbs} limbs are not a whole number of {bits}-bit items")]
    RaggedLimbs {
        /// Limbs given.
        limbs: usize,
        /// Declared width.
        bits: usize,
    },
    /// Text that is not a hexadecimal number.
    #[error("item {index}: {reason}")]
    Hex {
        /// Position in the batch.
        index: usize,
        /// What is wrong with the text.
        reason: crate::hex::HexError,
    },
    /// A number outside of what an operation is defined for.
    #[error("{what} is {value}; it must be {least} to {most}")]
    OutOfRange {
        /// Which argument.
        what: &'static str,
        /// Its value.
        value: usize,
        /// The least that is allowed.
        least: usize,
        /// The most that is allowed.
        most: usize,
    },
    /// A modulus of zero where a single modulus was asked for.
    #[error("the modulus is zero")]
    ZeroModulus,
    /// A setting that this machine or build cannot honour.
    #[error("{0}")]
    Unavailable(String),
}

/// The first of the failed items, and how many more there are.
fn summary(failed: &[ItemError]) -> String {
    match failed {
        [] => "no item failed".to_owned(),
        [only] => only.to_string(),
        [first, _] => format!("{first} (and 1 more item)"),
        [first, more @ ..] => format!("{first} (and {} more items)", more.len()),
    }
}

impl Error {
    /// An error carrying the good answers of a batch beside its failed items.
    #[must_use]
    pub fn items(answers: Batch, failed: Vec<ItemError>) -> Self {
        Self::Items(Box::new(Partial { answers, failed }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failed_item_is_named_and_the_others_counted() {
        let failed = |count| (0..count).map(|index| ItemError { index, kind: ItemErrorKind::ZeroModulus });
        let text = |count| Error::items(Batch::zeros(1, count), failed(count).collect()).to_string();
        assert_eq!(text(0), "no item failed");
        assert_eq!(text(1), "item 0: the modulus is zero");
        assert_eq!(text(2), "item 0: the modulus is zero (and 1 more item)");
        assert_eq!(text(4), "item 0: the modulus is zero (and 3 more items)");
    }
}
