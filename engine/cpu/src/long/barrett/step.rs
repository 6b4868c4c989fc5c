//! One step of a long division. Threads share all of its passes.

use super::{BarrettDivisor, Limbs, Multiple};
use crate::fft::product::SecondFactor;
use crate::fft::shape::Ring;
use crate::fft::shares::{self, Shares};
use crate::long::cyclic::fold_minus;
use crate::long::memory::{limbs_with_room, recycle};
use crate::long::shared::part_of;
use modmill_core::limbs::{add_assign, add_assign_masked, sub_assign_times, sub_from};
use modmill_core::mask;

/// The number of times that the divisor may still fit into the remainder after Barrett's quotient.
const CORRECTIONS: u64 = 3;

/// That number for a quotient of one limb, which is estimated from the first limb only.
const SHORT_CORRECTIONS: u64 = 5;

impl BarrettDivisor {
    /// Divides a number of n + 1 limbs below `d B`. The remainder replaces its lower n limbs. The quotient
    /// goes to `digits`.
    ///
    /// With the reciprocal `B^n + m'`, the estimate `x_n + x_n m' / B^n` is too small by less than one for
    /// each of three omitted terms: `x_n` times the lower limbs of m', the lower limbs of x, and their
    /// product with m'. Two roundings come on top.
    pub(super) fn short_step(&self, x: &mut [u64], digits: Option<&mut [u64]>) {
        let (x, top) = x.split_at_mut(self.limbs());
        let estimate = top[0] + ((u128::from(top[0]) * u128::from(self.reciprocal_top)) >> 64) as u64;
        let share = shares::share(x.len(), 1);
        let (mut rest, carry) = Shares::new(x, share, |first, limbs| {
            -i128::from(sub_assign_times(limbs, part_of(&self.normalised, first, limbs.len()), estimate))
        });
        let fits = self.subtract_fitting(&mut rest, i128::from(top[0]) + carry, SHORT_CORRECTIONS);
        rest.finish();
        if let Some(digits) = digits {
            digits[0] = estimate + fits;
        }
    }

    /// The remainder of a number x below `d B^k`, with k limbs above the lower n, in at least n limbs. The
    /// quotient goes to `digits`, as far as they reach.
    pub(super) fn step(&self, x: &[u64], digits: Option<&mut [u64]>) -> Limbs {
        let n = self.limbs();
        let mut product = limbs_with_room(x.len());
        self.multiplier.multiply_prepared(&x[n..], &self.reciprocal, &mut product);
        let quotient = &mut product[n..];
        add_shared(quotient, &x[n..]);
        let (rest, fits) = match &self.divisor {
            Multiple::Whole(divisor) => {
                let mut rest = limbs_with_room(x.len());
                self.multiplier.multiply_prepared(quotient, divisor, &mut rest);
                let above = i128::from(x[n]) - i128::from(rest[n]);
                rest.truncate(n);
                let share = shares::share(n, 1);
                let (mut shares, carry) =
                    Shares::new(&mut rest, share, |first, y| difference(first, y, &x[..n], &[]));
                // Of a small number only the lowest limb was subtracted.
                let above = i128::from((above + carry) as u64);
                let fits = self.subtract_fitting(&mut shares, above, CORRECTIONS);
                shares.finish();
                (rest, fits)
            }
            Multiple::CyclicRings(rings, divisor) => {
                let (low, high) = x.split_at(rings.limbs().min(x.len()));
                let lowest = x[0].wrapping_sub(quotient[0].wrapping_mul(self.normalised[0]));
                let terms = [(&*quotient, SecondFactor::Transformed(divisor))];
                rings.sum_of_products(&terms, Ring::Cyclic, |shares, above| {
                    fold_minus(shares, above);
                    let carry = shares.pass(|first, y| difference(first, y, low, high));
                    fold_minus(shares, carry);
                    // The remainder exceeds the number modulo `2^s - 1` by a small multiple of that, which
                    // the lowest limb shows.
                    let times = i128::from(shares.limb(0).wrapping_sub(lowest));
                    let carry = shares.add(-times);
                    self.subtract_fitting(shares, times + carry, CORRECTIONS)
                })
            }
        };
        if let Some(digits) = digits {
            add_assign(quotient, &[fits]);
            let len = digits.len().min(quotient.len());
            digits[..len].copy_from_slice(&quotient[..len]);
        }
        recycle(product);
        rest
    }

    /// Subtracts the divisor as often as it fits, at most `times` times, and returns how often that is.
    /// `above` is the part of the number above its shares.
    fn subtract_fitting(&self, number: &mut Shares<'_>, above: i128, times: u64) -> u64 {
        let (d, n) = (&self.normalised[..], self.limbs());
        // The estimate divides the top limbs of the number by the top limb of d plus one. It is exact or one
        // too small: the two quotients differ by less than `(times + 2) / 2^63`.
        let limb_above = if number.len() > n { number.limb(n) } else { above as u64 };
        let top = u128::from(limb_above) << 64 | u128::from(number.limb(n - 1));
        let once = u128::from(d[n - 1]) + 1;
        let fits: u64 = (1..=times).map(|k| u64::from(top >= u128::from(k) * once)).sum();
        // d is subtracted once more than that, and added again if this was too often.
        let carry = number.pass(|first, limbs| {
            -i128::from(sub_assign_times(limbs, part_of(d, first, limbs.len()), fits + 1))
        });
        let is_negative = u64::from(above + carry < 0);
        let mask = mask::from_bit(is_negative);
        number
            .pass(|first, limbs| i128::from(add_assign_masked(limbs, part_of(d, first, limbs.len()), mask)));
        fits + 1 - is_negative
    }
}

/// `y <- low + high - y` for the limbs of three numbers from `first` on, and the carry out of it. Neither
/// `low` nor `high` is longer than the number of y.
fn difference(first: usize, y: &mut [u64], low: &[u64], high: &[u64]) -> i128 {
    let borrow = sub_from(y, part_of(low, first, y.len()));
    let carry = add_assign(y, part_of(high, first, y.len()));
    i128::from(carry) - i128::from(borrow)
}

/// `a += b`, for numbers of one length. The sum has no carry.
fn add_shared(a: &mut [u64], b: &[u64]) {
    let share = shares::share(a.len(), 1);
    let (shares, _) =
        Shares::new(a, share, |first, limbs| i128::from(add_assign(limbs, part_of(b, first, limbs.len()))));
    shares.finish();
}
