//! Tables of multiples of one point: a multiple is a sum of entries, without doublings.

use super::digits::{Digit, Digits, ENTRIES, WIDTH};
use super::{Coordinates, Group};
use crate::field::Field;
use modmill_core::mask;
use zeroize::Zeroizing;

/// The multiples `d 2^(WIDTH i) P` for all places `i` and `1 <= d <= ENTRIES`.
pub(crate) struct Table<G: Group> {
    entries: Vec<G::Entry>,
}

impl<G: Group> Table<G> {
    const PLACES: usize = Digits::<<G::Scalar as Field>::Integer>::places(<G::Scalar as Field>::BITS, WIDTH);

    /// The table of a public point, on a curve in Weierstrass's form of one that is not the identity: no
    /// entry is the identity then, which has no affine coordinates, because the order is prime.
    pub(crate) fn new(point: &G::Point) -> Self {
        let mut points = Vec::with_capacity(Self::PLACES * ENTRIES);
        let mut base = *point;
        for _ in 0..Self::PLACES {
            let cached = G::cache(&base);
            let mut multiple = base;
            points.push(multiple);
            for _ in 1..ENTRIES {
                multiple = G::add(&multiple, &cached);
                points.push(multiple);
            }
            // 2^(WIDTH - 1) P is the last of them.
            base = G::double(&multiple);
        }
        Self { entries: G::entries(&points) }
    }

    /// The multiple by a secret scalar. Every entry of every place is read. The caller clears
    /// the answer.
    pub(crate) fn multiple(&self, scalar: G::Scalar) -> G::Point {
        let digits = Digits::new(scalar.integer(), WIDTH);
        let mut sum = Zeroizing::new(G::identity());
        for (place, entries) in self.entries.chunks_exact(ENTRIES).enumerate() {
            let Digit { magnitude, negative } = digits.get(place);
            let mut entry = G::Entry::ZEROS;
            for (index, other) in entries.iter().enumerate() {
                entry.or_masked(mask::equal(magnitude, index as u64 + 1), other);
            }
            let entry = G::Entry::select(mask::from_bit(negative & 1), &G::negate_entry(&entry), &entry);
            // The digit zero reads zeros, which are no point: their sum is dropped.
            let next = G::add_entry(&sum, &entry);
            *sum = G::Point::select(mask::equal(magnitude, 0), &sum, &next);
        }
        *sum
    }

    /// `sum` and the multiple by a public scalar.
    pub(crate) fn add_multiple_vartime(&self, sum: G::Point, scalar: G::Scalar) -> G::Point {
        let digits = Digits::new(scalar.integer(), WIDTH);
        let places = self.entries.chunks_exact(ENTRIES).enumerate();
        places.fold(sum, |sum, (place, entries)| match digits.get(place) {
            Digit { magnitude: 0, .. } => sum,
            Digit { magnitude, negative: 0 } => G::add_entry(&sum, &entries[magnitude as usize - 1]),
            Digit { magnitude, .. } => G::add_entry(&sum, &G::negate_entry(&entries[magnitude as usize - 1])),
        })
    }
}

#[cfg(test)]
impl<G: Group> Table<G> {
    /// Changes an entry, as a fault of the memory would.
    pub(crate) fn disturb(&mut self, index: usize, change: impl FnOnce(G::Entry) -> G::Entry) {
        self.entries[index] = change(self.entries[index]);
    }
}
