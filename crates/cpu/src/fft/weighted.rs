//! Products modulo `2^q - 1` for any q by weighted transforms of half the length. Constant-time.
//!
//! Only vector fields have the roots that it takes: elsewhere there is no road, and nothing after it.
#![cfg_attr(not(target_arch = "x86_64"), allow(unused, unreachable_code))]

use super::frame::Layout;
use super::product::Other;
#[cfg(target_arch = "x86_64")]
use super::three_primes::{RootsOfTwo, ThreePrimes, Weights, arithmetic::Arithmetic};
use super::{Kind, Multiplier};
#[cfg(target_arch = "x86_64")]
use crate::{avx2::fft::Doubles, avx512::fft::Words};
use modmill_core::limbs::{add_signed, shift_right};
use modmill_core::mask;
use std::sync::Arc;
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// The roads whose fields have roots of 2.
enum Road {
    #[cfg(target_arch = "x86_64")]
    Fma(RootsOfTwo<Doubles>),
    #[cfg(target_arch = "x86_64")]
    Ifma(RootsOfTwo<Words>),
}

/// The weights of one modulus.
#[derive(Clone)]
pub(crate) struct Weighted {
    bits: usize,
    layout: Layout,
    road: Arc<Road>,
}

impl Weighted {
    /// The weights for `2^bits - 1`, where the multiplier has fields for them.
    pub(crate) fn new(multiplier: &Multiplier, bits: usize) -> Option<Self> {
        match multiplier.kind {
            Kind::Portable(_) => None,
            #[cfg(target_arch = "x86_64")]
            Kind::Fma(primes) => Self::over(primes, bits, Road::Fma),
            #[cfg(target_arch = "x86_64")]
            Kind::Ifma(primes) => Self::over(primes, bits, Road::Ifma),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn over<A: Arithmetic>(
        primes: ThreePrimes<A>,
        bits: usize,
        road: impl Fn(RootsOfTwo<A>) -> Road,
    ) -> Option<Self> {
        let weights = Arc::new(Weights::new::<A>(bits)?);
        let layout = weights.layout();
        Some(Self { bits, layout, road: Arc::new(road(RootsOfTwo::new(primes.0, weights))) })
    }

    /// The low limbs of `x y`, or of `x^2` if there is no y, and what is above them.
    #[cfg(target_arch = "x86_64")]
    fn low_limbs<A: Arithmetic>(
        &self,
        road: &RootsOfTwo<A>,
        x: &[u64],
        y: Option<&[u64]>,
        out: &mut [u64],
    ) -> i128 {
        let (x, y) = (road.digits(x), y.map(|y| road.digits(y)));
        let terms = [(&x[..], y.as_ref().map_or(Other::Same, |y| Other::Number(y)))];
        super::product::sum_of_products(road, &terms, &self.layout, out)
    }

    /// `x y mod 2^q - 1`, or `x^2` if there is no y, of numbers below it: canonical, of `q / 64 + 1` limbs.
    pub(crate) fn product(&self, x: &[u64], y: Option<&[u64]>) -> Limbs {
        let mut out = Zeroizing::new(vec![0; self.bits / 64 + 1]);
        let low = &mut out[..self.bits.div_ceil(64)];
        let carry: i128 = match *self.road {
            #[cfg(target_arch = "x86_64")]
            Road::Fma(ref road) => self.low_limbs(road, x, y, low),
            #[cfg(target_arch = "x86_64")]
            Road::Ifma(ref road) => self.low_limbs(road, x, y, low),
        };
        // What is above 2^q comes back in, and what that carries once more; then all ones are zero.
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
    use crate::random::Random;
    use num_bigint::BigUint;

    fn big(limbs: &[u64]) -> BigUint {
        BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
    }

    #[test]
    fn products_wrap_at_any_bit() {
        let mut random = Random(67);
        let roads = Multiplier::detect(None);
        let lengths = [8191, 9689, 9941, 11_213, 19_937, 21_701, 23_808, 23_809, 44_497, 86_243];
        for road in roads.iter().filter(|road| road.isa() != modmill_core::Isa::Portable) {
            assert!(
                lengths.iter().any(|&q| Weighted::new(road, q).is_some()),
                "no weights on {}",
                road.isa()
            );
        }
        for (road, q) in roads.iter().flat_map(|road| lengths.map(|q| (road, q))) {
            let Some(weighted) = Weighted::new(road, q) else { continue };
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
