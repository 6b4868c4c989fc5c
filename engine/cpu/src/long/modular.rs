//! Products, squares and powers modulo a long number, by the fastest method for the modulus and the exponent.
//! Constant time, except for lengths, public exponents and the modulus.

use super::barrett::BarrettDivisor;
use super::mersenne::{MersenneLike, MersenneRing};
use super::montgomery::Montgomery;
use super::multiplier::Multiplier;
use super::powers::{self, Reduction};
use modmill_core::KERNEL_MAX_BITS;
use modmill_core::limbs::bit_length;
use std::fmt;
use std::sync::OnceLock;
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// Bits of an exponent from which Montgomery's reduction is faster than Barrett's, although its set-up is an
/// inversion. Measured for moduli that are inverted by division steps, and for longer moduli.
const PAYING_BITS: [usize; 2] = [64, 1024];

/// The reduction methods for a modulus without a special form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReductionMethod {
    /// Products with the reciprocal and the modulus.
    Barrett,
    /// Products modulo `2^n + 1` and `2^n - 1`, after an inversion.
    Montgomery,
}

impl fmt::Display for ReductionMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Barrett => "Barrett's reduction",
            Self::Montgomery => "Montgomery's reduction in rings of half the length",
        })
    }
}

/// The reduction method of powers with exponents of `exponent_bits` bits, modulo a number of `limbs` limbs.
#[must_use]
pub(crate) fn reduction_method(
    multiplier: &Multiplier,
    limbs: usize,
    exponent_bits: usize,
) -> ReductionMethod {
    let paying = PAYING_BITS[usize::from(limbs > KERNEL_MAX_BITS / 64)];
    if limbs >= multiplier.ring_threshold() && exponent_bits >= paying {
        ReductionMethod::Montgomery
    } else {
        ReductionMethod::Barrett
    }
}

/// A modulus of at least one, with its constants.
pub(crate) struct PreparedModulus {
    value: Limbs,
    form: ModulusForm,
}

enum ModulusForm {
    /// `2^n - 1` or `2^n + 1`.
    MersenneLike(MersenneRing),
    /// Any other modulus. The constants of Montgomery's reduction are computed on demand.
    Any(Box<BarrettDivisor>, OnceLock<Option<Box<Montgomery>>>),
}

impl PreparedModulus {
    /// Sets up a modulus of at least one.
    ///
    /// # Panics
    /// If the modulus is zero.
    #[must_use]
    pub(crate) fn new(multiplier: Multiplier, modulus: &[u64]) -> Self {
        let value = Zeroizing::new(modulus[..bit_length(modulus).div_ceil(64)].to_vec());
        let form = match MersenneLike::of(&value) {
            Some(form) => ModulusForm::MersenneLike(MersenneRing::new(form, multiplier)),
            None => ModulusForm::Any(Box::new(BarrettDivisor::new(multiplier, &value)), OnceLock::new()),
        };
        Self { value, form }
    }

    /// `x mod N`, with as many limbs as N.
    #[must_use]
    pub(crate) fn remainder(&self, x: &[u64]) -> Limbs {
        self.cut(match &self.form {
            ModulusForm::MersenneLike(ring) => ring.reduce(x),
            ModulusForm::Any(divisor, _) => divisor.remainder(x),
        })
    }

    /// `a b mod N`. A single product is not worth the conversion to Montgomery form and back.
    #[must_use]
    pub(crate) fn mul_mod(&self, a: &[u64], b: &[u64]) -> Limbs {
        let (short_a, short_b) = (self.shortened(a), self.shortened(b));
        let a = short_a.as_ref().map_or(a, |short| &short[..]);
        let b = short_b.as_ref().map_or(b, |short| &short[..]);
        self.cut(match &self.form {
            ModulusForm::MersenneLike(ring) => ring.multiply(&ring.reduce(a), &ring.reduce(b)),
            ModulusForm::Any(divisor, _) => divisor.product(a, b),
        })
    }

    /// `a^2 mod N`.
    #[must_use]
    pub(crate) fn square_mod(&self, a: &[u64]) -> Limbs {
        let short = self.shortened(a);
        let a = short.as_ref().map_or(a, |short| &short[..]);
        self.cut(match &self.form {
            ModulusForm::MersenneLike(ring) => ring.square(&ring.reduce(a)),
            ModulusForm::Any(divisor, _) => divisor.square_of(a),
        })
    }

    /// `base^exponent mod N`, for an exponent of `bits` bits. Windows have `window` bits. The time depends on
    /// `bits`, `window` and lengths only.
    #[must_use]
    pub(crate) fn pow(&self, base: &[u64], exponent: &[u64], bits: usize, window: u32) -> Limbs {
        let base = self.remainder(base);
        self.cut(match (&self.form, self.montgomery(bits)) {
            (ModulusForm::MersenneLike(ring), _) => powers::pow(ring, &base, exponent, bits, window),
            (ModulusForm::Any(..), Some(montgomery)) => {
                powers::pow(montgomery, &base, exponent, bits, window)
            }
            (ModulusForm::Any(divisor, _), None) => powers::pow(&**divisor, &base, exponent, bits, window),
        })
    }

    /// `base^exponent mod N` for a public exponent, by sliding windows of at most `longest_window` bits.
    #[must_use]
    pub(crate) fn pow_vartime(&self, base: &[u64], exponent: &[u64], longest_window: u32) -> Limbs {
        let base = self.remainder(base);
        self.cut(match (&self.form, self.montgomery(bit_length(exponent))) {
            (ModulusForm::MersenneLike(ring), _) => {
                powers::pow_vartime(ring, &base, exponent, longest_window)
            }
            (ModulusForm::Any(..), Some(montgomery)) => {
                powers::pow_vartime(montgomery, &base, exponent, longest_window)
            }
            (ModulusForm::Any(divisor, _), None) => {
                powers::pow_vartime(&**divisor, &base, exponent, longest_window)
            }
        })
    }

    /// The constants of Montgomery's reduction, if they exist and pay off for an exponent of `bits` bits.
    fn montgomery(&self, bits: usize) -> Option<&Montgomery> {
        match &self.form {
            ModulusForm::Any(divisor, made) => {
                let make = || Montgomery::new(divisor, &self.value).map(Box::new);
                match reduction_method(divisor.multiplier(), self.value.len(), bits) {
                    ReductionMethod::Montgomery => made.get_or_init(make).as_deref(),
                    // Constants that exist already serve short exponents too.
                    ReductionMethod::Barrett => made.get()?.as_deref(),
                }
            }
            ModulusForm::MersenneLike(_) => None,
        }
    }

    /// The remainder of a number that has more limbs than the modulus.
    fn shortened(&self, a: &[u64]) -> Option<Limbs> {
        (a.len() > self.value.len()).then(|| self.remainder(a))
    }

    /// Resizes a number below N to as many limbs as N has.
    fn cut(&self, mut x: Limbs) -> Limbs {
        x.resize(self.value.len(), 0);
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    /// Checks every multiplier. The oracle, which takes most of the time, computes each answer once.
    fn check(modulus: &[u64], random: &mut Random) {
        let prepared: Vec<PreparedModulus> =
            Multiplier::detect(None).into_iter().map(|it| PreparedModulus::new(it, modulus)).collect();
        let (value, len) = (big(modulus), modulus.len());
        let mut less = modulus.to_vec();
        modmill_core::limbs::sub_assign(&mut less, &[1]);
        for base in [random.limbs(len + 3), less, vec![0; len], modulus.to_vec(), vec![1]] {
            for exponent in [vec![], vec![0], vec![1], vec![65_537], vec![u64::MAX], random.limbs(2)] {
                let expected = big(&base).modpow(&big(&exponent), &value);
                for modulus in &prepared {
                    let power = modulus.pow(&base, &exponent, 64 * exponent.len(), 4);
                    assert_eq!((power.len(), big(&power)), (len, expected.clone()), "modulo {value}");
                    assert_eq!(big(&modulus.pow_vartime(&base, &exponent, 5)), expected, "modulo {value}");
                }
            }
            for other in [random.limbs(2 * len), base.clone(), vec![2], vec![]] {
                let expected = big(&base) * big(&other) % &value;
                for modulus in &prepared {
                    let product = modulus.mul_mod(&base, &other);
                    assert_eq!((product.len(), big(&product)), (len, expected.clone()));
                }
            }
            let expected = big(&base) * big(&base) % &value;
            for modulus in &prepared {
                assert_eq!(big(&modulus.square_mod(&base)), expected);
            }
        }
    }

    #[test]
    fn products_and_powers_agree_with_the_oracle() {
        let mut random = Random::new(31);
        for bits in [1, 2, 64, 65, 700, 64 * 161] {
            check(&random.bits(bits), &mut random);
        }
    }

    #[test]
    fn mersenne_like_moduli_are_folded() {
        let mut random = Random::new(61);
        for n in [2, 3, 5, 63, 64, 65, 127, 128, 640, 1024, 1279, 12_288, 16_384] {
            for form in [MersenneLike::minus_one(n), MersenneLike::plus_one(n)].map(Result::unwrap) {
                let value = form.value();
                let modulus = &value[..bit_length(&value).div_ceil(64)];
                assert_eq!(MersenneLike::of(modulus).map(MersenneLike::value), Some(value.clone()));
                check(modulus, &mut random);
            }
        }
    }
}
