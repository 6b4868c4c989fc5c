//! Products of the nodes of a tree, which share transforms: of a number by two factors, and of two pairs of
//! factors whose products are added.

use super::batch::{TEAM_BITS, led};
use super::cyclic::CyclicRings;
use super::multiplier::Multiplier;
use crate::fft::product::SecondFactor;
use crate::fft::shape::Ring;
use crate::team::Workers;
use crate::threads::Share;
use modmill_core::BatchView;
use rayon::prelude::*;

fn limbs(numbers: BatchView<'_>) -> usize {
    numbers.bits().div_ceil(64)
}

/// The rings of at least `least` limbs, if transforms are faster for factors of `shortest` limbs and there
/// are digits.
fn rings(multiplier: Multiplier, shortest: usize, least: usize) -> Option<CyclicRings> {
    (shortest >= multiplier.threshold()).then(|| CyclicRings::at_least(multiplier, 64 * least)).flatten()
}

/// Fills the rows of `answers` with the limbs below limb `end` of the products of numbers by two factors
/// each. Returns whether there is a ring for their length; otherwise nothing is filled.
///
/// A product is computed in a ring modulo `2^s - 1`: its limbs from s on are added to the lowest ones. They
/// end below the row, which is too large by one unit of its last place if a carry enters it. The limbs from
/// `end` on are dropped, so that a row that overflows is zero.
pub(crate) fn middle_products(
    workers: &Workers,
    multiplier: Multiplier,
    numbers: BatchView<'_>,
    factors: [BatchView<'_>; 2],
    end: usize,
    [left, right]: [&mut [u64]; 2],
) -> bool {
    let (count, width) = (numbers.len(), limbs(factors[0]));
    let stride = left.len() / count;
    // A product of `end + width` limbs wraps around to limb `end + width - s`, where the row may begin.
    let least = limbs(numbers).max(width + stride);
    if stride > end || end > limbs(numbers) {
        return false;
    }
    let Some(rings) = rings(multiplier, width, least) else { return false };
    let item = |item: usize, rows: [&mut [u64]; 2]| {
        let number = rings.transform(numbers.get(item), Ring::Cyclic);
        for (factor, row) in factors.iter().zip(rows) {
            let factor = rings.transform(factor.get(item), Ring::Cyclic);
            let product = rings.cyclic_of_transformed(&[(&number, &factor)]);
            row.copy_from_slice(&product[end - stride..end]);
        }
    };
    let rows = left.par_chunks_exact_mut(stride).zip(right.par_chunks_exact_mut(stride)).enumerate();
    workers.install(|| {
        rows.each(|(index, (left, right))| {
            led(workers, count, rings.bits() >= 2 * TEAM_BITS, || item(index, [left, right]));
        });
    });
    true
}

/// Fills the rows of `answers` with sums `a b + c d`, which fit them. Returns whether there is a ring for
/// their length; otherwise nothing is filled.
pub(crate) fn sums_of_two_products(
    workers: &Workers,
    multiplier: Multiplier,
    [a, b]: [BatchView<'_>; 2],
    [c, d]: [BatchView<'_>; 2],
    answers: &mut [u64],
) -> bool {
    let count = a.len();
    let stride = answers.len() / count;
    let longest = limbs(a).max(limbs(c)) + limbs(b).max(limbs(d));
    let shortest = limbs(a).min(limbs(b));
    let Some(rings) = rings(multiplier, shortest, longest.max(stride)) else { return false };
    workers.install(|| {
        answers.par_chunks_exact_mut(stride).enumerate().each(|(item, row)| {
            led(workers, count, rings.bits() >= 2 * TEAM_BITS, || {
                // A sum of two products has a bit more than a product, and is below `2^s - 1`.
                let terms = [(a, b), (c, d)].map(|(a, b)| (a.get(item), SecondFactor::Number(b.get(item))));
                row.copy_from_slice(&rings.cyclic(&terms)[..stride]);
            });
        });
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use modmill_core::Batch;
    use num_bigint::BigUint;

    /// Numbers of `limbs` limbs: random ones, and those whose products carry and wrap around the most.
    fn hard(random: &mut Random, limbs: usize) -> Batch {
        let mut top = vec![0; limbs];
        top[limbs - 1] = 1 << 63;
        Batch::from_values([random.limbs(limbs), vec![u64::MAX; limbs], top, random.limbs(limbs)])
    }

    #[test]
    fn middle_products_are_right_but_for_a_unit_of_their_last_place() {
        let (workers, mut random) = (Workers::default(), Random::new(51));
        for multiplier in Multiplier::detect(None) {
            let width = multiplier.threshold() + 3;
            // The fraction of a parent of two children, and of one that is longer.
            for end in [2 * width + 1, 3 * width + 2] {
                let stride = width + 1;
                let numbers = hard(&mut random, end);
                let factors = [hard(&mut random, width), hard(&mut random, width)];
                let mut rows = [vec![0; 4 * stride], vec![0; 4 * stride]];
                let [left, right] = &mut rows;
                let views = factors.each_ref().map(Batch::view);
                let answers = [&mut left[..], &mut right[..]];
                assert!(middle_products(&workers, multiplier, numbers.view(), views, end, answers));
                for (factor, rows) in factors.iter().zip(&rows) {
                    for (item, row) in rows.chunks_exact(stride).enumerate() {
                        let product = big(numbers.get(item)) * big(factor.get(item));
                        let modulus = BigUint::from(1u8) << (64 * stride);
                        let exact = (product >> (64 * (end - stride))) % &modulus;
                        let excess = (big(row) + &modulus - exact) % &modulus;
                        assert!(excess <= BigUint::from(1u8), "{multiplier:?}, item {item}: {excess}");
                    }
                }
            }
            let short = [hard(&mut random, 9), hard(&mut random, 9)];
            let views = short.each_ref().map(Batch::view);
            let mut rows = [vec![0; 40], vec![0; 40]];
            let [left, right] = &mut rows;
            let numbers = hard(&mut random, 19);
            assert!(!middle_products(&workers, multiplier, numbers.view(), views, 19, [left, right]));
        }
    }

    #[test]
    fn sums_of_two_products_are_right() {
        let (workers, mut random) = (Workers::default(), Random::new(52));
        for multiplier in Multiplier::detect(None) {
            let width = multiplier.threshold() + 3;
            let [a, c] = [0; 2].map(|_| hard(&mut random, width + 1));
            let [b, d] = [0; 2].map(|_| hard(&mut random, width));
            let stride = 2 * width + 2;
            let mut rows = vec![0; 4 * stride];
            let pairs = ([a.view(), b.view()], [c.view(), d.view()]);
            assert!(sums_of_two_products(&workers, multiplier, pairs.0, pairs.1, &mut rows));
            for (item, row) in rows.chunks_exact(stride).enumerate() {
                let sum = big(a.get(item)) * big(b.get(item)) + big(c.get(item)) * big(d.get(item));
                assert_eq!(big(row), sum, "{multiplier:?}, item {item}");
            }
        }
    }
}
