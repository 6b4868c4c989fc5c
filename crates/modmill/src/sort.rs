//! Sorting the items of a call into what backends can compute together.

use modmill_core::{KERNEL_MAX_BITS, Moduli, limbs};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The items of a call by the kind of their modulus. Parity and length of a modulus are public.
#[derive(Default)]
pub(crate) struct Sorted {
    /// Items whose modulus is zero: errors.
    pub(crate) zero: Vec<usize>,
    /// Items whose modulus is odd and at least 3, or too long for all but transforms, by the limbs it
    /// needs: transforms take even moduli as they are.
    pub(crate) odd: BTreeMap<usize, Group>,
    /// Items whose modulus is even, but those.
    pub(crate) even: Vec<usize>,
}

/// Items whose moduli are of about one size.
pub(crate) struct Group {
    pub(crate) items: Vec<usize>,
    /// Length of the longest modulus, in bits.
    pub(crate) bits: usize,
    /// Length of the shortest modulus, in bits.
    pub(crate) shortest_bits: usize,
}

impl Default for Group {
    fn default() -> Self {
        Self { items: Vec::new(), bits: 0, shortest_bits: usize::MAX }
    }
}

impl Sorted {
    /// The group that all items of a call are in, if there is one.
    pub(crate) fn all_of(&self, count: usize) -> Option<&Group> {
        self.odd.values().next().filter(|group| group.items.len() == count)
    }

    /// Adds an item. One modulo 1 appears nowhere: its answer is zero.
    fn add(&mut self, item: usize, modulus: &[u64]) {
        let bits = limbs::bit_length(modulus);
        match limbs::trailing_zeros(modulus) {
            None => self.zero.push(item),
            Some(zeros) if bits > KERNEL_MAX_BITS || zeros == 0 && bits > 1 => {
                let group = self.odd.entry(bits.div_ceil(64)).or_default();
                group.items.push(item);
                group.bits = group.bits.max(bits);
                group.shortest_bits = group.shortest_bits.min(bits);
            }
            Some(0) => {}
            Some(_) => self.even.push(item),
        }
    }

    /// These items, and then those of another.
    fn and(mut self, mut after: Self) -> Self {
        self.zero.append(&mut after.zero);
        self.even.append(&mut after.even);
        for (limbs, mut more) in after.odd {
            let group = self.odd.entry(limbs).or_default();
            group.items.append(&mut more.items);
            group.bits = group.bits.max(more.bits);
            group.shortest_bits = group.shortest_bits.min(more.shortest_bits);
        }
        self
    }
}

/// Items that one thread sorts at least.
pub(crate) const GRAIN: usize = 1 << 14;

/// Sorts items by their modulus, each list in the order of the items. A GPU waits for this, so that all threads of the
/// current pool look at the moduli of a large batch.
pub(crate) fn sort(moduli: Moduli<'_>, items: impl IndexedParallelIterator<Item = usize>) -> Sorted {
    let add = |mut sorted: Sorted, item| {
        sorted.add(item, moduli.get(item));
        sorted
    };
    items.with_min_len(GRAIN).fold(Sorted::default, add).reduce(Sorted::default, Sorted::and)
}
