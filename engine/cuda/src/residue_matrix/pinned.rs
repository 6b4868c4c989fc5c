//! A matrix in pinned memory of the host, which a device copies from by itself.

use super::shape::MatrixShape;
use crate::backend::Cuda;
use crate::device::{Contents, HostBuffer};
use crate::error::{Error, Result};
use modmill_core::matrix::rows_length;
use modmill_core::{MatrixSource, ResidueModuli};
use rayon::prelude::*;
use std::any::Any;
use std::ops::Range;

/// A matrix in pinned memory.
pub struct PinnedRows {
    shape: MatrixShape,
    words: usize,
    buffer: HostBuffer,
}

impl PinnedRows {
    pub(super) fn buffer(&self) -> &HostBuffer {
        &self.buffer
    }
}

impl Cuda {
    /// A copy of a matrix in pinned memory.
    pub fn pin_matrix(&self, source: &dyn MatrixSource) -> Result<PinnedRows> {
        let device = &self.loaded().first().ok_or(Error::NoDevice)?.device;
        let shape = MatrixShape::of(source);
        let words =
            shape.rows.checked_mul(shape.row_words()).filter(|words| *words <= isize::MAX as usize / 8);
        let words = words.ok_or(Error::OutOfMemory { wanted: usize::MAX })?;
        let mut buffer = device.host_buffer(4 * words, Contents::Public)?;
        let filled = &mut buffer.words_mut()[..words];
        self.workers().move_numbers(|| fill(source, 0..shape.rows, filled))?;
        Ok(PinnedRows { shape, words, buffer })
    }
}

impl MatrixSource for PinnedRows {
    fn moduli(&self) -> &ResidueModuli {
        &self.shape.moduli
    }

    fn rows(&self) -> usize {
        self.shape.rows
    }

    fn columns(&self) -> usize {
        self.shape.columns
    }

    fn read(&self, rows: Range<usize>, words: &mut [u32]) -> std::result::Result<(), modmill_core::Error> {
        let start = rows_length(self, &rows, words.len())?;
        words.copy_from_slice(&self.buffer.words()[start..][..words.len()]);
        Ok(())
    }

    fn in_memory(&self) -> Option<&[u32]> {
        Some(&self.buffer.words()[..self.words])
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// Reads rows on all threads.
pub(super) fn fill(source: &dyn MatrixSource, rows: Range<usize>, words: &mut [u32]) -> Result<()> {
    let width = source.row_words();
    let share = rows.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    let shares = words.par_chunks_mut(share * width).enumerate();
    shares
        .try_for_each(|(index, words)| {
            let start = rows.start + index * share;
            source.read(start..start + words.len() / width, words)
        })
        .map_err(|error| Error::Call { call: "MatrixSource::read", reason: error.to_string() })
}
