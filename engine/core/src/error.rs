//! Errors of calls and of single items.

use crate::Batch;
use thiserror::Error;

/// The reason why one item of a batch has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ItemErrorKind {
    /// The modulus is zero, and nothing is defined modulo zero.
    #[error("the modulus is zero")]
    ZeroModulus,
    /// The number shares a factor with its modulus.
    #[error("the number has no inverse: it shares a factor with the modulus")]
    NotInvertible,
    /// The modulus is even, and there are symbols modulo odd numbers only.
    #[error("there is no symbol modulo an even number")]
    EvenModulus,
    /// The divisor does not divide the number.
    #[error("the number has no exact quotient: the divisor does not divide it")]
    NotDivisible,
    /// The two moduli share a factor.
    #[error("the moduli share a factor")]
    NotCoprime,
}

/// One item of a batch that has no answer, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("item {index}: {kind}")]
pub struct ItemError {
    /// The position of the item in the batch, from zero.
    pub index: usize,
    /// The reason.
    pub kind: ItemErrorKind,
}

/// The outcome of a batch in which some items failed. It holds the answers of all other items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// The answers in the order of the items, with zero at the failed ones.
    pub answers: Batch,
    /// The failed items by rising index. There is at least one.
    pub failed: Vec<ItemError>,
}

/// An error of a call.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// Some items have no answer. [`Partial::answers`] holds the answers of the others.
    #[error("{}", summary(&.0.failed))]
    Items(Box<Partial>),
    /// Two operands of one call have different numbers of items.
    #[error("{what}: {} instead of {expected}", items(*.found))]
    LengthMismatch {
        /// The operand.
        what: &'static str,
        /// The number of items of the first operand.
        expected: usize,
        /// The number of items of this operand.
        found: usize,
    },
    /// A batch for answers has another width than the answers.
    #[error("{what} is {found} bits wide where {expected} were expected")]
    WidthMismatch {
        /// The batch.
        what: &'static str,
        /// The width of the answers, in bits.
        expected: usize,
        /// The width of the batch, in bits.
        found: usize,
    },
    /// A number is longer than the limit.
    #[error("{what} has {bits} bits; the limit is {limit}")]
    TooLong {
        /// The operand.
        what: &'static str,
        /// Its length in bits.
        bits: usize,
        /// The greatest supported length in bits.
        limit: usize,
    },
    /// Memory ran out.
    #[error("{what} ran out: {bytes} bytes were asked for")]
    OutOfMemory {
        /// The kind of memory.
        what: &'static str,
        /// Bytes that were asked for.
        bytes: usize,
    },
    /// A device failed, and the settings did not allow the CPU to finish the batch.
    #[error("a device failed: {0}")]
    Device(String),
    /// A number is longer than its declared width.
    #[error("item {index} does not fit in {bits} bits")]
    DoesNotFit {
        /// The position of the item in the batch.
        index: usize,
        /// The declared width in bits.
        bits: usize,
    },
    /// A vector of limbs does not hold a whole number of items.
    #[error("{limbs} limbs are not a whole number of {bits}-bit items")]
    RaggedLimbs {
        /// The number of limbs given.
        limbs: usize,
        /// The declared width in bits.
        bits: usize,
    },
    /// A text is not a hexadecimal number.
    #[error("item {index}: {reason}")]
    Hex {
        /// The position of the item in the batch.
        index: usize,
        /// The fault in the text: a character that is no digit, or a wrong length.
        reason: crate::hex::HexError,
    },
    /// An argument is outside of the range of an operation.
    #[error("{what} is {value}; it must be {least} to {most}")]
    OutOfRange {
        /// The argument.
        what: &'static str,
        /// Its value.
        value: usize,
        /// The least allowed value.
        least: usize,
        /// The greatest allowed value.
        most: usize,
    },
    /// A single modulus is zero.
    #[error("the modulus is zero")]
    ZeroModulus,
    /// A modulus of residues is even.
    #[error("the modulus {0} is even; residues need odd moduli")]
    EvenModulus(u32),
    /// Two moduli of residues share a factor.
    #[error("the moduli {first} and {second} share a factor")]
    NotCoprime {
        /// One modulus.
        first: u32,
        /// The other.
        second: u32,
    },
    /// A residue is not below its modulus.
    #[error("word {index} is not below its modulus {modulus}")]
    NotReduced {
        /// The position of the word.
        index: usize,
        /// The modulus.
        modulus: u32,
    },
    /// Operands in residues have different moduli.
    #[error("the operands are residues of different moduli")]
    OtherModuli,
    /// The operating system gave no random numbers.
    #[error("the system's generator of random numbers failed: {0}")]
    Random(String),
    /// The rows of a matrix cannot be read.
    #[error("{what} cannot be read: {reason}")]
    Read {
        /// The file.
        what: String,
        /// The reason why the file cannot be read.
        reason: String,
    },
    /// A [`Watch`](crate::Watch) stopped the call. There are no answers.
    #[error("the call was stopped")]
    Interrupted,
    /// A setting asks for something that this machine or build does not have.
    #[error("{0}")]
    Unavailable(String),
}

/// A number of items, in words.
fn items(count: usize) -> String {
    if count == 1 { "1 item".to_owned() } else { format!("{count} items") }
}

/// The first failed item and the number of the others.
fn summary(failed: &[ItemError]) -> String {
    match failed {
        [] => "no item failed".to_owned(),
        [only] => only.to_string(),
        [first, _] => format!("{first} (and 1 more item)"),
        [first, more @ ..] => format!("{first} (and {} more items)", more.len()),
    }
}

impl Error {
    /// The error of a host that has no more memory, when `bytes` bytes were asked for.
    #[must_use]
    pub fn no_memory(bytes: usize) -> Self {
        Self::OutOfMemory { what: "memory", bytes }
    }

    /// The error of a batch with its failed items and the answers of the others.
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

    #[test]
    fn other_numbers_of_items_are_counted_in_words() {
        let text = |found| Error::LengthMismatch { what: "the factors", expected: 3, found }.to_string();
        assert_eq!(text(1), "the factors: 1 item instead of 3");
        assert_eq!(text(2), "the factors: 2 items instead of 3");
    }
}
