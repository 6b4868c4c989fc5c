//! Batches: many numbers of one width, one after the other in memory.

use crate::storage::{LimbMemory, Storage};
use crate::{Error, Operand, hex, limbs};
use std::fmt;
use std::ops::Range;
use std::thread;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

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
    /// A batch of `len` zeros with a width of `bits` bits.
    ///
    /// # Panics
    /// If memory runs out. [`Batch::try_zeros`] is for sizes that come from elsewhere.
    #[must_use]
    pub fn zeros(bits: usize, len: usize) -> Self {
        Self::try_zeros(bits, len).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A batch of `len` zeros with a width of `bits` bits, or [`Error::OutOfMemory`].
    ///
    /// ```
    /// use modmill_core::{Batch, Error};
    ///
    /// assert_eq!(Batch::try_zeros(64, 3)?, Batch::zeros(64, 3));
    /// assert!(matches!(Batch::try_zeros(1 << 34, 1 << 34), Err(Error::OutOfMemory { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn try_zeros(bits: usize, len: usize) -> Result<Self, Error> {
        let limbs = len.checked_mul(bits.div_ceil(64)).ok_or_else(|| Error::no_memory(usize::MAX))?;
        Ok(Self { bits, len, limbs: Storage::try_zeros(limbs)? })
    }

    /// A batch of `len` zeros with a width of `bits` bits in memory that something else manages.
    ///
    /// It is an error if `memory` holds another number of limbs than the batch needs.
    pub fn zeros_in(bits: usize, len: usize, memory: Box<dyn LimbMemory>) -> Result<Self, Error> {
        let needed = len * bits.div_ceil(64);
        let limbs = memory.limbs().len();
        if limbs != needed {
            return Err(Error::RaggedLimbs { limbs, bits });
        }
        let mut batch = Self { bits, len, limbs: Storage::Foreign(memory) };
        clear(&mut batch.limbs);
        Ok(batch)
    }

    /// A batch from `limbs` as they are stored: `bits.div_ceil(64)` limbs for each item.
    ///
    /// It is an error if `limbs` does not hold a whole number of items or an item exceeds `bits` bits.
    pub fn from_limbs(bits: usize, limbs: Vec<u64>) -> Result<Self, Error> {
        let stride = bits.div_ceil(64);
        if stride == 0 || !limbs.len().is_multiple_of(stride) {
            return Err(Error::RaggedLimbs { limbs: limbs.len(), bits });
        }
        let batch = Self { bits, len: limbs.len() / stride, limbs: Storage::Own(limbs) };
        let misfit = batch.iter().position(|item| limbs::bit_length(item) > bits);
        match misfit {
            Some(index) => Err(Error::DoesNotFit { index, bits }),
            None => Ok(batch),
        }
    }

    /// A batch from numbers that are slices of limbs, each of any length. The width is the bit length of
    /// the largest value, so it is public; widen with [`Batch::with_bits`] where it must not be.
    #[must_use]
    pub fn from_values<I>(values: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<[u64]>,
    {
        let values: Vec<I::Item> = values.into_iter().collect();
        let bits = values.iter().map(|v| limbs::bit_length(v.as_ref())).max().unwrap_or(0);
        let mut batch = Self::zeros(bits.max(1), values.len());
        for (index, value) in values.iter().enumerate() {
            let item = batch.get_mut(index);
            let used = item.len().min(value.as_ref().len());
            item[..used].copy_from_slice(&value.as_ref()[..used]);
        }
        batch
    }

    /// A batch from big-endian octet strings (OS2IP of RFC 8017). The width is the length of the longest
    /// string, leading zeros included.
    ///
    /// # Panics
    /// If memory runs out. [`Batch::try_from_be_bytes`] is for strings that come from elsewhere.
    #[must_use]
    pub fn from_be_bytes<I>(items: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        Self::try_from_be_bytes(items).unwrap_or_else(|error| panic!("{error}"))
    }

    /// [`Batch::from_be_bytes`], or [`Error::OutOfMemory`]: one long string makes all items as wide.
    pub fn try_from_be_bytes<I>(items: I) -> Result<Self, Error>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let items: Vec<I::Item> = items.into_iter().collect();
        let bytes = items.iter().map(|i| i.as_ref().len()).max().unwrap_or(0);
        let mut batch = Self::try_zeros((8 * bytes).max(1), items.len())?;
        for (index, bytes) in items.iter().enumerate() {
            limbs::copy_be_bytes(bytes.as_ref(), batch.get_mut(index));
        }
        Ok(batch)
    }

    /// A batch from hexadecimal numbers, with or without `0x`. The width is four bits for each digit of the
    /// longest text, leading zeros included. An error names the item whose text is no number.
    pub fn from_hex<I>(items: I) -> Result<Self, Error>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let items: Vec<I::Item> = items.into_iter().collect();
        let bits = items.iter().map(|i| hex::declared_bits(i.as_ref())).max().unwrap_or(0);
        let mut batch = Self::try_zeros(bits.max(1), items.len())?;
        for (index, text) in items.iter().enumerate() {
            let value = hex::parse(text.as_ref()).map_err(|reason| Error::Hex { index, reason })?;
            let value = Zeroizing::new(value);
            batch.get_mut(index)[..value.len()].copy_from_slice(&value);
        }
        Ok(batch)
    }

    /// This batch with a declared width of `bits` bits instead of its own. An error names the first item that
    /// does not fit.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill_core::{Batch, Error};
    ///
    /// let batch = Batch::from_values([[9u64]]);
    /// assert_eq!(batch.bits(), 4);
    /// assert_eq!(batch.with_bits(256)?.bits(), 256);
    /// assert_eq!(batch.with_bits(3), Err(Error::DoesNotFit { index: 0, bits: 3 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_bits(&self, bits: usize) -> Result<Self, Error> {
        let mut wider = Self::try_zeros(bits, self.len)?;
        for (index, item) in self.iter().enumerate() {
            if limbs::bit_length(item) > bits {
                return Err(Error::DoesNotFit { index, bits });
            }
            let used = item.len().min(wider.stride());
            wider.get_mut(index)[..used].copy_from_slice(&item[..used]);
        }
        Ok(wider)
    }

    /// [`Batch::with_bits`] of a batch that is given away: the numbers stay where they are if they take as
    /// many limbs as before.
    ///
    /// ```
    /// use modmill_core::{Batch, Error};
    ///
    /// let batch = Batch::from_values([[9u64], [3]]);
    /// assert_eq!(batch.clone().into_bits(64)?, batch.with_bits(64)?);
    /// assert_eq!(batch.into_bits(3), Err(Error::DoesNotFit { index: 0, bits: 3 }));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_bits(mut self, bits: usize) -> Result<Self, Error> {
        if bits.div_ceil(64) != self.stride() {
            return self.with_bits(bits);
        }
        if bits < self.bits
            && let Some(index) = self.iter().position(|item| limbs::bit_length(item) > bits)
        {
            return Err(Error::DoesNotFit { index, bits });
        }
        self.bits = bits;
        Ok(self)
    }

    /// A copy of the batch, or [`Error::OutOfMemory`]. `clone` aborts if memory runs out.
    ///
    /// ```
    /// use modmill_core::Batch;
    ///
    /// let batch = Batch::from_values([[9u64], [3]]);
    /// assert_eq!(batch.try_clone()?, batch);
    /// # Ok::<(), modmill_core::Error>(())
    /// ```
    pub fn try_clone(&self) -> Result<Self, Error> {
        self.view().try_to_batch()
    }

    /// The items of this batch followed by the items of `more`. The function does not look at values.
    ///
    /// # Panics
    /// If the declared width of `more` is greater than that of this batch, or if memory runs out.
    #[must_use]
    pub fn followed_by(&self, more: BatchView<'_>) -> Self {
        self.try_followed_by(more).unwrap_or_else(|error| panic!("{error}"))
    }

    /// [`Batch::followed_by`], or [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// If the declared width of `more` is greater than that of this batch.
    pub fn try_followed_by(&self, more: BatchView<'_>) -> Result<Self, Error> {
        assert!(more.bits() <= self.bits, "{} bits do not fit in {}", more.bits(), self.bits);
        let mut both = Self::try_zeros(self.bits, self.len + more.len())?;
        for (index, item) in self.iter().chain(more.iter()).enumerate() {
            both.get_mut(index)[..item.len()].copy_from_slice(item);
        }
        Ok(both)
    }

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

    /// Item `index` as an operand that all items of a call share.
    ///
    /// # Panics
    /// If there is no such item, as indexing does.
    #[must_use]
    pub fn shared(&self, index: usize) -> Operand<'_> {
        Operand::Shared { bits: self.bits, value: self.get(index) }
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
    /// A view of `limbs` that something else holds: `bits.div_ceil(64)` limbs for each item.
    ///
    /// It is an error if `limbs` does not hold a whole number of items or an item exceeds `bits` bits. Items
    /// fill whole limbs where 64 divides `bits`; the function then does not look at them.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill_core::BatchView;
    ///
    /// let view = BatchView::from_limbs(128, &[5, 0, 7, 1])?;
    /// assert_eq!((view.len(), view.get(1)), (2, &[7, 1][..]));
    /// assert!(BatchView::from_limbs(64, &[5, 0]).is_ok_and(|view| view.len() == 2));
    /// assert!(BatchView::from_limbs(65, &[5, 2]).is_err());
    /// # Ok::<(), modmill_core::Error>(())
    /// ```
    pub fn from_limbs(bits: usize, limbs: &'a [u64]) -> Result<Self, Error> {
        let stride = bits.div_ceil(64);
        if stride == 0 || !limbs.len().is_multiple_of(stride) {
            return Err(Error::RaggedLimbs { limbs: limbs.len(), bits });
        }
        let view = Self { bits, len: limbs.len() / stride, limbs };
        let has_room = !bits.is_multiple_of(64);
        let exceeds = |item: &[u64]| item[stride - 1] >> (bits % 64) != 0;
        match view.iter().position(|item| has_room && exceeds(item)) {
            Some(index) => Err(Error::DoesNotFit { index, bits }),
            None => Ok(view),
        }
    }

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
    pub fn get(&self, index: usize) -> &'a [u64] {
        let stride = self.bits.div_ceil(64);
        &self.limbs[index * stride..][..stride]
    }

    /// A copy of the items as a batch of their own.
    ///
    /// # Panics
    /// If memory runs out.
    #[must_use]
    pub fn to_batch(&self) -> Batch {
        self.try_to_batch().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A copy of the items as a batch of their own, or [`Error::OutOfMemory`].
    pub fn try_to_batch(&self) -> Result<Batch, Error> {
        let mut batch = Batch::try_zeros(self.bits, self.len)?;
        batch.as_limbs_mut().copy_from_slice(self.limbs);
        Ok(batch)
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
    fn widths_follow_the_way_numbers_are_written() {
        let batch = Batch::from_hex(["1", "0x00ff", "abc"]).unwrap();
        assert_eq!((batch.bits(), batch.len(), batch.stride()), (16, 3, 1));
        assert_eq!(batch.to_hex(1), "ff");
        assert_eq!(batch.to_be_bytes(2), [0x0a, 0xbc]);
        assert_eq!(Batch::from_be_bytes([[0u8, 0, 1]]).bits(), 24);
        assert_eq!(Batch::from_values([[5u64, 0], [0, 1]]).bits(), 65);
    }

    #[test]
    fn an_empty_batch_is_a_batch() {
        let none: [&str; 0] = [];
        let batch = Batch::from_hex(none).unwrap();
        assert!(batch.is_empty() && batch.iter().next().is_none());
    }

    #[test]
    fn bad_shapes_are_named() {
        assert_eq!(Batch::from_limbs(65, vec![1, 2, 3]), Err(Error::RaggedLimbs { limbs: 3, bits: 65 }));
        assert_eq!(Batch::from_limbs(65, vec![0, 1, 0, 2]), Err(Error::DoesNotFit { index: 1, bits: 65 }));
        let text = Batch::from_hex(["1", "zz"]).unwrap_err().to_string();
        assert!(text.starts_with("item 1:"), "{text}");
        assert_eq!(Batch::from_values([[9u64]]).with_bits(3), Err(Error::DoesNotFit { index: 0, bits: 3 }));
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
