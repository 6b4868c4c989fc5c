//! Sorting the items of a call into what backends can compute together.

use modmill_core::{MAX_BITS, Moduli, limbs};
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
#[derive(Default)]
pub(crate) struct Group {
    pub(crate) items: Vec<usize>,
    /// Length of the longest modulus.
    pub(crate) bits: usize,
}

impl Sorted {
    /// The group that all items of a call are in, if there is one.
    pub(crate) fn all_of(&self, count: usize) -> Option<&Group> {
        self.odd.values().next().filter(|group| group.items.len() == count)
    }
}

/// Sorts items by their modulus. Items modulo 1 appear nowhere: their answer is zero.
pub(crate) fn sort(moduli: Moduli<'_>, items: impl Iterator<Item = usize>) -> Sorted {
    let items: Vec<usize> = items.collect();
    // Looking at all moduli takes as long as reading them from memory.
    let length = |&item: &usize| {
        let modulus = moduli.get(item);
        (limbs::trailing_zeros(modulus), limbs::bit_length(modulus))
    };
    let lengths: Vec<_> = items.par_iter().with_min_len(4096).map(length).collect();
    let mut sorted = Sorted::default();
    for (item, length) in items.into_iter().zip(lengths) {
        match length {
            (None, _) => sorted.zero.push(item),
            (Some(zeros), bits) if bits > MAX_BITS || zeros == 0 && bits > 1 => {
                let group = sorted.odd.entry(bits.div_ceil(64)).or_default();
                group.items.push(item);
                group.bits = group.bits.max(bits);
            }
            (Some(0), _) => {}
            (Some(_), _) => sorted.even.push(item),
        }
    }
    sorted
}
