//! Barrett's reduction (\[Thesis\], Algorithm 3.1, with the shift it lacks), in constant time.
//!
//! Let d have n limbs and its top bit set, `m = floor((B^2n - 1) / d)`, and `x = h B^n + l` below `d B^n`.
//! Then `q = floor(h m / B^n)` is at most 3 below `floor(x / d)`: since `B^2n <= (m + 1) d`, `x / d` is at
//! most `(h B^n + l)(m + 1) / B^2n`, which exceeds `h m / B^n` by less than one for h and two for l. The
//! reciprocal is `m = B^n + m'`, so the product is one of n limbs by n limbs.
//!
//! The remaining x is below 4d. It is computed modulo `2^s - 1`, with s at least the bits of n limbs, by a
//! product of half the length. The lowest limb shows which multiple of `2^s - 1` to add.

use super::cyclic::CyclicRings;
use super::memory::zeros_with_room;
use super::multiplier::{Multiplier, PreparedFactor};
use super::powers::Reduction;
use super::reciprocal::{correct, reciprocal};
use crate::fft::product::{SecondFactor, Transformed};
use crate::fft::shape::Ring;
use modmill_core::limbs::{
    add_assign, add_signed, bit_length, reduce_once, shift_left, shift_right, sub_assign, sub_assign_times,
};
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// The number of times that the divisor may still fit into the remainder after Barrett's quotient.
const CORRECTIONS: u64 = 3;

/// The same number for a quotient of one limb, which is estimated from the first limb only.
const SHORT_CORRECTIONS: u64 = 5;

/// A divisor of at least one, with the transforms of the divisor and of its reciprocal.
pub(super) struct BarrettDivisor {
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
    pub(super) fn new(multiplier: Multiplier, divisor: &[u64]) -> Self {
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
        self.divide(x, None)
    }

    /// `(floor(x / d), x mod d)` for any x. The quotient is as long as x.
    #[must_use]
    pub(super) fn quotient_and_remainder(&self, x: &[u64]) -> (Limbs, Limbs) {
        let mut quotient = Zeroizing::new(vec![0; x.len() + 1]);
        let remainder = self.divide(x, Some(&mut quotient));
        quotient.truncate(x.len());
        (quotient, remainder)
    }

    /// Long division, n limbs at a time.
    fn divide(&self, x: &[u64], mut quotient: Option<&mut [u64]>) -> Limbs {
        let n = self.limbs();
        // The remainder of x 2^shift modulo the shifted divisor is 2^shift times the remainder of x.
        let mut shifted = Zeroizing::new(vec![0; x.len() + 1]);
        shift_left(x, self.shift, &mut shifted);
        let mut rest = Zeroizing::new(vec![0; 2 * n]);
        // The first block has at most n limbs, so the divisor fits at most once. If the first block is a
        // single limb, the second step has a quotient of one limb.
        let blocks = shifted.len().div_ceil(n);
        let first = shifted.len() - (blocks - 1) * n;
        let mut put = |index: usize, digits: &[u64]| {
            if let Some(quotient) = &mut quotient {
                let place = &mut quotient[index * n..];
                let len = digits.len().min(place.len()).min(n);
                place[..len].copy_from_slice(&digits[..len]);
            }
        };
        for (index, block) in shifted.chunks(n).enumerate().rev() {
            // rest <- rest B^len + block, below d B^len.
            let len = block.len();
            rest.copy_within(..n, len);
            rest[..len].copy_from_slice(block);
            rest[len + n..].fill(0);
            if index + 1 == blocks {
                put(index, &[reduce_once(&mut rest[..n], &self.normalised)]);
            } else if index + 2 == blocks && first == 1 {
                put(index, &[self.short_step(&mut rest[..n + 1])]);
            } else {
                put(index, &self.step(&mut rest));
            }
        }
        let mut remainder = Zeroizing::new(vec![0; n]);
        shift_right(&rest[..n], self.shift, &mut remainder);
        remainder
    }

    /// The quotient of a number of n + 1 limbs below `d B`. The number becomes its remainder.
    ///
    /// With the reciprocal `B^n + m'`, the estimate `x_n + x_n m' / B^n` is too small by less than one for
    /// each of three omitted terms: `x_n` times the lower limbs of m', the lower limbs of x, and their
    /// product with m'. Two roundings come on top.
    fn short_step(&self, x: &mut [u64]) -> u64 {
        let n = self.limbs();
        let top = x[n];
        let estimate = top + ((u128::from(top) * u128::from(self.reciprocal_top)) >> 64) as u64;
        sub_assign_times(x, &self.normalised, estimate);
        let mut digit = [estimate];
        correct(&mut digit, x, &self.normalised, SHORT_CORRECTIONS);
        digit[0]
    }

    /// The quotient of a number below `d B^n`. The number becomes its remainder.
    fn step(&self, x: &mut [u64]) -> Limbs {
        let n = self.limbs();
        let mut product = Zeroizing::new(vec![0; 2 * n]);
        self.multiplier.multiply_prepared(&x[n..], &self.reciprocal, &mut product);
        let mut quotient = Zeroizing::new(x[n..].to_vec());
        add_assign(&mut quotient, &product[n..]);
        let mut rest = match &self.divisor {
            Multiple::Whole(divisor) => {
                self.multiplier.multiply_prepared(&quotient, divisor, &mut product);
                let mut rest = Zeroizing::new(x.to_vec());
                sub_assign(&mut rest, &product);
                rest
            }
            Multiple::CyclicRings(rings, divisor) => {
                let multiple = rings.cyclic(&[(&quotient, SecondFactor::Transformed(divisor))]);
                let lowest = x[0].wrapping_sub(quotient[0].wrapping_mul(self.normalised[0]));
                difference_of_wrapped(x, &multiple, lowest)
            }
        };
        rest.resize(n + 1, 0);
        correct(&mut quotient, &mut rest, &self.normalised, CORRECTIONS);
        x[..n].copy_from_slice(&rest[..n]);
        x[n..].fill(0);
        quotient
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
        let mut product = Zeroizing::new(vec![0; x.len() + y.len()]);
        self.multiplier.multiply(x, y, &mut product);
        self.remainder(&product)
    }

    fn square(&self, x: &[u64]) -> Limbs {
        let mut square = Zeroizing::new(vec![0; 2 * x.len()]);
        self.multiplier.square(x, &mut square);
        self.remainder(&square)
    }
}

/// The number that is congruent to `x - y` modulo `2^s - 1`, is below a small multiple of it, and has the
/// lowest limb `lowest`. y has s bits, and x has at most 2s bits.
fn difference_of_wrapped(x: &[u64], y: &[u64], lowest: u64) -> Limbs {
    let (low, high) = x.split_at(y.len().min(x.len()));
    let mut rest = zeros_with_room(y.len());
    rest[..low.len()].copy_from_slice(low);
    // A carry out of the top is added at the bottom. Each addition leaves room for the next.
    let carry = add_assign(&mut rest, high);
    add_assign(&mut rest, &[carry]);
    let borrow = sub_assign(&mut rest, y);
    add_signed(&mut rest, -i128::from(borrow));
    CyclicRings::normalize_zero(&mut rest);
    let times = rest[0].wrapping_sub(lowest);
    rest.push(times);
    sub_assign(&mut rest, &[times]);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};

    #[test]
    fn quotients_and_remainders() {
        let mut random = Random(29);
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
