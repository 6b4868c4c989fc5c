//! Barrett's reduction (\[Thesis\], Algorithm 3.1, with the shift it lacks), in constant time.
//!
//! Let d have n limbs and its top bit set, `m = floor((B^2n - 1) / d)`, and `x = h B^n + l` below `d B^n`.
//! Then `q = floor(h m / B^n)` is at most 3 below `floor(x / d)`: since `B^2n <= (m + 1) d`, `x / d` is at
//! most `(h B^n + l)(m + 1) / B^2n`, which exceeds `h m / B^n` by less than one for h and two for l. The
//! reciprocal is `m = B^n + m'`, so the product is one of n limbs by n limbs.
//!
//! The remaining x is below 4d. It is computed modulo `2^s - 1`, with s at least the bits of n limbs, by a
//! product of half the length. The lowest limb shows which multiple of `2^s - 1` to add.

mod step;

use super::cyclic::CyclicRings;
use super::memory::{limbs_with_room, recycle, zeros_with_room};
use super::multiplier::{Multiplier, PreparedFactor};
use super::powers::Reduction;
use super::reciprocal::reciprocal;
use super::shared::{shift_down, shift_up};
use crate::fft::product::Transformed;
use crate::fft::shape::Ring;
use modmill_core::limbs::{bit_length, shift_left};
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// A divisor of at least one, with the transforms of the divisor and of its reciprocal.
pub(crate) struct BarrettDivisor {
    multiplier: Multiplier,
    /// d: the divisor, shifted so that its top bit is set.
    normalised: Limbs,
    shift: usize,
    divisor: Multiple,
    /// The reciprocal m without its first limb, which is 1.
    reciprocal: PreparedFactor,
    /// The top limb of `reciprocal`.
    reciprocal_top: u64,
}

/// The divisor, prepared for products with quotients.
enum Multiple {
    /// The divisor is too short for transforms.
    Whole(PreparedFactor),
    CyclicRings(CyclicRings, Transformed),
}

impl BarrettDivisor {
    /// Sets up a divisor of at least one.
    ///
    /// # Panics
    /// If the divisor is zero.
    #[must_use]
    pub(crate) fn new(multiplier: Multiplier, divisor: &[u64]) -> Self {
        let bits = bit_length(divisor);
        assert!(bits > 0, "a divisor is at least one");
        let n = bits.div_ceil(64);
        let shift = 64 * n - bits;
        let mut normalised = Zeroizing::new(vec![0; n]);
        shift_left(&divisor[..n], shift, &mut normalised);
        let reciprocal = reciprocal(&multiplier, &normalised);
        let rings =
            (n >= multiplier.threshold()).then(|| CyclicRings::at_least(multiplier, 64 * n)).flatten();
        Self {
            divisor: match rings {
                Some(rings) => Multiple::CyclicRings(rings, rings.transform(&normalised, Ring::Cyclic)),
                None => Multiple::Whole(multiplier.prepare(&normalised, n)),
            },
            reciprocal_top: reciprocal[n - 1],
            reciprocal: multiplier.prepare(&reciprocal[..n], n),
            multiplier,
            normalised,
            shift,
        }
    }

    /// Limbs of the divisor.
    #[must_use]
    pub(super) fn limbs(&self) -> usize {
        self.normalised.len()
    }

    /// The multiplier of this divisor.
    #[must_use]
    pub(super) fn multiplier(&self) -> &Multiplier {
        &self.multiplier
    }

    /// `x mod d` for any x.
    #[must_use]
    pub(super) fn remainder(&self, x: &[u64]) -> Limbs {
        self.divide(self.with_zero_on_top(x), None)
    }

    /// `x mod d` for x of n or more limbs whose top limb has as many leading zeros as d, at least.
    #[must_use]
    pub(super) fn remainder_of_sum(&self, x: Limbs) -> Limbs {
        self.divide(x, None)
    }

    /// `(floor(x / d), x mod d)` for any x. The quotient is as long as x.
    #[must_use]
    pub(crate) fn quotient_and_remainder(&self, x: &[u64]) -> (Limbs, Limbs) {
        let mut quotient = Zeroizing::new(vec![0; x.len()]);
        let remainder = self.divide(self.with_zero_on_top(x), Some(&mut quotient));
        (quotient, remainder)
    }

    /// `a b mod d`, for any a and b.
    #[must_use]
    pub(super) fn product(&self, a: &[u64], b: &[u64]) -> Limbs {
        let len = a.len() + b.len();
        let mut product = zeros_with_room(len.max(self.limbs()));
        self.multiplier.multiply(a, b, &mut product[..len]);
        product.push(0);
        self.divide(product, None)
    }

    /// `a^2 mod d`, for any a.
    #[must_use]
    pub(super) fn square_of(&self, a: &[u64]) -> Limbs {
        let len = 2 * a.len();
        let mut square = zeros_with_room(len.max(self.limbs()));
        self.multiplier.square(a, &mut square[..len]);
        square.push(0);
        self.divide(square, None)
    }

    /// A copy of x for [`BarrettDivisor::divide`].
    fn with_zero_on_top(&self, x: &[u64]) -> Limbs {
        let mut copy = zeros_with_room((x.len() + 1).max(self.limbs()));
        copy[..x.len()].copy_from_slice(x);
        copy
    }

    /// The remainder of x, by long division, n limbs at a time. x has at least n limbs. Its top limb is below
    /// the divisor's and has as many leading zeros, or it is the product of two numbers below the divisor, in
    /// 2n limbs.
    fn divide(&self, mut x: Limbs, mut quotient: Option<&mut [u64]>) -> Limbs {
        let n = self.limbs();
        // The remainder of x 2^shift modulo the shifted divisor is 2^shift times the remainder of x.
        shift_up(&mut x, self.shift);
        // The first block is below the shifted divisor, whose top bit is set: its quotient is zero.
        let blocks = x.len().div_ceil(n);
        let mut above = x.len() - (blocks - 1) * n;
        for index in (0..blocks - 1).rev() {
            let number = &mut x[index * n..][..n + above];
            let digits = quotient.as_mut().and_then(|quotient| quotient.get_mut(index * n..));
            if above == 1 {
                self.short_step(number, digits);
            } else {
                let rest = self.step(number, digits);
                if index == 0 {
                    recycle(std::mem::replace(&mut x, rest));
                } else {
                    number[..n].copy_from_slice(&rest[..n]);
                }
            }
            above = n;
        }
        x.truncate(n);
        shift_down(&mut x, self.shift);
        x
    }
}

impl Reduction for BarrettDivisor {
    fn unit(&self) -> Limbs {
        self.remainder(&[1])
    }

    fn enter(&self, x: &[u64]) -> Limbs {
        Zeroizing::new(x.to_vec())
    }

    fn leave(&self, x: &[u64]) -> Limbs {
        Zeroizing::new(x.to_vec())
    }

    fn multiply(&self, x: &[u64], y: &[u64]) -> Limbs {
        let mut product = limbs_with_room(x.len() + y.len());
        self.multiplier.multiply(x, y, &mut product);
        self.divide(product, None)
    }

    fn square(&self, x: &[u64]) -> Limbs {
        let mut square = limbs_with_room(2 * x.len());
        self.multiplier.square(x, &mut square);
        self.divide(square, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use modmill_core::limbs::sub_assign;

    #[test]
    fn quotients_and_remainders() {
        let mut random = Random::new(29);
        for multiplier in Multiplier::detect(None) {
            for bits in [1usize, 2, 63, 64, 65, 127, 128, 129, 1000, 64 * 159, 64 * 160 + 1, 20_000] {
                let n = bits.div_ceil(64);
                let mut power = vec![0; n];
                power[(bits - 1) / 64] = 1 << ((bits - 1) % 64);
                let mut ones = vec![u64::MAX; n];
                ones[n - 1] >>= 64 * n - bits;
                for d in [power, ones, random.bits(bits)] {
                    let divisor = BarrettDivisor::new(multiplier, &d);
                    for len in [0, 1, n - 1, n, n + 1, 2 * n - 1, 2 * n, 2 * n + 1, 5 * n + 3] {
                        let mut multiple = vec![0; len];
                        for (to, from) in multiple.iter_mut().rev().zip(d.iter().rev()) {
                            *to = *from;
                        }
                        let mut less = multiple.clone();
                        sub_assign(&mut less, &[1]);
                        for x in [random.limbs(len), vec![u64::MAX; len], multiple, less] {
                            let (quotient, remainder) = divisor.quotient_and_remainder(&x);
                            assert_eq!(big(&quotient), big(&x) / big(&d), "{bits} {len}");
                            assert_eq!(big(&remainder), big(&x) % big(&d), "{bits} {len}");
                        }
                    }
                }
            }
        }
    }
}
