//! Batches: many numbers of one width, one after the other in memory.

mod new;

use crate::storage::Storage;
use crate::{hex, limbs};
use std::fmt;
use std::ops::Range;
use std::thread;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Many non-negative integers of one declared width, stored contiguously in little-endian 64-bit limbs.
///
/// The width is a public bound on every item. Constant-time operations take as long as the width
/// says, whatever the values. Memory is zeroized on drop, because a batch may hold secrets.
///
/// # Examples
///
/// ```
/// use modmill_core::Batch;
///
/// // The longest text has four digits, so the width is 16 bits.
/// let batch = Batch::from_hex(["1", "0x00ff", "abc"])?;
/// assert_eq!((batch.bits(), batch.len()), (16, 3));
/// assert_eq!(batch.to_hex(1), "ff");
/// assert_eq!(batch.to_be_bytes(2), [0x0a, 0xbc]);
/// # Ok::<(), modmill_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Batch {
    bits: usize,
    len: usize,
    limbs: Storage,
}

/// The least number of limbs that is worth a thread of its own for clearing.
const CLEARED_AT_ONCE: usize = 1 << 18;

/// Zeroizes `limbs`. Several threads share long slices, because a GPU answers faster than one thread writes.
fn clear(limbs: &mut [u64]) {
    // Asking for the number of cores reads files, which takes longer than clearing a short batch.
    if limbs.len() <= CLEARED_AT_ONCE {
        return limbs::clear(limbs);
    }
    // A thread that finds no free core would be waited for.
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores - cores / 4;
    let share = limbs.len().div_ceil(threads).max(CLEARED_AT_ONCE);
    let started = thread::scope(|scope| {
        let mut parts = limbs.chunks_mut(share);
        let own = parts.next();
        let started =
            parts.all(|part| thread::Builder::new().spawn_scoped(scope, || limbs::clear(part)).is_ok());
        own.into_iter().for_each(limbs::clear);
        started
    });
    if !started {
        limbs::clear(limbs);
    }
}

impl Zeroize for Batch {
    fn zeroize(&mut self) {
        clear(&mut self.limbs);
        self.limbs.release();
        (self.bits, self.len) = (0, 0);
    }
}

impl ZeroizeOnDrop for Batch {}

impl Drop for Batch {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl Batch {
    /// Declared width of every item, in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The number of limbs of each item.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.bits.div_ceil(64)
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the batch has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The limbs of all items, one item after the other.
    #[must_use]
    pub fn as_limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// The limbs of all items, one item after the other, for writing.
    ///
    /// The caller must not write a value beyond the declared width. Operations then answer for some
    /// other number, but stay in bounds.
    pub fn as_limbs_mut(&mut self) -> &mut [u64] {
        &mut self.limbs
    }

    /// The limbs of item `index`.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    #[must_use]
    pub fn get(&self, index: usize) -> &[u64] {
        self.view().get(index)
    }

    /// The limbs of item `index`, for writing.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    pub fn get_mut(&mut self, index: usize) -> &mut [u64] {
        let stride = self.stride();
        &mut self.limbs[index * stride..][..stride]
    }

    /// The items in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.view().iter()
    }

    /// A view of the whole batch.
    #[must_use]
    pub fn view(&self) -> BatchView<'_> {
        BatchView { bits: self.bits, len: self.len, limbs: &self.limbs }
    }

    /// A view of the items in `range`.
    ///
    /// # Panics
    /// If there are no such items, as indexing does.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> BatchView<'_> {
        self.view().slice(range)
    }

    /// Item `index` as a big-endian octet string (I2OSP of RFC 8017). Its length follows from the width.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    #[must_use]
    pub fn to_be_bytes(&self, index: usize) -> Vec<u8> {
        limbs::to_be_bytes(self.get(index), self.bits.div_ceil(8))
    }

    /// Item `index` in lower-case hexadecimal without leading zeros.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    #[must_use]
    pub fn to_hex(&self, index: usize) -> String {
        hex::format(self.get(index))
    }
}

impl fmt::Debug for Batch {
    /// Shows the shape and never the values, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({} x {} bits)", self.len, self.bits)
    }
}

/// A borrowed range of consecutive items of a batch.
#[derive(Clone, Copy)]
pub struct BatchView<'a> {
    bits: usize,
    len: usize,
    limbs: &'a [u64],
}

impl<'a> BatchView<'a> {
    /// The limbs of all items, one item after the other.
    #[must_use]
    pub fn as_limbs(&self) -> &'a [u64] {
        self.limbs
    }

    /// Declared width of every item, in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the batch has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The limbs of item `index`.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> &'a [u64] {
        let stride = self.bits.div_ceil(64);
        &self.limbs[index * stride..][..stride]
    }

    /// The items in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [u64]> + use<'a> {
        let view = *self;
        (0..view.len).map(move |index| view.get(index))
    }

    /// A view of the items in `range`.
    ///
    /// # Panics
    /// If there are no such items, as indexing does.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let stride = self.bits.div_ceil(64);
        Self {
            bits: self.bits,
            len: range.len(),
            limbs: &self.limbs[range.start * stride..range.end * stride],
        }
    }
}

impl<'a> From<&'a Batch> for BatchView<'a> {
    fn from(batch: &'a Batch) -> Self {
        batch.view()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limb_is_cleared_however_many() {
        for len in [0, 1, CLEARED_AT_ONCE, CLEARED_AT_ONCE + 1, 3 * CLEARED_AT_ONCE + 5] {
            let mut limbs = vec![u64::MAX; len];
            clear(&mut limbs);
            assert!(limbs.iter().all(|&limb| limb == 0), "{len}");
        }
    }

    #[test]
    fn views_show_the_items_they_name() {
        let batch = Batch::from_values((0..10u64).map(|i| [i]));
        let part = batch.slice(3..6);
        assert_eq!(part.iter().map(|item| item[0]).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(format!("{batch:?}"), "Batch(10 x 4 bits)");
        let longer = Batch::from_values([[1u64, 1]]).followed_by(part);
        assert_eq!(longer.as_limbs(), [1, 1, 3, 0, 4, 0, 5, 0]);
    }
}
