//! Vectors on a device.

use crate::device::{Buffer, Contents, Device, Stream};
use crate::error::{Error, Result};
use crate::workers::Workers;
use modmill_core::{MatrixFactors, ResidueModuli};
use rayon::prelude::*;
use std::ops::Range;

/// Some vectors on a device: `stride` words each of bits, or for each modulus of residues.
pub(super) struct DeviceVectors {
    pub(super) buffer: Buffer,
    pub(super) count: usize,
    pub(super) stride: usize,
    pub(super) is_bits: bool,
}

impl DeviceVectors {
    /// Copies some of the vectors. Rows are padded with zeros to a multiple of 64.
    pub(super) fn upload(
        device: &Device,
        workers: &Workers,
        stream: &Stream,
        factors: MatrixFactors<'_>,
        vectors: Range<usize>,
    ) -> Result<Self> {
        let rows = factors.length().next_multiple_of(64);
        let (is_bits, lists, length, stride) = match factors {
            MatrixFactors::Bits(bits) => (true, vectors.len(), bits.length().div_ceil(32), rows / 32),
            MatrixFactors::Residues(residues) => {
                (false, vectors.len() * residues.moduli().len(), residues.length(), rows)
            }
        };
        let words = match factors {
            MatrixFactors::Bits(bits) => &bits.as_slice()[vectors.start * length..],
            MatrixFactors::Residues(residues) => {
                &residues.as_slice()[vectors.start * residues.moduli().len() * length..]
            }
        };
        let bytes = lists.checked_mul(4 * stride).ok_or(Error::OutOfMemory { wanted: usize::MAX })?;
        let mut host = device.host_buffer(bytes, Contents::Secret)?;
        let padded = &mut host.words_mut()[..lists * stride];
        workers.move_numbers(|| {
            let lists = padded.par_chunks_mut(stride).zip(words.par_chunks(length)).with_min_len(16);
            lists.for_each(|(padded, words)| {
                padded[..length].copy_from_slice(words);
                padded[length..].fill(0);
            });
        });
        let buffer = device.buffer(bytes, Contents::Secret)?;
        stream.copy_in(&host, 0..bytes, &buffer, 0)?;
        Ok(Self { buffer, count: vectors.len(), stride, is_bits })
    }

    /// Columns of bytes: one of a vector of bits, four of a vector of residues.
    pub(super) fn columns(&self) -> usize {
        if self.is_bits { self.count } else { 4 * self.count }
    }

    /// Groups of 64 columns of bytes.
    pub(super) fn groups(&self) -> usize {
        self.columns().div_ceil(64)
    }

    /// Lists of words of a vector: one of bits, one for each modulus of residues.
    pub(super) fn lists(&self, moduli: &ResidueModuli) -> usize {
        if self.is_bits { 1 } else { moduli.len() }
    }
}
