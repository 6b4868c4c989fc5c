//! Products of a matrix in residues with vectors: `y = A^T r`, in sections of rows.
//!
//! Sums are lazy. A sum of residues, or of 32-bit halves of their products, over less than 2^32 rows is below
//! `2^32 2^32 = 2^64`, and matrices have at most 2^31 rows; so each sum is reduced once, at the end.

mod kernels;
mod rows;
mod sections;

use crate::backend::Cpu;
use crate::threads::Share;
use kernels::{GROUP, add_products, add_selected};
use modmill_core::matrix::Progress;
use modmill_core::{BitVectors, Error, MatrixFactors, MatrixSource, MemoryRows, ResidueVectors, mask};
use rayon::prelude::*;
use sections::{Section, each_section};
use std::ops::Range;
use zeroize::Zeroizing;

/// Words of a row that a task adds at a time: sums and the rows of a group stay in the first-level cache.
const CHUNK: usize = 1024;

/// Words of a row that a task adds at a time if rows are passed over: the others are read in longer runs.
const LONG_CHUNK: usize = 4096;

/// Whether the time may depend on which rows are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Selection {
    /// Every row is read and masked.
    Masked,
    /// Only the selected rows are read.
    Skipping,
}

impl Cpu {
    /// `A^T r` for vectors r of bits: sums of the selected rows, as vectors with an element for each column.
    /// Time and addresses do not depend on the bits.
    pub fn multiply_bits(
        &self,
        matrix: &dyn MatrixSource,
        vectors: &BitVectors,
        progress: Progress<'_>,
    ) -> Result<ResidueVectors, Error> {
        self.select(matrix, vectors, Selection::Masked, progress)
    }

    /// [`Cpu::multiply_bits`] for public bits: only the selected rows are read.
    pub fn multiply_bits_vartime(
        &self,
        matrix: &dyn MatrixSource,
        vectors: &BitVectors,
        progress: Progress<'_>,
    ) -> Result<ResidueVectors, Error> {
        self.select(matrix, vectors, Selection::Skipping, progress)
    }

    fn select(
        &self,
        matrix: &dyn MatrixSource,
        vectors: &BitVectors,
        selection: Selection,
        progress: Progress<'_>,
    ) -> Result<ResidueVectors, Error> {
        MatrixFactors::from(vectors).check(matrix.moduli(), matrix.rows())?;
        let (count, width) = (vectors.count(), matrix.row_words());
        let chunk = if selection == Selection::Skipping { LONG_CHUNK } else { CHUNK };
        let mut sums = Sums::new(count, width, 1, chunk)?;
        self.install(|| {
            each_section(matrix, progress, |section| {
                self.add(section, &mut sums, |rows, words, sums| match selection {
                    Selection::Masked => masked_sums(section, rows, words, vectors, sums),
                    Selection::Skipping => sums_vartime(section, rows, words, vectors, sums),
                });
            })
        })?;
        self.install(|| sums.reduced(matrix, |modulus, sums, place| modulus.reduce(sums[place])))
    }

    /// A copy of a matrix in memory, read by all threads.
    pub fn read_matrix(&self, matrix: &dyn MatrixSource) -> Result<MemoryRows, Error> {
        self.install(|| MemoryRows::filled(matrix, |words| sections::fill(matrix, 0..matrix.rows(), words)))
    }

    /// `A^T r` for vectors r in residues, as vectors with an element for each column. Time and addresses do
    /// not depend on the values.
    pub fn multiply_residues(
        &self,
        matrix: &dyn MatrixSource,
        vectors: &ResidueVectors,
        progress: Progress<'_>,
    ) -> Result<ResidueVectors, Error> {
        MatrixFactors::from(vectors).check(matrix.moduli(), matrix.rows())?;
        let (count, width) = (vectors.count(), matrix.row_words());
        let mut sums = Sums::new(count, width, 2, CHUNK)?;
        self.install(|| {
            each_section(matrix, progress, |section| {
                self.add(section, &mut sums, |rows, words, sums| {
                    product_sums(section, rows, words, vectors, matrix.columns(), sums);
                });
            })
        })?;
        self.install(|| {
            sums.reduced(matrix, |modulus, sums, place| modulus.reduce_wide(sums[place], sums[width + place]))
        })
    }

    /// Adds the sums of a section. `add` computes the sums of some rows and words into zeros.
    fn add(
        &self,
        section: &Section<'_>,
        sums: &mut Sums,
        add: impl Fn(Range<usize>, Range<usize>, &mut [u64]) + Sync,
    ) {
        let (width, chunk_words) = (sums.width, sums.chunk);
        let chunks = width.div_ceil(chunk_words);
        // Narrow matrices are shared out by rows as well.
        let parts = self.threads().div_ceil(chunks).min(section.rows.len().div_ceil(GROUP)).max(1);
        let part_rows = section.rows.len().div_ceil(parts).next_multiple_of(GROUP);
        let lists = sums.count * sums.halves;
        let tasks: Vec<_> = (0..chunks).flat_map(|chunk| (0..parts).map(move |part| (chunk, part))).collect();
        // A wave of tasks at a time: their sums are few compared with those of all words.
        for wave in tasks.chunks(4 * self.threads().max(1)) {
            let computed: Vec<_> = wave
                .par_iter()
                .map(|&(chunk, part)| {
                    let words = chunk * chunk_words..((chunk + 1) * chunk_words).min(width);
                    let last = ((part + 1) * part_rows).min(section.rows.len());
                    let mut partial = Zeroizing::new(vec![0; lists * words.len()]);
                    add((part * part_rows).min(last)..last, words.clone(), &mut partial);
                    (words, partial)
                })
                .list();
            for (words, partial) in computed {
                for (list, partial) in partial.chunks(words.len()).enumerate() {
                    let sums = &mut sums.words[list * width..][words.clone()];
                    sums.iter_mut().zip(partial).for_each(|(sum, partial)| *sum += partial);
                }
            }
        }
    }
}

/// Lazy sums: for each vector, one or two lists of as many words as a row has.
struct Sums {
    count: usize,
    width: usize,
    halves: usize,
    /// Words that a task adds at a time.
    chunk: usize,
    words: Zeroizing<Vec<u64>>,
}

impl Sums {
    fn new(count: usize, width: usize, halves: usize, chunk: usize) -> Result<Self, Error> {
        let wanted = count.checked_mul(width).and_then(|words| words.checked_mul(halves));
        let wanted = wanted.filter(|&words| words <= isize::MAX as usize / 16);
        let wanted = wanted.ok_or(Error::no_memory(usize::MAX))?;
        let mut words = Zeroizing::new(Vec::new());
        words.try_reserve_exact(wanted).map_err(|_| Error::no_memory(8 * wanted))?;
        words.resize(wanted, 0);
        Ok(Self { count, width, halves, chunk, words })
    }

    /// The residues. `reduce` gets a modulus, the lists of a vector and a place in them.
    fn reduced(
        &self,
        matrix: &dyn MatrixSource,
        reduce: impl Fn(modmill_core::matrix::WordModulus, &[u64], usize) -> u32 + Sync,
    ) -> Result<ResidueVectors, Error> {
        let mut answers = ResidueVectors::zeros(matrix.moduli(), self.count, matrix.columns())?;
        let planes = answers.as_mut_slice().par_chunks_mut(matrix.columns()).enumerate();
        planes.each(|(index, plane)| {
            let (vector, place) = (index / matrix.moduli().len(), index % matrix.moduli().len());
            let sums = &self.words[vector * self.halves * self.width..][..self.halves * self.width];
            let first = place * matrix.columns();
            for (column, answer) in plane.iter_mut().enumerate() {
                *answer = reduce(matrix.moduli().words()[place], sums, first + column);
            }
        });
        Ok(answers)
    }
}

/// The rows of a group from row `first` of the section on, cut to some words. Beyond the last row, the last
/// one again: the caller multiplies it by zero.
fn group<'a>(
    section: &Section<'a>,
    first: usize,
    rows: &Range<usize>,
    words: &Range<usize>,
) -> [&'a [u32]; GROUP] {
    std::array::from_fn(|index| &section.row((first + index).min(rows.end - 1))[words.clone()])
}

/// The sums of the selected rows, for each vector. All rows are read.
fn masked_sums(
    section: &Section<'_>,
    rows: Range<usize>,
    words: Range<usize>,
    vectors: &BitVectors,
    sums: &mut [u64],
) {
    for first in rows.clone().step_by(GROUP) {
        let group = group(section, first, &rows, &words);
        for (vector, sums) in sums.chunks_mut(words.len()).enumerate() {
            let bits = vectors.vector(vector);
            let mask = |index: usize| {
                let row = section.rows.start + first + index;
                let is_row = first + index < rows.end;
                let bit = if is_row { bits[row / 32] >> (row % 32) & 1 } else { 0 };
                mask::from_bit(bit.into()) as u32
            };
            add_selected(group, std::array::from_fn(mask), sums);
        }
    }
}

/// The sums of the selected rows for public bits. Only these rows are read; those of a block are in the cache
/// for all vectors.
fn sums_vartime(
    section: &Section<'_>,
    rows: Range<usize>,
    words: Range<usize>,
    vectors: &BitVectors,
    sums: &mut [u64],
) {
    const BLOCK: usize = 8 * GROUP;
    for first in rows.clone().step_by(BLOCK) {
        let block = first..(first + BLOCK).min(rows.end);
        for (vector, sums) in sums.chunks_mut(words.len()).enumerate() {
            let is_selected = |row: &usize| vectors.get(vector, section.rows.start + row);
            let mut selected = block.clone().filter(is_selected).peekable();
            while selected.peek().is_some() {
                let mut masks = [0; GROUP];
                let group = std::array::from_fn(|index| {
                    let row = selected.next();
                    masks[index] = if row.is_some() { u32::MAX } else { 0 };
                    &section.row(row.unwrap_or(first))[words.clone()]
                });
                add_selected(group, masks, sums);
            }
        }
    }
}

/// The sums of the low and of the high halves of products, for each vector.
fn product_sums(
    section: &Section<'_>,
    rows: Range<usize>,
    words: Range<usize>,
    vectors: &ResidueVectors,
    columns: usize,
    sums: &mut [u64],
) {
    // A piece has residues of one modulus.
    let planes = words.start / columns..words.end.div_ceil(columns);
    for plane in planes {
        let piece = words.start.max(plane * columns)..words.end.min((plane + 1) * columns);
        let place = piece.start - words.start..piece.end - words.start;
        for first in rows.clone().step_by(GROUP) {
            let group = group(section, first, &rows, &piece);
            for (vector, sums) in sums.chunks_mut(2 * words.len()).enumerate() {
                let residues = vectors.plane(vector, plane);
                let factor = |index: usize| {
                    let is_row = first + index < rows.end;
                    if is_row { residues[section.rows.start + first + index] } else { 0 }
                };
                let (low, high) = sums.split_at_mut(words.len());
                let factors = std::array::from_fn(factor);
                add_products(group, factors, &mut low[place.clone()], &mut high[place.clone()]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
