//! Products modulo `2^q - 1` for any q, by weighted transforms of half the length. Constant time.
//!
//! Only the vector fields have the roots of 2 that the weights need. Without them this module has no scheme.
#![cfg_attr(not(target_arch = "x86_64"), allow(unused, unreachable_code))]

use super::multiplier::{Multiplier, Scheme};
use crate::fft::product::{self, SecondFactor};
use crate::fft::shape::DigitLayout;
#[cfg(target_arch = "x86_64")]
use crate::fft::three_primes::{ThreePrimes, WeightedThreePrimes, Weights, arithmetic::Arithmetic};
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512, avx512ifma::fft::Words};
use modmill_core::limbs::{add_signed, shift_right};
use modmill_core::mask;
use std::sync::Arc;
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// The schemes whose fields have roots of 2.
enum WeightedScheme {
    #[cfg(target_arch = "x86_64")]
    Avx2(WeightedThreePrimes<avx2::fft::Doubles>),
    #[cfg(target_arch = "x86_64")]
    Avx512(WeightedThreePrimes<avx512::fft::Doubles>),
    #[cfg(target_arch = "x86_64")]
    Ifma(WeightedThreePrimes<Words>),
}

/// The ring modulo one `2^q - 1`, with its weights.
#[derive(Clone)]
pub(crate) struct WeightedRing {
    bits: usize,
    layout: DigitLayout,
    scheme: Arc<WeightedScheme>,
}

impl WeightedRing {
    /// The ring modulo `2^bits - 1`. `None` if the multiplier has no fields for it.
    pub(crate) fn new(multiplier: &Multiplier, bits: usize) -> Option<Self> {
        match multiplier.scheme {
            Scheme::Portable(_) => None,
            #[cfg(target_arch = "x86_64")]
            Scheme::Avx2(primes) => Self::over(primes, bits, WeightedScheme::Avx2),
            #[cfg(target_arch = "x86_64")]
            Scheme::Avx512(primes) => Self::over(primes, bits, WeightedScheme::Avx512),
            #[cfg(target_arch = "x86_64")]
            Scheme::Ifma(primes) => Self::over(primes, bits, WeightedScheme::Ifma),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn over<A: Arithmetic>(
        primes: ThreePrimes<A>,
        bits: usize,
        scheme: impl Fn(WeightedThreePrimes<A>) -> WeightedScheme,
    ) -> Option<Self> {
        let weights = Arc::new(Weights::new::<A>(bits)?);
        let layout = weights.layout();
        Some(Self { bits, layout, scheme: Arc::new(scheme(WeightedThreePrimes::new(primes.0, weights))) })
    }

    /// The low limbs of `x y`, or of `x^2` without y. Returns the part above them.
    #[cfg(target_arch = "x86_64")]
    fn low_limbs<A: Arithmetic>(
        &self,
        scheme: &WeightedThreePrimes<A>,
        x: &[u64],
        y: Option<&[u64]>,
        out: &mut [u64],
    ) -> i128 {
        let (x, y) = (scheme.digits(x), y.map(|y| scheme.digits(y)));
        let terms = [(&x[..], y.as_ref().map_or(SecondFactor::Same, |y| SecondFactor::Number(y)))];
        product::sum_of_products(scheme, &terms, &self.layout, out, |_, carry| carry)
    }

    /// `x y mod 2^q - 1`, or `x^2` without y, for numbers below the modulus. The result is canonical and has
    /// `q / 64 + 1` limbs.
    pub(crate) fn product(&self, x: &[u64], y: Option<&[u64]>) -> Limbs {
        let mut out = Zeroizing::new(vec![0; self.bits / 64 + 1]);
        let low = &mut out[..self.bits.div_ceil(64)];
        let carry: i128 = match *self.scheme {
            #[cfg(target_arch = "x86_64")]
            WeightedScheme::Avx2(ref scheme) => self.low_limbs(scheme, x, y, low),
            #[cfg(target_arch = "x86_64")]
            WeightedScheme::Avx512(ref scheme) => self.low_limbs(scheme, x, y, low),
            #[cfg(target_arch = "x86_64")]
            WeightedScheme::Ifma(ref scheme) => self.low_limbs(scheme, x, y, low),
        };
        // The part above 2^q is added at the bottom, and so is the carry of that addition. Then all ones
        // become zero.
        let (word, bit) = (self.bits / 64, self.bits % 64);
        let mut handed = carry;
        for _ in 0..2 {
            add_signed(&mut out, handed);
            let mut top = [0];
            shift_right(&out[word..], bit, &mut top);
            out[word] &= (1 << bit) - 1;
            handed = i128::from(top[0]);
        }
        let ones = out[..word].iter().fold(u64::MAX, |all, limb| all & limb);
        let is_ones = mask::equal(ones, u64::MAX) & mask::equal(out[word], (1 << bit) - 1);
        out.iter_mut().for_each(|limb| *limb &= !is_ones);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use num_bigint::BigUint;

    #[test]
    fn products_wrap_at_any_bit() {
        let mut random = Random::new(67);
        let multipliers = Multiplier::detect(None);
        let lengths = [8191, 9689, 9941, 11_213, 19_937, 21_701, 23_808, 23_809, 44_497, 86_243];
        for multiplier in
            multipliers.iter().filter(|multiplier| multiplier.isa() != modmill_core::Isa::Portable)
        {
            assert!(
                lengths.iter().any(|&q| WeightedRing::new(multiplier, q).is_some()),
                "no weights on {}",
                multiplier.isa()
            );
        }
        for (multiplier, q) in multipliers.iter().flat_map(|multiplier| lengths.map(|q| (multiplier, q))) {
            let Some(weighted) = WeightedRing::new(multiplier, q) else { continue };
            let modulus = (BigUint::from(1u8) << q) - 1u8;
            let limbs = |x: BigUint| {
                let mut limbs = x.to_u64_digits();
                limbs.resize(q / 64 + 1, 0);
                limbs
            };
            let one = BigUint::from(1u8);
            let half = &one << (q / 2);
            let numbers: Vec<Vec<u64>> = [
                BigUint::ZERO,
                one,
                &modulus - 1u8,
                half.clone(),
                &half - 1u8,
                &modulus / 3u8,
                big(&random.limbs(q / 64 + 1)) % &modulus,
            ]
            .map(limbs)
            .into();
            for x in &numbers {
                assert_eq!(big(&weighted.product(x, None)), big(x) * big(x) % &modulus, "{q}");
                for y in &numbers {
                    assert_eq!(big(&weighted.product(x, Some(y))), big(x) * big(y) % &modulus, "{q}");
                }
            }
        }
    }
}
