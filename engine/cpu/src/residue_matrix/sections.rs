//! A matrix in sections of rows. The next section is read while this one is worked with.

use crate::threads::{self, Share};
use modmill_core::matrix::Progress;
use modmill_core::{Error, MatrixSource};
use rayon::prelude::*;
use std::ops::Range;

/// Words of a section that is not in memory: 256 MiB.
const SECTION_WORDS: usize = 64 << 20;

/// Some rows of a matrix.
pub(super) struct Section<'a> {
    /// The rows, as numbers in the whole matrix.
    pub(super) rows: Range<usize>,
    width: usize,
    words: &'a [u32],
}

impl<'a> Section<'a> {
    /// A row by its number in this section.
    pub(super) fn row(&self, row: usize) -> &'a [u32] {
        &self.words[row * self.width..][..self.width]
    }
}

/// Calls `work` with each section in turn.
pub(super) fn each_section(
    matrix: &dyn MatrixSource,
    progress: Progress<'_>,
    work: impl FnMut(&Section<'_>) + Send,
) -> Result<(), Error> {
    each_section_of(matrix, SECTION_WORDS, progress, work)
}

/// Calls `work` with each section in turn. A section has about `section_words` words.
pub(super) fn each_section_of(
    matrix: &dyn MatrixSource,
    section_words: usize,
    progress: Progress<'_>,
    mut work: impl FnMut(&Section<'_>) + Send,
) -> Result<(), Error> {
    let (rows, width) = (matrix.rows(), matrix.row_words());
    let size = (section_words / width).clamp(1, rows);
    let range = |start: usize| start..(start + size).min(rows);
    if let Some(words) = matrix.in_memory() {
        for start in (0..rows).step_by(size) {
            let rows = range(start);
            work(&Section { words: &words[start * width..rows.end * width], rows, width });
            progress(range(start).end, matrix.rows());
        }
        return Ok(());
    }
    let mut current = buffer(size * width)?;
    let mut next = buffer(if size < rows { size * width } else { 0 })?;
    fill(matrix, range(0), &mut current)?;
    for start in (0..rows).step_by(size) {
        let (now, later) = (range(start), range(start + size));
        let section = Section { words: &current[..now.len() * width], rows: now.clone(), width };
        let has_next = start + size < rows;
        let read = || if has_next { fill(matrix, later, &mut next) } else { Ok(()) };
        let (read, ()) = threads::join(read, || work(&section));
        read?;
        progress(now.end, rows);
        std::mem::swap(&mut current, &mut next);
    }
    Ok(())
}

fn buffer(words: usize) -> Result<Vec<u32>, Error> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(words).map_err(|_| Error::no_memory(4 * words))?;
    buffer.resize(words, 0);
    Ok(buffer)
}

/// Reads rows on all threads.
pub(super) fn fill(matrix: &dyn MatrixSource, rows: Range<usize>, words: &mut [u32]) -> Result<(), Error> {
    let width = matrix.row_words();
    let piece = rows.len().div_ceil(4 * threads::count()).max(1);
    words[..rows.len() * width].par_chunks_mut(piece * width).enumerate().try_each(|(index, words)| {
        let start = rows.start + index * piece;
        matrix.read(start..start + words.len() / width, words)
    })
}
