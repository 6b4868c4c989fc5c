//! Powers of two in the field of `p = 2^64 - 2^32 + 1`, as the hardware computes them (section 5.2).
//!
//! `2^192 = 1` modulo p. In words of 192 bits a product by a power of two is a rotation, and a carry out of
//! the top comes back in at the bottom.

use modmill_core::goldilocks::{self, reduce_wide};

/// The order of 2.
pub const ORDER_OF_TWO: u32 = 192;

/// `x 2^shift` for any 64-bit x, canonical: a rotation in 192 bits and the fold of equation 5.1.
#[must_use]
pub fn times_power_of_two(x: u64, shift: u32) -> u64 {
    let shift = shift % ORDER_OF_TWO;
    let wide = u128::from(x) << (shift % 32);
    let mut words = [0; 6];
    for part in 0..3 {
        words[(shift as usize / 32 + part) % 6] = (wide >> (32 * part)) as u32;
    }
    fold(words)
}

/// Six words of 32 bits, the least significant first, modulo p, canonical. Equation 5.1:
/// `z = (2^32 e + f) + (2^32 d + a) - (2^32 b + c) - (2^32 a + d)`, where a is the top word.
#[must_use]
pub fn fold(words: [u32; 6]) -> u64 {
    let pair = |high: u32, low: u32| goldilocks::reduce(u64::from(high) << 32 | u64::from(low));
    let [f, e, d, c, b, a] = words;
    let plus = goldilocks::add(pair(e, f), pair(d, a));
    let minus = goldilocks::add(pair(b, c), pair(a, d));
    goldilocks::sub(plus, minus)
}

/// A sum of words that are rotated in 192 bits. It takes up to `2^63` of them: each adds less than `2^64` to
/// two of three parts of 128 bits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RotatedSum([u128; 3]);

impl RotatedSum {
    /// Adds `x 2^shift`, for a shift below 192.
    pub(crate) fn add(&mut self, x: u64, shift: u32) {
        let (part, wide) = (shift as usize / 64, u128::from(x) << (shift % 64));
        self.0[part] += wide & u128::from(u64::MAX);
        self.0[(part + 1) % 3] += wide >> 64;
    }

    /// The sum modulo p, canonical.
    pub(crate) fn reduce(self) -> u64 {
        let [low, middle, high] = self.0.map(reduce_wide);
        let high = goldilocks::add(middle, times_power_of_two(high, 64));
        goldilocks::add(low, times_power_of_two(high, 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_core::goldilocks::{PRIME, mul, pow, reduce};

    const HARD: [u64; 8] = [0, 1, 2, 0xffff_ffff, 1 << 32, PRIME - 1, PRIME, u64::MAX];

    #[test]
    fn rotations_are_products_by_powers_of_two() {
        for x in HARD.into_iter().chain((1..50).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))) {
            for shift in 0..2 * ORDER_OF_TWO {
                assert_eq!(
                    times_power_of_two(x, shift),
                    mul(reduce(x), pow(2, shift.into())),
                    "{x:#x} {shift}"
                );
            }
        }
    }

    #[test]
    fn rotated_sums_are_sums() {
        let (mut sum, mut expected) = (RotatedSum::default(), 0);
        for shift in 0..ORDER_OF_TWO {
            for x in HARD {
                sum.add(x, shift);
                expected = goldilocks::add(expected, mul(reduce(x), pow(2, shift.into())));
                assert_eq!(sum.reduce(), expected);
            }
        }
    }
}
