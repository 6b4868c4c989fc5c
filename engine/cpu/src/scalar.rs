//! Arithmetic on 64-bit limbs, one number at a time: what [`crate::row::Row`] and divisions are made of.

use modmill_core::{Isa, limbs, mask};
use std::fmt::Debug;

/// Products of limbs by the instructions of a processor. A value proves that the processor has them. The time
/// of all functions depends on lengths only.
pub(crate) trait Scalar: Copy + Debug + Send + Sync + 'static {
    /// The instruction set.
    const ISA: Isa;
    /// The number of limbs from which factors of equal length are multiplied by Karatsuba's algorithm;
    /// measured.
    const KARATSUBA: usize;
    /// The number of limbs from which numbers are squared by Karatsuba's algorithm; measured.
    const KARATSUBA_SQUARE: usize;

    /// The number of limbs of a divisor from which eight limbs of a quotient are found at once; measured.
    const LONG_BLOCKS: usize;

    /// `out <- x y` by rows. The length of `out` is the sum of the lengths of the factors.
    fn multiply(self, x: &[u64], y: &[u64], out: &mut [u64]);

    /// `out <- x^2` by rows, which is cheaper than a product. `out` is twice as long as x.
    fn square(self, x: &[u64], out: &mut [u64]);

    /// Montgomery's reduction: `out` becomes a number below R that is congruent to `t / R` modulo an odd N of
    /// n limbs, for any t of 2n limbs and `R = 2^(64 n)`. t holds anything afterwards.
    fn reduce(self, t: &mut [u64], modulus: &[u64], negated_inverse: u64, out: &mut [u64]);

    /// `x <- x y / R` modulo N as [`Scalar::reduce`] has it, for numbers of n limbs and space for 2n limbs.
    #[inline]
    fn montgomery_multiply(
        self,
        x: &mut [u64],
        y: &[u64],
        space: &mut [u64],
        modulus: &[u64],
        negated_inverse: u64,
    ) {
        self.multiply(x, y, space);
        self.reduce(space, modulus, negated_inverse, x);
    }

    /// `x <- x^2 / R` modulo N, like [`Scalar::montgomery_multiply`].
    #[inline]
    fn montgomery_square(self, x: &mut [u64], space: &mut [u64], modulus: &[u64], negated_inverse: u64) {
        self.square(x, space);
        self.reduce(space, modulus, negated_inverse, x);
    }

    /// `sum += block b`. The factor `b` is at least as long as the block, and the sum must not overflow.
    fn add_block(self, sum: &mut [u64], block: &[u64; 4], b: &[u64]);

    /// `sum += block b`, like [`Scalar::add_block`], for a block of eight limbs.
    fn add_long_block(self, sum: &mut [u64], block: &[u64; 8], b: &[u64]);

    /// Reads entry `index` of a table whose entries are as long as `out`. Neither the instructions nor the
    /// addresses depend on the index.
    fn select(self, table: &[u64], index: u64, out: &mut [u64]);

    /// `sum += b`, where `b` is no longer than the sum. Returns the carry.
    fn add_assign(self, sum: &mut [u64], b: &[u64]) -> u64 {
        limbs::add_assign(sum, b)
    }

    /// `from -= b`, where `b` is no longer than what it is subtracted from. Returns the borrow.
    fn sub_assign(self, from: &mut [u64], b: &[u64]) -> u64 {
        limbs::sub_assign(from, b)
    }

    /// `sum += bit b` for a bit (0 or 1), where `b` is no longer than the sum. Returns the carry.
    fn add_bit(self, sum: &mut [u64], b: &[u64], bit: u64) -> u64 {
        limbs::add_assign_masked(sum, b, mask::from_bit(bit))
    }
}
