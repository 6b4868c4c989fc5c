//! Multiples of points that have no table.

use super::digits::{Digit, Digits, ENTRIES, WIDTH};
use super::{Coordinates, Group};
use crate::field::Field;
use modmill_core::mask;
use zeroize::Zeroizing;

/// The width of digits in sums of many multiples.
const SUM_WIDTH: usize = 5;

/// The multiples `P, 2 P, .., ENTRIES P`.
fn short_table<G: Group>(point: &G::Point) -> [G::Cached; ENTRIES] {
    let first = G::cache(point);
    let (mut multiple, mut table) = (*point, [first; ENTRIES]);
    for entry in &mut table[1..] {
        multiple = G::add(&multiple, &first);
        *entry = G::cache(&multiple);
    }
    table
}

/// The number of digits of a scalar.
const fn places<G: Group>() -> usize {
    Digits::<<G::Scalar as Field>::Integer>::places(<G::Scalar as Field>::BITS, WIDTH)
}

/// The multiple by a secret scalar. Every entry of the table is read at every place. The multiples of a
/// secret scalar are secret until they are published, so the caller clears the answer.
pub(crate) fn multiple<G: Group>(point: &G::Point, scalar: G::Scalar) -> G::Point {
    let table = short_table::<G>(point);
    let digits = Digits::new(scalar.integer(), WIDTH);
    let mut sum = Zeroizing::new(G::identity());
    for place in (0..places::<G>()).rev() {
        for _ in 0..WIDTH {
            *sum = G::double(&sum);
        }
        let Digit { magnitude, negative } = digits.get(place);
        let mut entry = G::Cached::ZEROS;
        for (index, other) in table.iter().enumerate() {
            entry.or_masked(mask::equal(magnitude, index as u64 + 1), other);
        }
        let entry = G::Cached::select(mask::from_bit(negative & 1), &G::negate_cached(&entry), &entry);
        let next = G::add(&sum, &entry);
        *sum = G::Point::select(mask::equal(magnitude, 0), &sum, &next);
    }
    *sum
}

/// The sum of the multiples of a few public points by public scalars, whose doublings are shared.
pub(crate) fn multiples_vartime<G: Group, const N: usize>(pairs: [(G::Point, G::Scalar); N]) -> G::Point {
    let pairs = pairs.map(|(point, scalar)| (short_table::<G>(&point), Digits::new(scalar.integer(), WIDTH)));
    (0..places::<G>()).rev().fold(G::identity(), |sum, place| {
        let sum = (0..WIDTH).fold(sum, |sum, _| G::double(&sum));
        pairs.iter().fold(sum, |sum, (table, digits)| match digits.get(place) {
            Digit { magnitude: 0, .. } => sum,
            Digit { magnitude, negative: 0 } => G::add(&sum, &table[magnitude as usize - 1]),
            Digit { magnitude, .. } => G::add(&sum, &G::negate_cached(&table[magnitude as usize - 1])),
        })
    })
}

/// `sum_i z_i P_i` for public multipliers of 32 bits and public points: the points with the same digit at a
/// place are added up first (Pippenger's method).
pub(crate) fn sum_of_multiples_vartime<G: Group>(entries: &[G::Entry], multipliers: &[u32]) -> G::Point {
    const BUCKETS: usize = 1 << (SUM_WIDTH - 1);
    let digits: Vec<_> =
        multipliers.iter().map(|&multiplier| Digits::new([u64::from(multiplier)], SUM_WIDTH)).collect();
    (0..Digits::<[u64; 1]>::places(32, SUM_WIDTH)).rev().fold(G::identity(), |total, place| {
        let mut total = (0..SUM_WIDTH).fold(total, |total, _| G::double(&total));
        let mut buckets = [G::identity(); BUCKETS];
        for (entry, digits) in entries.iter().zip(&digits) {
            let Digit { magnitude, negative } = digits.get(place);
            if magnitude > 0 {
                let entry = if negative == 0 { *entry } else { G::negate_entry(entry) };
                let bucket = &mut buckets[magnitude as usize - 1];
                *bucket = G::add_entry(bucket, &entry);
            }
        }
        // The sum of all buckets from `d` on, for each d, counts bucket d as often as its digit says.
        let mut upper = G::identity();
        for bucket in buckets.iter().rev() {
            upper = G::add(&upper, &G::cache(bucket));
            total = G::add(&total, &G::cache(&upper));
        }
        total
    })
}
