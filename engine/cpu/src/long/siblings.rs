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
/// A product is computed in a ring modulo `2^s - 1`, so that its limbs from s on are added to the lowest ones.
/// They end below the row, which is too large by one unit of its last place if a carry enters it. The limbs
/// from `end` on are dropped, so that a row that overflows is zero.
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
