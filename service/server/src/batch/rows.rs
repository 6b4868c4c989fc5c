//! Signatures of one call side by side.

use modmill_gather::Part;
use modmill_rsa::ItemError;

/// The signature or the error of every digest of a call, in order.
pub struct Rows {
    /// Parts with the number of their first item, in order.
    parts: Vec<(usize, Part)>,
}

impl Rows {
    pub(super) fn new(parts: Vec<(usize, Part)>) -> Self {
        Self { parts }
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.last().map_or(0, |(first, part)| first + part.len())
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The signature or the error of an item.
    ///
    /// # Panics
    /// If there are not that many items.
    pub fn get(&self, item: usize) -> Result<&[u8], &ItemError> {
        let after = self.parts.partition_point(|(first, _)| *first <= item);
        let (first, part) = &self.parts[after - 1];
        part.get(item - first)
    }

    /// The signatures or the errors of all items in order.
    pub fn iter(&self) -> impl Iterator<Item = Result<&[u8], &ItemError>> {
        self.parts.iter().flat_map(|(_, part)| (0..part.len()).map(|item| part.get(item)))
    }
}
