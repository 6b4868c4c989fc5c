//! The ways to make a batch. Most of them are errors if memory runs out or a number does not fit.

use super::{Batch, BatchView, clear};
use crate::storage::{CLEARED, LimbMemory, Storage};
use crate::{Error, hex, limbs};
use zeroize::Zeroizing;

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
        Ok(Self { bits, len, limbs: Storage::Own(CLEARED.try_take(limbs)?) })
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

    /// The numbers with a declared width of `bits` bits, which they are known to fit: limbs above are dropped
    /// unseen. The time depends on widths alone, unlike that of [`Batch::with_bits`].
    ///
    /// ```
    /// use modmill_core::Batch;
    ///
    /// let batch = Batch::from_hex(["0000000000000000000000000000000007"])?;
    /// assert_eq!((batch.resized(3)?.bits(), batch.resized(3)?.as_limbs()), (3, &[7][..]));
    /// # Ok::<(), modmill_core::Error>(())
    /// ```
    pub fn resized(&self, bits: usize) -> Result<Self, Error> {
        let mut resized = Self::try_zeros(bits, self.len)?;
        let used = self.stride().min(resized.stride());
        for (index, row) in self.iter().enumerate() {
            resized.get_mut(index)[..used].copy_from_slice(&row[..used]);
        }
        Ok(resized)
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
