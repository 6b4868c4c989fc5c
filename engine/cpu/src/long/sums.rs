//! Sums modulo a long number: sums of products, added before they are transformed back and reduced, and sums
//! of numbers with small weights.
//!
//! A transform is linear: the transform of a sum of products is the sum, point by point, of the products of
//! the factors' transforms. So each factor is transformed once, however many products it is in, and each sum
//! is transformed back and reduced once, however many products it has.

use super::barrett::BarrettDivisor;
use super::memory::{clear_at_end, zeros_with_room};
use super::multiplier::{Multiplier, Scheme, with_scheme};
use super::weighted_sums;
use crate::fft::product::{self, Transformed};
use crate::fft::scheme::NttScheme;
use crate::fft::shape::{DigitLayout, Ring};
use crate::threads::{self, Share};
use modmill_core::limbs::bit_length;
use modmill_core::{Batch, BatchView, Error, Sums};
use rayon::prelude::*;

/// A modulus for sums of numbers, or of products of numbers, that are no longer than the modulus.
pub struct ModularSums {
    multiplier: Multiplier,
    divisor: BarrettDivisor,
    layout: DigitLayout,
    bits: usize,
}

/// Numbers that are factors of such sums, transformed.
pub struct SumFactors(Vec<Transformed>);

impl SumFactors {
    /// The number of factors.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no factors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl ModularSums {
    /// Prepares sums of up to `most` products. `None` if no digits are short enough for them.
    ///
    /// # Panics
    /// If the modulus is zero.
    pub(crate) fn new(multiplier: Multiplier, modulus: &[u64], most: usize) -> Option<Self> {
        let bits = bit_length(modulus);
        let limbs = bits.div_ceil(64);
        let plan = with_scheme!(multiplier.scheme, scheme => scheme.plan_sums(limbs, limbs, most.max(1)))?;
        let layout = DigitLayout::new(plan, Ring::Cyclic);
        Some(Self { multiplier, divisor: BarrettDivisor::new(multiplier, modulus), layout, bits })
    }

    /// Transforms numbers that are no longer than the modulus.
    pub(crate) fn transform(&self, numbers: BatchView<'_>) -> SumFactors {
        let transform = |item: usize| {
            with_scheme!(self.multiplier.scheme, scheme => {
                product::transform_for_sums(&scheme, numbers.get(item), &self.layout)
            })
        };
        SumFactors((0..numbers.len()).into_par_iter().map(transform).list())
    }

    /// The sums modulo the modulus. Indices run through all groups of factors, one after the other.
    pub(crate) fn compute(&self, factors: &[&SumFactors], sums: &Sums) -> Result<Batch, Error> {
        let factors: Vec<&Transformed> = factors.iter().flat_map(|group| &group.0).collect();
        let mut answers = Batch::try_zeros(self.bits, sums.len())?;
        let stride = answers.stride();
        answers.as_limbs_mut().par_chunks_mut(stride).enumerate().each(|(sum, answer)| {
            let terms: Vec<(usize, &[u32])> = sums.terms(sum).collect();
            let remainder = clear_at_end(|| {
                let mut whole = zeros_with_room(2 * stride + 1);
                with_scheme!(self.multiplier.scheme, scheme => {
                    product::sum_of_terms(&scheme, &factors, &terms, &self.layout, &mut whole);
                });
                // A sum is below 2^(2 bits + 63): its top limb has as many leading zeros as the modulus, and
                // one more.
                self.divisor.remainder_of_sum(whole)
            });
            answer.copy_from_slice(&remainder[..stride]);
        });
        Ok(answers)
    }

    /// Sums of numbers with weights modulo the modulus. `weights` has a byte for each number for each sum.
    ///
    /// # Panics
    /// If there are `2^24` numbers or more.
    pub(crate) fn weighted(&self, numbers: BatchView<'_>, weights: &[u8]) -> Result<Batch, Error> {
        assert!(numbers.len() < weighted_sums::MOST_NUMBERS, "sums of fewer numbers are exact");
        let count = weights.len() / numbers.len().max(1);
        let mut answers = Batch::try_zeros(self.bits, count)?;
        let stride = answers.stride();
        // Each thread has some sums, and reads the numbers once for all of them.
        let share = count.div_ceil(threads::count()).max(1);
        let shares = answers.as_limbs_mut().par_chunks_mut(share * stride);
        shares.zip(weights.par_chunks(share * numbers.len().max(1))).each(|(answers, weights)| {
            let answers = std::cell::RefCell::new(answers);
            let done = |sum: usize, whole: &[u64]| {
                // A sum is below 2^(bits + 32). Numbers may have fewer limbs than the modulus.
                let mut padded = zeros_with_room(stride + 1);
                padded[..whole.len()].copy_from_slice(whole);
                let remainder = clear_at_end(|| self.divisor.remainder_of_sum(padded));
                answers.borrow_mut()[sum * stride..][..stride].copy_from_slice(&remainder[..stride]);
            };
            with_scheme!(self.multiplier.scheme, scheme => {
                scheme.run(
                    #[inline(always)]
                    || weighted_sums::add_up(numbers, weights, done),
                );
            });
        });
        Ok(answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use num_bigint::BigUint;

    /// Random sums over `count` numbers: many terms, few terms, none.
    fn random_sums(count: usize, random: &mut Random) -> Sums {
        let mut sums = Sums::default();
        for terms in [0, 1, 2, 7] {
            let terms: Vec<(usize, Vec<usize>)> = (0..terms)
                .map(|_| {
                    let rights = (0..random.word() % 6).map(|_| random.word() as usize % count).collect();
                    (random.word() as usize % count, rights)
                })
                .collect();
            sums.push(terms.iter().map(|(left, rights)| (*left, &rights[..])));
        }
        let all: Vec<usize> = (0..count).collect();
        sums.push((0..count).map(|left| (left, &all[..])));
        sums
    }

    #[test]
    fn sums_are_sums() {
        let mut random = Random::new(101);
        for multiplier in Multiplier::detect(None) {
            for bits in [1usize, 64, 65, 700, 64 * 40, 30_000, 64 * 1500 + 1] {
                let mut modulus = random.bits(bits);
                modulus[0] |= 1;
                let limbs = modulus.len();
                let count = 5;
                let mut limbs_of_numbers = vec![u64::MAX; limbs];
                limbs_of_numbers[limbs - 1] >>= 64 * limbs - bits;
                limbs_of_numbers.extend(vec![0; limbs]);
                for _ in 2..count {
                    limbs_of_numbers.extend(random.bits(bits));
                }
                let numbers = Batch::from_limbs(bits, limbs_of_numbers).unwrap();
                let sums = random_sums(count, &mut random);
                let modular = ModularSums::new(multiplier, &modulus, sums.most_products()).unwrap();
                let answers = modular.compute(&[&modular.transform(numbers.view())], &sums).unwrap();
                for sum in 0..sums.len() {
                    let number = |index: usize| big(numbers.get(index));
                    let expected: BigUint = sums
                        .terms(sum)
                        .map(|(left, rights)| {
                            let rights: BigUint = rights.iter().map(|&right| number(right as usize)).sum();
                            number(left) * rights
                        })
                        .sum();
                    assert_eq!(
                        big(answers.get(sum)),
                        expected % big(&modulus),
                        "{multiplier:?}, {bits} bits"
                    );
                }
            }
        }
    }

    #[test]
    fn weighted_sums_are_sums() {
        let mut random = Random::new(103);
        for multiplier in Multiplier::detect(None) {
            for (bits, count) in
                [(1usize, 1usize), (64, 3), (64 * 128, 5), (64 * 200 + 7, 40), (30_000, 1000)]
            {
                let modulus = random.bits(bits);
                let limbs: Vec<u64> = (0..count)
                    .flat_map(|number| match number {
                        0 => random.bits(bits).iter().map(|_| u64::MAX).collect(),
                        _ => random.bits(bits),
                    })
                    .collect();
                let mut numbers = Batch::from_limbs(bits.next_multiple_of(64), limbs).unwrap();
                if bits % 64 != 0 {
                    let top = numbers.get(0).len() - 1;
                    numbers.get_mut(0)[top] >>= 64 - bits % 64;
                }
                let weights: Vec<u8> = (0..3 * count)
                    .map(|place| if place < count { 255 } else { random.word() as u8 })
                    .collect();
                let modular = ModularSums::new(multiplier, &modulus, 1).unwrap();
                let answers = modular.weighted(numbers.view(), &weights).unwrap();
                for (sum, weights) in weights.chunks(count).enumerate() {
                    let products =
                        weights.iter().enumerate().map(|(n, &weight)| big(numbers.get(n)) * weight);
                    let expected: BigUint = products.sum();
                    assert_eq!(
                        big(answers.get(sum)),
                        expected % big(&modulus),
                        "{multiplier:?}, {bits} bits"
                    );
                }
            }
        }
    }

    /// All digits are as large as they may be, in as many products as there is room for.
    #[test]
    fn the_largest_sums_fit() {
        for multiplier in Multiplier::detect(None) {
            let bits = 64 * 300;
            let numbers = Batch::from_limbs(bits, vec![u64::MAX; 300]).unwrap();
            let rights = vec![0; 1 << 12];
            let mut sums = Sums::default();
            sums.push([(0, &rights[..]), (0, &rights[..])]);
            let mut modulus = vec![u64::MAX; 300];
            modulus[0] -= 58;
            let modular = ModularSums::new(multiplier, &modulus, sums.most_products()).unwrap();
            let answer = modular.compute(&[&modular.transform(numbers.view())], &sums).unwrap();
            let number = big(numbers.get(0));
            assert_eq!(big(answer.get(0)), &number * &number * 8192u32 % big(&modulus), "{multiplier:?}");
        }
    }
}
