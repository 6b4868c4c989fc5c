//! Columns of numbers that are read in parts, so that what has to be converted is converted while others are
//! computed.

use crate::ciphertexts::check;
use crate::rows::CHUNK;
use crate::{Error, PublicKey};
use modmill::threads::Share;
use modmill::{Batch, BatchView, number};
use rayon::prelude::*;
use std::ops::Range;

/// A column that is read in parts.
pub(crate) trait Parts: Sync {
    /// The number of items.
    fn len(&self) -> usize;

    /// The numbers of some items. Long parts are converted by the threads of rayon's current pool.
    fn part(&self, items: Range<usize>) -> Result<Part<'_>, Error>;

    /// The power w, if the numbers are `2^w` greater than what they stand for.
    fn shift(&self) -> Option<usize> {
        None
    }
}

/// Some items of a column.
pub(crate) enum Part<'a> {
    /// They are there as numbers.
    Held(BatchView<'a>),
    /// They were converted.
    Made(Batch),
}

impl Part<'_> {
    pub(crate) fn view(&self) -> BatchView<'_> {
        match self {
            Self::Held(view) => *view,
            Self::Made(batch) => batch.view(),
        }
    }
}

impl Parts for Batch {
    fn len(&self) -> usize {
        self.len()
    }

    fn part(&self, items: Range<usize>) -> Result<Part<'_>, Error> {
        Ok(Part::Held(self.slice(items)))
    }
}

/// Ciphertexts as big-endian bytes, one after the other, each as long as `n^2`.
pub(crate) struct Octets<'a> {
    key: &'a PublicKey,
    octets: &'a [u8],
}

impl<'a> Octets<'a> {
    /// The ciphertexts of a key. Bytes that are no multiple of a ciphertext's are refused.
    pub(crate) fn new(key: &'a PublicKey, octets: &'a [u8]) -> Result<Self, Error> {
        let width = key.ciphertext_octets();
        match octets.len() % width {
            0 => Ok(Self { key, octets }),
            _ => Err(Error::LengthMismatch {
                what: "the octets of the ciphertexts",
                expected: octets.len().next_multiple_of(width),
                found: octets.len(),
            }),
        }
    }
}

impl Octets<'_> {
    /// The numbers of some items, each of which is checked to be a ciphertext.
    pub(crate) fn numbers(&self, items: Range<usize>) -> Result<Batch, Error> {
        let width = self.key.ciphertext_octets();
        let octets = &self.octets[items.start * width..items.end * width];
        let mut values = Batch::try_zeros(self.key.square().bits(), items.len())?;
        let stride = values.stride();
        let rows = values.as_limbs_mut().par_chunks_exact_mut(stride).zip(octets.par_chunks_exact(width));
        rows.with_min_len(CHUNK).each(|(row, octets)| number::copy_be_bytes(octets, row));
        check(self.key, &values, items.start)?;
        Ok(values)
    }
}

impl Parts for Octets<'_> {
    fn len(&self) -> usize {
        self.octets.len() / self.key.ciphertext_octets()
    }

    fn part(&self, items: Range<usize>) -> Result<Part<'_>, Error> {
        self.numbers(items).map(Part::Made)
    }
}

/// Writes numbers as big-endian bytes to rows of `width` bytes. The numbers fit.
pub(crate) fn write_octets(width: usize, numbers: BatchView<'_>, rows: &mut [u8]) {
    for (number, row) in numbers.iter().zip(rows.chunks_exact_mut(width)) {
        number::write_be_bytes(number, row);
    }
}
