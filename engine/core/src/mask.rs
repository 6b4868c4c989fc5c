//! Masks for constant-time selection.
//!
//! A mask is all zeros or all ones. The compiler must not learn that: if it sees the comparison behind
//! a mask, it turns "and with the mask" back into a branch and reads only the selected side. So every
//! mask of this module passes through `black_box` *after* it is complete.

use std::hint::black_box;

/// The mask of `bit`: all ones for 1, zero for 0.
#[must_use]
#[inline]
pub fn from_bit(bit: u64) -> u64 {
    black_box(bit.wrapping_neg())
}

/// The mask of `a == b`: all ones if the two words are equal, zero otherwise.
#[must_use]
#[inline]
pub fn equal(a: u64, b: u64) -> u64 {
    let difference = a ^ b;
    black_box(((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_all_or_nothing() {
        assert_eq!((from_bit(0), from_bit(1)), (0, u64::MAX));
        for (a, b) in [(0, 1), (1, 1 << 63), (u64::MAX, 0), (u64::MAX, u64::MAX - 1)] {
            assert_eq!((equal(a, b), equal(a, a), equal(b, b)), (0, u64::MAX, u64::MAX));
        }
    }
}
