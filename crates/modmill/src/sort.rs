//! Sorting the items of a call into what backends can compute together.

use modmill_core::{Moduli, limbs};
use std::collections::BTreeMap;

/// The items of a call by the kind of their modulus. Parity and length of a modulus are public.
#[derive(Default)]
pub(crate) struct Sorted {
    /// Items whose modulus is zero: errors.
    pub(crate) zero: Vec<usize>,
    /// Items whose modulus is odd and at least 3, by the limbs it needs.
    pub(crate) odd: BTreeMap<usize, Group>,
    /// Items whose modulus is even.
    pub(crate) even: Vec<usize>,
}

/// Items whose moduli are of about one size.
#[derive(Default)]
pub(crate) struct Group {
    pub(crate) items: Vec<usize>,
    /// Length of the longest modulus.
    pub(crate) bits: usize,
}

/// Sorts items by their modulus. Items modulo 1 appear nowhere: their answer is zero.
pub(crate) fn sort(moduli: Moduli<'_>, items: impl Iterator<Item = usize>) -> Sorted {
    let mut sorted = Sorted::default();
    for item in items {
        let modulus = moduli.get(item);
        match limbs::trailing_zeros(modulus) {
            None => sorted.zero.push(item),
            Some(0) => {
                let bits = limbs::bit_length(modulus);
                if bits > 1 {
                    let group = sorted.odd.entry(bits.div_ceil(64)).or_default();
                    group.items.push(item);
                    group.bits = group.bits.max(bits);
                }
            }
            Some(_) => sorted.even.push(item),
        }
    }
    sorted
}
