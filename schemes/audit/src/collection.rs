//! Keys and the names that they go by.

use crate::EntryError;
use modmill::number;
use std::collections::HashSet;

/// A public key: its modulus and, where it is known, its public exponent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The modulus without leading zero limbs, the least significant limb first.
    modulus: Box<[u64]>,
    /// The public exponent; empty if it is not known.
    exponent: Box<[u64]>,
}

impl Key {
    /// The length of the longest modulus that is audited, in bits.
    pub const MAX_BITS: usize = 1 << 16;

    /// A key from the big-endian bytes of its modulus and its public exponent. An exponent that is not known
    /// is empty.
    ///
    /// ```
    /// use modmill_audit::{EntryError, Key};
    ///
    /// assert_eq!(Key::new(&[0, 0, 15], &[3])?.modulus(), [15]);
    /// assert_eq!(Key::new(&[0], &[]), Err(EntryError::Trivial(0)));
    /// # Ok::<(), EntryError>(())
    /// ```
    pub fn new(modulus: &[u8], exponent: &[u8]) -> Result<Self, EntryError> {
        let modulus = number::from_be_bytes(modulus);
        let bits = number::bit_length(&modulus);
        if bits < 2 {
            return Err(EntryError::Trivial(bits as u64));
        }
        if bits > Self::MAX_BITS {
            return Err(EntryError::TooLong { bits, limit: Self::MAX_BITS });
        }
        let exponent = number::from_be_bytes(exponent);
        Ok(Self { modulus: modulus[..].into(), exponent: exponent[..].into() })
    }

    /// The modulus, the least significant limb first. Its last limb is not zero.
    #[must_use]
    pub fn modulus(&self) -> &[u64] {
        &self.modulus
    }

    /// The public exponent; empty if it is not known.
    #[must_use]
    pub fn exponent(&self) -> &[u64] {
        &self.exponent
    }
}

/// Keys with a name each. A key may have several names, and several keys may have one name.
///
/// ```
/// use modmill_audit::{Collection, Key};
///
/// let key = |modulus: u8| Key::new(&[modulus], &[]);
/// let named = [("a".to_owned(), key(15)?), ("b".to_owned(), key(35)?), ("c".to_owned(), key(15)?)];
/// let collection = Collection::new(named);
/// assert_eq!(collection.keys().len(), 2);
/// assert_eq!(collection.ids(0).collect::<Vec<_>>(), ["a", "c"]);
/// # Ok::<(), modmill_audit::EntryError>(())
/// ```
#[derive(Debug, Default)]
pub struct Collection {
    /// Keys with different moduli, in the order in which they came first.
    keys: Vec<Key>,
    ids: Vec<Box<str>>,
    /// The indices of the names of each key, in order: those of key i begin at `starts[i]`.
    order: Vec<u32>,
    starts: Vec<usize>,
}

impl Collection {
    /// A collection of named keys. A name that a key has twice counts once.
    #[must_use]
    pub fn new(named: impl IntoIterator<Item = (String, Key)>) -> Self {
        let (ids, all): (Vec<Box<str>>, Vec<Key>) =
            named.into_iter().map(|(id, key)| (id.into_boxed_str(), key)).unzip();
        let modulus = |index: &u32| all[*index as usize].modulus();
        let mut order: Vec<u32> = (0..all.len() as u32).collect();
        // The first of equal moduli comes first.
        order.sort_by(|a, b| modulus(a).cmp(modulus(b)).then(a.cmp(b)));
        let mut groups: Vec<&[u32]> = order.chunk_by(|a, b| modulus(a) == modulus(b)).collect();
        groups.sort_by_key(|group| group[0]);
        let (mut ordered, mut starts) = (Vec::with_capacity(all.len()), Vec::with_capacity(groups.len()));
        let mut is_first = vec![false; all.len()];
        for group in groups {
            starts.push(ordered.len());
            is_first[group[0] as usize] = true;
            match group {
                [one] => ordered.push(*one),
                many => {
                    let mut seen = HashSet::new();
                    ordered.extend(many.iter().filter(|&&index| seen.insert(&ids[index as usize])));
                }
            }
        }
        let keys = all.into_iter().zip(is_first).filter_map(|(key, is_first)| is_first.then_some(key));
        Self { keys: keys.collect(), ids, order: ordered, starts }
    }

    /// The keys, no two of which have the same modulus.
    #[must_use]
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The names of a key.
    pub fn ids(&self, key: usize) -> impl ExactSizeIterator<Item = &str> {
        let end = self.starts.get(key + 1).copied().unwrap_or(self.order.len());
        self.order[self.starts[key]..end].iter().map(|&id| &*self.ids[id as usize])
    }
}
