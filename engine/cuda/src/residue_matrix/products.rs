//! Products with a section of a matrix.
#![allow(unsafe_code)] // launches kernels

use super::calls::{FactorsCall, ModulusWords, ProductCall, VectorCall};
use super::programs::{BLOCK, ProductKernels, blocks};
use super::shape::{MatrixShape, SECTION_ROWS, UNIT_BYTES};
use super::vectors::DeviceVectors;
use crate::device::{Buffer, Contents, Device, Shape, Stream};
use crate::error::Result;
use std::ops::Range;

/// Products of vectors with a matrix, section by section.
///
/// Moduli come in parts, of which each is computed by itself: the answers of a part lie together, vector
/// after vector, as the vectors of residues do.
pub(super) struct Products<'a> {
    shape: &'a MatrixShape,
    kernels: ProductKernels,
    pub(super) vectors: DeviceVectors,
    /// The vectors as second factors of products, for the rows of a section and a part of the moduli.
    laid_out: Buffer,
    pub(super) answers: Buffer,
}

impl<'a> Products<'a> {
    /// Memory for products, with sections of at most `section_rows` rows and parts of at most `most_moduli`
    /// moduli. The products are zero at first.
    pub(super) fn new(
        device: &Device,
        shape: &'a MatrixShape,
        section_rows: usize,
        most_moduli: usize,
        stream: &Stream,
        vectors: DeviceVectors,
    ) -> Result<Self> {
        let bytes = 4 * vectors.count * shape.row_words();
        let kernels = ProductKernels::load(device, vectors.count, vectors.columns(), vectors.is_bits)?;
        let factor_bytes = match kernels {
            ProductKernels::Single { .. } => 8,
            ProductKernels::Many { .. } => vectors.factor_bytes(most_moduli, section_rows),
        };
        let laid_out = device.buffer(factor_bytes, Contents::Secret)?;
        let answers = device.buffer(bytes, Contents::Secret)?;
        stream.fill(&answers, 0..bytes, 0)?;
        Ok(Self { shape, kernels, vectors, laid_out, answers })
    }

    /// The words of the answers that belong to a part of the moduli.
    pub(super) fn answer_words(&self, part: &Range<usize>) -> Range<usize> {
        let words = self.vectors.count * self.shape.columns;
        words * part.start..words * part.end
    }

    /// Adds the products with the rows of a section, whose first is a multiple of 64, for a part of the
    /// moduli.
    pub(super) fn launch(
        &self,
        stream: &Stream,
        units: &Buffer,
        moduli: &Buffer,
        rows: Range<usize>,
        part: &Range<usize>,
    ) -> Result<()> {
        let (shape, vectors) = (self.shape, &self.vectors);
        assert!(part.end <= shape.moduli.len(), "a part of the moduli");
        let steps = MatrixShape::steps(rows.len());
        assert!(rows.len() <= SECTION_ROWS && rows.start.is_multiple_of(64), "a section");
        assert!(units.bytes() >= shape.unit_bytes(rows.len()), "the units have their memory");
        let (columns, groups) = (shape.columns as u32, shape.groups() as u32);
        let count = part.len() as u32;
        let first_unit = part.start * shape.groups() * steps;
        let unit_address = units.address() + (first_unit * UNIT_BYTES) as u64;
        let modulus_address = moduli.address() + (part.start * size_of::<ModulusWords>()) as u64;
        let answer_address = self.answers.address() + 4 * self.answer_words(part).start as u64;
        match &self.kernels {
            ProductKernels::Single { kernel } => {
                let lists = vectors.lists(part.len());
                let first = if vectors.is_bits { rows.start / 32 } else { rows.start };
                let sums = if vectors.is_bits { 4 } else { 7 };
                let shared_bytes = BLOCK / 32 * sums * 16 * 4;
                let shape = Shape {
                    grid: blocks(u64::from(count) * u64::from(groups), 1)?,
                    block: BLOCK,
                    shared_bytes,
                };
                for vector in 0..vectors.count {
                    let start = vector * lists * vectors.stride + first;
                    let answer = 4 * vector * self.shape.columns * part.len();
                    let call = VectorCall {
                        units: unit_address,
                        vector: vectors.address(part) + 4 * start as u64,
                        answers: answer_address + answer as u64,
                        moduli: modulus_address,
                        columns,
                        groups,
                        steps: steps as u32,
                        vector_stride: vectors.stride as u32,
                    };
                    // SAFETY: the kernel takes this structure; it reads the units, which were checked, a
                    // vector, which is padded to whole sections, and the moduli, and writes one vector of the
                    // answers.
                    unsafe {
                        stream.launch(kernel, shape, &call, &[units, moduli, &vectors.buffer, &self.answers])
                    }?;
                }
                Ok(())
            }
            ProductKernels::Many { across, shared_bytes, factors, product } => {
                let (factor_groups, lists) = (vectors.groups(), vectors.lists(part.len()));
                let (laid_out, factor_units) = (&self.laid_out, lists * factor_groups * steps);
                assert!(factor_units * UNIT_BYTES <= laid_out.bytes(), "the factors have their memory");
                let call = FactorsCall {
                    vectors: vectors.address(part),
                    units: laid_out.address(),
                    vectors_count: vectors.count as u32,
                    stride: vectors.stride as u32,
                    first_row: rows.start as u32,
                    rows: rows.len() as u32,
                    count: lists as u32,
                    groups: factor_groups as u32,
                    steps: steps as u32,
                    unused: 0,
                };
                let words = (factor_units * UNIT_BYTES / 4) as u64;
                let grid = Shape { grid: blocks(words, BLOCK)?, block: BLOCK, shared_bytes: 0 };
                // SAFETY: the kernel takes this structure; it reads rows of the vectors and writes the units.
                unsafe { stream.launch(factors, grid, &call, &[&vectors.buffer, laid_out]) }?;
                let down = BLOCK / 32 / across;
                let tiles = u64::from(count) * u64::from(groups.div_ceil(down));
                let spans = factor_groups.div_ceil(*across as usize) as u64;
                let call = ProductCall {
                    units: unit_address,
                    factors: laid_out.address(),
                    answers: answer_address,
                    moduli: modulus_address,
                    vectors_count: vectors.count as u32,
                    columns,
                    count,
                    groups,
                    factor_groups: factor_groups as u32,
                    steps: steps as u32,
                };
                let grid =
                    Shape { grid: blocks(tiles * spans, 1)?, block: BLOCK, shared_bytes: *shared_bytes };
                // SAFETY: the kernel takes this structure; it reads both kinds of units and the moduli, and
                // writes the answers of all vectors.
                unsafe { stream.launch(product, grid, &call, &[units, moduli, laid_out, &self.answers]) }
            }
        }
    }
}
