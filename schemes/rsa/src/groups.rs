//! The groups of a call: items whose moduli have the same length.

use crate::keys::{Key, Keys};
use modmill::Engine;
use std::collections::BTreeMap;

/// Items of a call that are computed together.
pub(crate) enum Items {
    /// Every item of a call with this many items.
    All(usize),
    /// The items with these indices, in rising order.
    Some(Vec<usize>),
}

impl Items {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Some(items) => items.len(),
        }
    }

    /// The index in the call of the item at `position`.
    pub(crate) fn get(&self, position: usize) -> usize {
        match self {
            Self::All(_) => position,
            Self::Some(items) => items[position],
        }
    }
}

/// Groups items by the length of their moduli in bits. All exponents of a batch are as long as its longest,
/// so that short keys would cost as much as the longest key of their batch. The shortest come first.
pub(crate) fn by_length<K: Key>(engine: &Engine, keys: Keys<'_, K>, count: usize) -> Vec<(usize, Items)> {
    if count == 0 {
        return Vec::new();
    }
    let bits = keys.get(0).public().bits();
    if keys.all(engine, |key| key.public().bits() == bits) {
        return vec![(bits, Items::All(count))];
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for item in 0..count {
        groups.entry(keys.get(item).public().bits()).or_default().push(item);
    }
    groups.into_iter().map(|(bits, items)| (bits, Items::Some(items))).collect()
}
