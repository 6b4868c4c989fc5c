//! Montgomery's reduction by transforms (\[Thesis\], Algorithm 7.1) with `R = 2^n + 1` and all products
//! modulo R or `Q = 2^n - 1` (McLaughlin, "New frameworks for Montgomery's modular multiplication
//! method", 2004). Constant time, except for the modulus.
//!
//! For x and y below N and `m = -x y / N mod R`, `t = (x y + m N) / R` is an integer below 2N that is
//! congruent to `x y / R`. Modulo Q, R is 2, so t is half of `x y + m N` there. This determines t up to one
//! Q. The lowest bit decides: R = 1 modulo `2^n`, so `t = x y + m N` there. Every product is in a ring of n
//! bits, whereas the textbook method needs products of 2n bits.

use super::barrett::BarrettDivisor;
use super::cyclic::{CyclicRings, fold_minus, fold_plus};
use super::gcd;
use super::memory::recycle;
use super::multiplier::Multiplier;
use super::powers::Reduction;
use super::shared::part_of;
use crate::fft::product::{SecondFactor, Transformed};
use crate::fft::shape::Ring;
use crate::fft::shares::Shares;
use crate::inverse;
use modmill_core::limbs::{add_assign_masked, sub_assign};
use modmill_core::{KERNEL_MAX_BITS, mask};
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// A modulus that shares no factor with R, with its constants.
pub(super) struct Montgomery {
    rings: CyclicRings,
    modulus: Limbs,
    /// The transform of the modulus modulo Q.
    modulus_transform: Transformed,
    /// The transform of `-1 / N` modulo R.
    inverse_transform: Transformed,
    /// `1 / N mod R`, which is the product of `-1 / N` and -1.
    inverse: Limbs,
    /// `R mod N`, which represents 1.
    unit: Limbs,
    /// `R^2 mod N`.
    square_of_r: Limbs,
}

impl Montgomery {
    /// Sets up a modulus for which a divisor exists already. `None` if no ring is long enough, or if N shares
    /// a factor with `2^n + 1`.
    #[must_use]
    pub(super) fn new(divisor: &BarrettDivisor, modulus: &[u64]) -> Option<Self> {
        let multiplier = *divisor.multiplier();
        let rings = CyclicRings::at_least(multiplier, 64 * modulus.len())?;
        let limbs = rings.limbs();
        let mut r = vec![0; limbs + 1];
        (r[0], r[limbs]) = (1, 1);
        let mut inverse = inverse_modulo(&multiplier, modulus, &r)?;
        // Only 1 has the inverse 1, and only -1, which exceeds N, has the inverse -1. So the inverse and its
        // negative have n bits.
        let mut negative = Zeroizing::new(r.clone());
        sub_assign(&mut negative, &inverse);
        inverse.truncate(limbs);
        negative.truncate(limbs);
        let unit = divisor.remainder(&r);
        Some(Self {
            modulus_transform: rings.transform(modulus, Ring::Cyclic),
            inverse_transform: rings.transform(&negative, Ring::Negacyclic),
            square_of_r: divisor.square(&unit),
            modulus: Zeroizing::new(modulus.to_vec()),
            rings,
            inverse,
            unit,
        })
    }

    /// `x y / R mod N`, for factors below N. `lowest` is the lowest limb of y.
    fn reduced_product(&self, x: &[u64], y: SecondFactor<'_>, lowest: u64) -> Limbs {
        let (product, is_minus_one) = self.rings.negacyclic(&[(x, y)]);
        // A product of -1 was returned as zero with a flag; -1 times -1 / N is 1 / N.
        let minus_one = mask::from_bit(is_minus_one);
        let inverse = [(&product[..], SecondFactor::Transformed(&self.inverse_transform))];
        let (mut m, is_top) = self.rings.sum_of_products(&inverse, Ring::Negacyclic, |shares, above| {
            let is_top = fold_plus(shares, above);
            shares.correct(|first, limbs| {
                let inverse = &self.inverse[first..];
                limbs.iter_mut().zip(inverse).for_each(|(m, inverse)| *m |= inverse & minus_one);
            });
            is_top
        });
        let parity = (x[0] & lowest ^ m[0] & self.modulus[0]) & 1;
        // m = 2^n was returned as zero with a flag; it is 1 modulo Q.
        m[0] |= is_top;
        let terms = [(x, y), (&m[..], SecondFactor::Transformed(&self.modulus_transform))];
        let (mut t, ()) = self.rings.sum_of_products(&terms, Ring::Cyclic, |shares, above| {
            fold_minus(shares, above);
            self.halve_and_reduce(shares, parity);
        });
        recycle(product);
        recycle(m);
        t.truncate(self.modulus.len());
        t
    }

    /// Halves t, which is below Q, modulo Q. Adds Q if the lowest bit of the half is not `parity`. Subtracts
    /// N if the result is not below N, which it exceeds by at most N.
    fn halve_and_reduce(&self, t: &mut Shares<'_>, parity: u64) {
        let share = t.share();
        // A share begins with the lowest bit of the next share, and the last share with that of the first.
        let firsts: Limbs = Zeroizing::new(t.first_limbs().collect());
        let above = |first: usize| firsts[(first / share + 1) % firsts.len()] & 1;
        // Q = 2^n - 1. So it is 1 above the number and -1 at its bottom.
        let is_more = i128::from((firsts[0] >> 1 ^ parity) & 1);
        let modulus = |first: usize, len: usize| part_of(&self.modulus, first, len);
        let carry = t.pass(|first, limbs| {
            halve(limbs, above(first));
            -i128::from(sub_assign(limbs, modulus(first, limbs.len())))
        });
        let top = is_more + carry + t.add(-is_more);
        let is_negative = mask::from_bit(u64::from(top < 0));
        t.pass(|first, limbs| i128::from(add_assign_masked(limbs, modulus(first, limbs.len()), is_negative)));
    }
}

impl Reduction for Montgomery {
    fn unit(&self) -> Limbs {
        self.unit.clone()
    }

    fn enter(&self, x: &[u64]) -> Limbs {
        self.multiply(x, &self.square_of_r)
    }

    fn leave(&self, x: &[u64]) -> Limbs {
        self.multiply(x, &[1])
    }

    fn multiply(&self, x: &[u64], y: &[u64]) -> Limbs {
        self.reduced_product(x, SecondFactor::Number(y), y[0])
    }

    fn square(&self, x: &[u64]) -> Limbs {
        self.reduced_product(x, SecondFactor::Same, x[0])
    }
}

/// Shifts a number to the right by one bit. `above` is the new highest bit.
fn halve(x: &mut [u64], mut above: u64) {
    for limb in x.iter_mut().rev() {
        (*limb, above) = (*limb >> 1 | above << 63, *limb & 1);
    }
}

/// `1 / x mod r`, with as many limbs as r. The time depends on lengths only, up to the length that kernels
/// take; beyond it, the time is subquadratic and depends on the numbers.
fn inverse_modulo(multiplier: &Multiplier, x: &[u64], r: &[u64]) -> Option<Limbs> {
    let mut found = if 64 * r.len() <= KERNEL_MAX_BITS + 128 {
        Zeroizing::new(inverse::invert(x, r)?.to_vec())
    } else {
        Zeroizing::new(gcd::invert(multiplier, x, r)?)
    };
    found.resize(r.len(), 0);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use num_bigint::BigUint;

    fn limbs(x: &BigUint, len: usize) -> Vec<u64> {
        let mut limbs = x.to_u64_digits();
        limbs.resize(len, 0);
        limbs
    }

    #[test]
    fn products_are_divided_by_r() {
        let mut random = Random::new(59);
        for multiplier in Multiplier::detect(None) {
            for n in [1, 2, 7, 8, 63, 64, 65, 96, 128, 192, 256, 321] {
                let mut low = vec![0; n];
                (low[0], low[n - 1]) = (4, 1 << 63);
                let mut even = random.limbs(n);
                (even[0], even[n - 1]) = (even[0] & !1, even[n - 1] | 1);
                let mut odd = random.limbs(n);
                odd[n - 1] |= 1 << 63;
                for modulus in [vec![u64::MAX; n], low, even, odd, random.bits(64 * n - 5)] {
                    if modulus == [4] || big(&modulus) < BigUint::from(2u8) {
                        continue;
                    }
                    let divisor = BarrettDivisor::new(multiplier, &modulus);
                    let rings = CyclicRings::at_least(multiplier, 64 * n).unwrap();
                    let r = (BigUint::from(1u8) << rings.bits()) + 1u8;
                    match Montgomery::new(&divisor, &modulus) {
                        Some(montgomery) => {
                            let one = big(&montgomery.inverse) * big(&modulus) % &r;
                            assert_eq!(one, BigUint::from(1u8), "{n} limbs");
                            check(&montgomery, &modulus, &mut random);
                        }
                        // All ones and R may share a factor, for example.
                        None => assert!(big(&modulus).modinv(&r).is_none(), "{n} limbs"),
                    }
                }
            }
        }
    }

    /// Factors at the bounds, a product equal to N, which makes m = -1, and a product that is -1 modulo R.
    fn check(montgomery: &Montgomery, modulus: &[u64], random: &mut Random) {
        let (n, value) = (modulus.len(), big(modulus));
        let r = (BigUint::from(1u8) << montgomery.rings.bits()) + 1u8;
        let one = BigUint::from(1u8);
        let mut factors =
            vec![BigUint::ZERO, one.clone(), &value - 1u8, &value / 2u8, big(&random.limbs(n)) % &value];
        factors.extend([2u8, 3, 5].map(|k| BigUint::from(k) % &value));
        if &value % 3u8 == BigUint::ZERO {
            factors.push(&value / 3u8);
        }
        factors.push(BigUint::from(1u8) << (montgomery.rings.bits() / 2).min(64 * n - 7));
        factors.retain(|factor| factor < &value);
        for (index, x) in factors.iter().enumerate() {
            for y in &factors[index..] {
                let product = montgomery.multiply(&limbs(x, n), &limbs(y, n));
                assert!(big(&product) < value);
                assert_eq!(big(&product) * &r % &value, x * y % &value, "{n} limbs");
                assert_eq!(montgomery.multiply(&limbs(y, n), &limbs(x, n)), product, "{n} limbs");
            }
            assert_eq!(montgomery.square(&limbs(x, n)), montgomery.multiply(&limbs(x, n), &limbs(x, n)));
            let entered = montgomery.enter(&limbs(x, n));
            assert_eq!(big(&entered), x * &r % &value);
            assert_eq!(&big(&montgomery.leave(&entered)), x);
        }
        assert_eq!(big(&montgomery.unit()), r % value);
    }
}
