//! Vectors on a device.

use super::shape::{MatrixShape, UNIT_BYTES};
use super::turns::{SHARE, Turns};
use crate::device::{Buffer, Contents, Device, Stream};
use crate::error::Result;
use modmill_core::MatrixFactors;
use rayon::prelude::*;
use std::ops::Range;

/// Some vectors on a device: lists of `stride` words, one for each vector of bits, or one for each modulus of
/// a vector of residues. The lists of a part of the moduli lie together, vector after vector.
pub(super) struct DeviceVectors {
    pub(super) buffer: Buffer,
    pub(super) count: usize,
    pub(super) stride: usize,
    pub(super) is_bits: bool,
}

impl DeviceVectors {
    /// Memory for `count` of the vectors. Rows are padded with zeros to a multiple of 64.
    pub(super) fn new(device: &Device, factors: MatrixFactors<'_>, count: usize) -> Result<Self> {
        let rows = factors.length().next_multiple_of(64);
        let (is_bits, lists, stride) = match factors {
            MatrixFactors::Bits(_) => (true, count, rows / 32),
            MatrixFactors::Residues(residues) => (false, count * residues.moduli().len(), rows),
        };
        let buffer = device.buffer(lists.saturating_mul(4 * stride), Contents::Secret)?;
        Ok(Self { buffer, count, stride, is_bits })
    }

    /// Copies what products with a part of the moduli need that is not on the device yet, of the vectors from
    /// `first` on.
    pub(super) fn upload(
        &self,
        turns: &mut Turns<'_>,
        stream: &Stream,
        factors: MatrixFactors<'_>,
        first: usize,
        part: &Range<usize>,
    ) -> Result<()> {
        let (words, length, of_vector, part) = match factors {
            // The first part brings the bits for all.
            MatrixFactors::Bits(_) if part.start > 0 => return Ok(()),
            MatrixFactors::Bits(bits) => (bits.as_slice(), bits.length().div_ceil(32), 1, 0..1),
            MatrixFactors::Residues(residues) => {
                (residues.as_slice(), residues.length(), residues.moduli().len(), part.clone())
            }
        };
        let list = |index: usize| {
            let place = (first + index / part.len()) * of_vector + part.start + index % part.len();
            &words[place * length..][..length]
        };
        let (stride, lists) = (self.stride, self.count * part.len());
        for start in (0..lists).step_by(turns.words() / stride) {
            let lists = start..(start + turns.words() / stride).min(lists);
            let at = (self.count * part.start + start) * stride;
            turns.copy_in(stream, &self.buffer, at, lists.len() * stride, |padded| {
                let padded = padded.par_chunks_mut(stride).zip(lists.into_par_iter());
                padded.with_min_len(SHARE / 2 / stride + 1).for_each(|(padded, index)| {
                    padded[..length].copy_from_slice(list(index));
                    padded[length..].fill(0);
                });
            })?;
        }
        Ok(())
    }

    /// The address of the vectors for a part of the moduli.
    pub(super) fn address(&self, part: &Range<usize>) -> u64 {
        let before = if self.is_bits { 0 } else { self.count * part.start * self.stride };
        self.buffer.address() + 4 * before as u64
    }

    /// Columns of bytes: one of a vector of bits, four of a vector of residues.
    pub(super) fn columns(&self) -> usize {
        if self.is_bits { self.count } else { 4 * self.count }
    }

    /// Groups of 64 columns of bytes.
    pub(super) fn groups(&self) -> usize {
        self.columns().div_ceil(64)
    }

    /// The number of lists of words that a vector has: one if it is of bits, one for each of `moduli` if it
    /// is of residues.
    pub(super) fn lists(&self, moduli: usize) -> usize {
        if self.is_bits { 1 } else { moduli }
    }

    /// The bytes that the vectors take as second factors of products, for `moduli` moduli and `rows` rows.
    pub(super) fn factor_bytes(&self, moduli: usize, rows: usize) -> usize {
        UNIT_BYTES * self.lists(moduli) * self.groups() * MatrixShape::steps(rows)
    }
}
