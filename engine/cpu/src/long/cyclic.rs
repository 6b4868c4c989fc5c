//! Products modulo `2^n - 1` and `2^n + 1`. Their transforms have half the length of a full product of two
//! n-bit numbers, since the part above n bits wraps around by itself. Constant time.

use super::memory::limbs_with_room;
use super::multiplier::{Multiplier, Scheme, with_scheme};
use crate::fft::product::{self, SecondFactor, Transformed};
use crate::fft::scheme::NttScheme;
use crate::fft::shape::{DigitLayout, Ring};
use crate::fft::shares::Shares;
use modmill_core::mask;
use modmill_core::transform::{DigitPlan, LANES, PointShape};
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// The number of points that fill whole limbs for every digit length.
const UNIT: usize = 64 / LANES;

/// The cyclic ring modulo `2^n - 1` and the negacyclic ring modulo `2^n + 1`, for an n of whole limbs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CyclicRings {
    multiplier: Multiplier,
    plan: DigitPlan,
}

impl CyclicRings {
    /// The rings of the smallest n of at least `bits`, or `None` if no digit length serves.
    pub(crate) fn at_least(multiplier: Multiplier, bits: usize) -> Option<Self> {
        let plan = |digit_bits: u32| {
            let points = bits.div_ceil(LANES * digit_bits as usize);
            DigitPlan { digit_bits, shape: PointShape::at_least(points.max(UNIT)) }
        };
        (1..=64).rev().map(plan).find(|plan| multiplier.holds(plan)).map(|plan| Self { multiplier, plan })
    }

    /// The rings of exactly this n, or `None` if no digit length serves.
    pub(crate) fn exactly(multiplier: Multiplier, bits: usize) -> Option<Self> {
        let plan = |digit_bits: u32| {
            let shapes = [1, 3, 5]
                .map(|rows| PointShape { rows, columns: bits / (LANES * rows * digit_bits as usize) });
            let is_exact = |shape: &PointShape| {
                shape.columns.is_power_of_two()
                    && shape.columns >= UNIT
                    && shape.points() * LANES * digit_bits as usize == bits
            };
            shapes.into_iter().find(is_exact).map(|shape| DigitPlan { digit_bits, shape })
        };
        // Digits of less than half the length are slower than a full product with folding.
        let plans = (multiplier.widest_digit() / 2..=multiplier.widest_digit()).rev().filter_map(plan);
        plans.into_iter().find(|plan| multiplier.holds(plan)).map(|plan| Self { multiplier, plan })
    }

    /// n.
    pub(crate) fn bits(&self) -> usize {
        self.plan.shape.points() * LANES * self.plan.digit_bits as usize
    }

    /// Limbs of n bits.
    pub(crate) fn limbs(&self) -> usize {
        self.bits() / 64
    }

    /// The layout of blocks of a ring.
    pub(crate) fn layout(&self, ring: Ring) -> DigitLayout {
        DigitLayout::new(self.plan, ring)
    }

    /// The transform of a number of at most n bits.
    pub(crate) fn transform(&self, number: &[u64], ring: Ring) -> Transformed {
        assert!(number.len() <= self.limbs(), "a number of the ring");
        with_scheme!(self.multiplier.scheme, scheme => product::transform(&scheme, number, &self.layout(ring)))
    }

    /// The low n bits of a sum of at most two products of numbers of at most n bits. The part above goes to
    /// `fold`, which may go on with the shares of the number before their last pass.
    pub(super) fn sum_of_products<T>(
        &self,
        terms: &[(&[u64], SecondFactor<'_>)],
        ring: Ring,
        fold: impl FnOnce(&mut Shares<'_>, i128) -> T,
    ) -> (Limbs, T) {
        assert!(
            terms.len() <= 2 && terms.iter().all(|(a, _)| a.len() <= self.limbs()),
            "numbers of the ring"
        );
        let mut out = limbs_with_room(self.limbs());
        let above = with_scheme!(self.multiplier.scheme, scheme => {
            product::sum_of_products(&scheme, terms, &self.layout(ring), &mut out, fold)
        });
        (out, above)
    }

    /// The sum modulo `2^n - 1`, below `2^n - 1`.
    pub(crate) fn cyclic(&self, terms: &[(&[u64], SecondFactor<'_>)]) -> Limbs {
        self.sum_of_products(terms, Ring::Cyclic, fold_minus).0
    }

    /// The sum modulo `2^n - 1` of at most two products of numbers that are already transformed for this
    /// ring. The sum is below `2^n - 1`.
    pub(crate) fn cyclic_of_transformed(&self, terms: &[(&Transformed, &Transformed)]) -> Limbs {
        assert!(terms.len() <= 2, "digits hold the sum of two products");
        let mut out = limbs_with_room(self.limbs());
        with_scheme!(self.multiplier.scheme, scheme => {
            product::sum_of_transformed(&scheme, terms, &self.layout(Ring::Cyclic), &mut out, fold_minus);
        });
        out
    }

    /// The sum modulo `2^n + 1`: its low n bits and bit n. If bit n is one, all low bits are zero.
    pub(crate) fn negacyclic(&self, terms: &[(&[u64], SecondFactor<'_>)]) -> (Limbs, u64) {
        self.sum_of_products(terms, Ring::Negacyclic, fold_plus)
    }

    /// Replaces `2^n - 1`, the second representation of zero modulo `2^n - 1`, by zero.
    pub(crate) fn normalize_zero(x: &mut [u64]) {
        let is_all_ones = mask::equal(x.iter().fold(u64::MAX, |all, limb| all & limb), u64::MAX);
        x.iter_mut().for_each(|limb| *limb &= !is_all_ones);
    }
}

/// Adds the part above n bits to the number, modulo `2^n - 1`. The sum is below `2^n - 1`.
pub(super) fn fold_minus(number: &mut Shares<'_>, above: i128) {
    // After a second carry the number is tiny, so the carry can be added without another carry.
    let again = number.add(above);
    number.add(again);
    // Only `2^n - 1`, the second representation of zero, has a carry here.
    let is_zero = number.add(1);
    number.add(is_zero - 1);
}

/// Subtracts the part above n bits from the number, modulo `2^n + 1`. Returns bit n of the difference.
pub(super) fn fold_plus(number: &mut Shares<'_>, above: i128) -> u64 {
    // 2^n is congruent to -1. The carry of the first subtraction is -1, 0 or 1. The carry of the second
    // leaves 2^n, as -1 or as itself.
    let again = number.add(-above);
    let last = number.add(-again);
    number.add(i128::from(last < 0));
    last as u64 & 1
}

impl Multiplier {
    /// Whether digits of this plan hold the sum of two products in either ring.
    fn holds(&self, plan: &DigitPlan) -> bool {
        let digits = plan.shape.points() * LANES;
        with_scheme!(self.scheme, scheme => scheme.ring_digit_bits(digits))
            .is_some_and(|bits| plan.digit_bits <= bits)
    }

    /// Bits of the longest digits of a ring.
    fn widest_digit(&self) -> u32 {
        with_scheme!(self.scheme, scheme => scheme.ring_digit_bits(LANES * UNIT))
            .expect("there are digits for short numbers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use num_bigint::BigUint;

    /// Numbers of n bits that wrap around in every way.
    fn hard(random: &mut Random, limbs: usize) -> Vec<Vec<u64>> {
        let (mut one, mut top) = (vec![0; limbs], vec![0; limbs]);
        (one[0], top[limbs - 1]) = (1, 1 << 63);
        let mut almost = vec![u64::MAX; limbs];
        almost[0] = u64::MAX - 1;
        vec![
            vec![0; limbs],
            one,
            top,
            vec![u64::MAX; limbs],
            almost,
            random.limbs(limbs),
            random.limbs(limbs / 2),
        ]
    }

    #[test]
    fn products_wrap_around() {
        let mut random = Random::new(41);
        for multiplier in Multiplier::detect(None) {
            for bits in [500, 4096, 12_288, 12_289, 20_480] {
                let rings = CyclicRings::at_least(multiplier, bits).unwrap();
                assert!(rings.bits() >= bits && rings.bits().is_multiple_of(64));
                let power = BigUint::from(1u8) << rings.bits();
                let (minus, plus) = (&power - 1u8, &power + 1u8);
                let numbers = hard(&mut random, rings.limbs());
                for a in &numbers {
                    let kept = (rings.transform(a, Ring::Cyclic), rings.transform(a, Ring::Negacyclic));
                    for b in &numbers {
                        let product = big(a) * big(b);
                        let sum = &product + big(b) * big(b);
                        let terms =
                            [(&b[..], SecondFactor::Transformed(&kept.0)), (&b[..], SecondFactor::Same)];
                        assert_eq!(big(&rings.cyclic(&terms)) % &minus, &sum % &minus, "{rings:?}");
                        assert_eq!(big(&rings.cyclic(&terms[..1])) % &minus, &product % &minus, "{rings:?}");
                        let check = |terms: &[(&[u64], SecondFactor<'_>)], expected: BigUint| {
                            let (low, top) = rings.negacyclic(terms);
                            assert_eq!(big(&low) + BigUint::from(top) * &power, expected, "{rings:?}");
                        };
                        let terms =
                            [(&b[..], SecondFactor::Transformed(&kept.1)), (&b[..], SecondFactor::Same)];
                        check(&terms, &sum % &plus);
                        check(&terms[..1], &product % &plus);
                        check(&[(a, SecondFactor::Number(b))], &product % &plus);
                    }
                }
            }
        }
    }

    #[test]
    fn a_limb_more_leaves_no_copy_behind() {
        for multiplier in Multiplier::detect(None) {
            let rings = CyclicRings::at_least(multiplier, 4096).unwrap();
            let one = [(&[1][..], SecondFactor::Same)];
            let transform = rings.transform(&[1], Ring::Cyclic);
            let products = [
                rings.cyclic(&one),
                rings.negacyclic(&one).0,
                rings.cyclic_of_transformed(&[(&transform, &transform)]),
            ];
            for mut product in products {
                let memory = product.as_ptr();
                product.push(0);
                assert_eq!(product.as_ptr(), memory);
            }
        }
    }

    #[test]
    fn rings_of_just_so_many_bits() {
        for multiplier in Multiplier::detect(None) {
            for bits in [1 << 14, 3 << 13, 5 << 14, 1 << 20] {
                assert_eq!(CyclicRings::exactly(multiplier, bits).map(|rings| rings.bits()), Some(bits));
            }
            assert!(CyclicRings::exactly(multiplier, (1 << 14) + 1).is_none());
        }
    }

    #[test]
    fn threads_share_carries_of_either_sign() {
        let [alone, pool] =
            [1, 3].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
        let mut random = Random::new(43);
        for multiplier in Multiplier::detect(None) {
            let rings = CyclicRings::at_least(multiplier, 64 * 34_000).unwrap();
            // Three shares, of which the second passes carries on.
            assert!(rings.limbs() > 2 << 14);
            let numbers = hard(&mut random, rings.limbs());
            // -1 times 1, 2^k times 2^k, -1 times -1, and random numbers.
            for (a, b) in [(4, 1), (2, 2), (3, 3), (5, 5), (0, 5)] {
                let terms = [(&numbers[a][..], SecondFactor::Number(&numbers[b]))];
                let compute = || (rings.cyclic(&terms), rings.negacyclic(&terms));
                assert!(pool.install(compute) == alone.install(compute));
            }
        }
    }
}
