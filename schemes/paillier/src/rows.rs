//! Small steps on the rows of batches. Their time depends on widths alone.

use modmill::Operand;
use modmill::number::{self, Number};

/// Items that a thread converts at a time. A thread is not worth waking for fewer.
pub(crate) const CHUNK: usize = 1024;

/// A number as an operand that all items of a call share.
pub(crate) fn shared(value: &[u64]) -> Operand<'_> {
    Operand::Shared { bits: 64 * value.len(), value }
}

/// An exponent of `bits` bits that all items of a call share.
pub(crate) fn exponent(value: &[u64], bits: usize) -> Operand<'_> {
    Operand::Shared { bits, value }
}

/// Whether a number is 1. The time depends on its length alone.
pub(crate) fn is_one(row: &[u64]) -> bool {
    number::equal(row, &[1])
}

/// Half of a number, rounded down, without leading zero limbs.
pub(crate) fn halved(number: &[u64]) -> Number {
    let mut half = Number::new(vec![0; number.len()]);
    number::shift_right(number, 1, &mut half);
    number::truncate(&mut half);
    half
}
