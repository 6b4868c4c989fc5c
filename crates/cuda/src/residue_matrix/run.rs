//! Products with a section of a matrix.
#![allow(unsafe_code)] // launches kernels

use super::calls::{FactorsCall, ProductCall, VectorCall};
use super::programs::{BLOCK, ProductKernels, SECTION_ROWS, UNIT_BYTES, blocks};
use super::shape::MatrixShape;
use super::vectors::DeviceVectors;
use crate::device::{Buffer, Contents, Device, HostBuffer, Shape, Stream};
use crate::error::{Error, Result};
use crate::workers::Workers;
use modmill_core::{MatrixFactors, ResidueVectors};
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of the answers of a pass: more vectors go in several.
const PASS_BYTES: usize = 4 << 30;

/// Products of vectors with a matrix, section by section.
pub(super) struct Products<'a> {
    device: &'a Device,
    shape: &'a MatrixShape,
    kernels: ProductKernels,
    vectors: DeviceVectors,
    /// The vectors as second factors of products, for the rows of a section.
    laid_out: Buffer,
    answers: Buffer,
}

/// Computes products in passes of some vectors each, with sections of at most `section_rows` rows. `work` launches the products of all sections of the matrix.
pub(super) fn in_passes(
    device: &Device,
    workers: &Workers,
    shape: &MatrixShape,
    section_rows: usize,
    factors: MatrixFactors<'_>,
    mut work: impl FnMut(&Products<'_>, &Stream) -> Result<()>,
) -> Result<(ResidueVectors, f64)> {
    factors.check(&shape.moduli, shape.rows).map_err(call_error)?;
    let mut answers =
        ResidueVectors::zeros(&shape.moduli, factors.count(), shape.columns).map_err(call_error)?;
    let width = shape.columns * shape.moduli.len();
    // Whole groups of 256 columns of vectors.
    let most = (PASS_BYTES / (4 * width)).clamp(1, 1 << 16);
    let most = if most > 256 { most / 256 * 256 } else { most };
    let mut seconds = 0.0;
    for (pass, answers) in answers.as_mut_slice().chunks_mut(most * width).enumerate() {
        let vectors = pass * most..(pass * most + answers.len() / width);
        let stream = device.stream()?;
        let products = Products::new(device, workers, shape, section_rows, &stream, (factors, vectors))?;
        let (begin, end) = (device.event()?, device.event()?);
        begin.record(&stream)?;
        work(&products, &stream)?;
        end.record(&stream)?;
        products.download(workers, &stream, answers)?;
        seconds += f64::from(end.elapsed_ms(&begin)?) / 1e3;
    }
    Ok((answers, seconds))
}

fn call_error(error: modmill_core::Error) -> Error {
    Error::Call { call: "a product with a matrix", reason: error.to_string() }
}

impl<'a> Products<'a> {
    fn new(
        device: &'a Device,
        workers: &Workers,
        shape: &'a MatrixShape,
        section_rows: usize,
        stream: &Stream,
        (factors, range): (MatrixFactors<'_>, Range<usize>),
    ) -> Result<Self> {
        let bytes = 4 * range.len() * shape.columns * shape.moduli.len();
        let vectors = DeviceVectors::upload(device, workers, stream, factors, range)?;
        let kernels = ProductKernels::load(device, vectors.count, vectors.columns(), vectors.is_bits)?;
        let factor_bytes = match kernels {
            ProductKernels::Single { .. } => 8,
            ProductKernels::Many { .. } => {
                UNIT_BYTES
                    * vectors.lists(&shape.moduli)
                    * vectors.groups()
                    * MatrixShape::steps(section_rows)
            }
        };
        let laid_out = device.buffer(factor_bytes, Contents::Secret)?;
        let answers = device.buffer(bytes, Contents::Secret)?;
        stream.fill(&answers, 0..bytes, 0)?;
        Ok(Self { device, shape, kernels, vectors, laid_out, answers })
    }

    /// Adds the products with the rows of a section, whose first is a multiple of 64.
    pub(super) fn launch(
        &self,
        stream: &Stream,
        units: &Buffer,
        moduli: &Buffer,
        rows: Range<usize>,
    ) -> Result<()> {
        let (shape, vectors) = (self.shape, &self.vectors);
        let steps = MatrixShape::steps(rows.len());
        assert!(rows.len() <= SECTION_ROWS && rows.start.is_multiple_of(64), "a section");
        assert!(units.bytes() >= shape.unit_bytes(rows.len())?, "the units have their memory");
        let (columns, groups) = (shape.columns as u32, shape.groups() as u32);
        let count = shape.moduli.len() as u32;
        match &self.kernels {
            ProductKernels::Single { kernel } => {
                let lists = vectors.lists(&shape.moduli);
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
                    let answer = 4 * vector * self.shape.columns * self.shape.moduli.len();
                    let call = VectorCall {
                        units: units.address(),
                        vector: vectors.buffer.address() + 4 * start as u64,
                        answers: self.answers.address() + answer as u64,
                        moduli: moduli.address(),
                        columns,
                        groups,
                        steps: steps as u32,
                        vector_stride: vectors.stride as u32,
                    };
                    // SAFETY: the kernel takes this structure; it reads the units, which were checked, a vector, which is
                    // padded to whole sections, and the moduli, and writes one vector of the answers.
                    unsafe {
                        stream.launch(kernel, shape, &call, &[units, moduli, &vectors.buffer, &self.answers])
                    }?;
                }
                Ok(())
            }
            ProductKernels::Many { across, shared_bytes, factors, product } => {
                let (factor_groups, lists) = (vectors.groups(), vectors.lists(&shape.moduli));
                let (laid_out, factor_units) = (&self.laid_out, lists * factor_groups * steps);
                assert!(factor_units * UNIT_BYTES <= laid_out.bytes(), "the factors have their memory");
                let call = FactorsCall {
                    vectors: vectors.buffer.address(),
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
                    units: units.address(),
                    factors: laid_out.address(),
                    answers: self.answers.address(),
                    moduli: moduli.address(),
                    vectors_count: vectors.count as u32,
                    columns,
                    count,
                    groups,
                    factor_groups: factor_groups as u32,
                    steps: steps as u32,
                };
                let grid =
                    Shape { grid: blocks(tiles * spans, 1)?, block: BLOCK, shared_bytes: *shared_bytes };
                // SAFETY: the kernel takes this structure; it reads both kinds of units and the moduli, and writes the
                // answers of all vectors.
                unsafe { stream.launch(product, grid, &call, &[units, moduli, laid_out, &self.answers]) }
            }
        }
    }

    /// Waits for the products, and copies them to the host: one piece is handed over while the next is copied.
    fn download(&self, workers: &Workers, stream: &Stream, answers: &mut [u32]) -> Result<()> {
        /// Words that are copied at a time, and that a thread hands over at a time.
        const PIECE: usize = 8 << 20;
        const SHARE: usize = 1 << 18;
        let bytes = 4 * PIECE.min(answers.len());
        let host = || self.device.host_buffer(bytes, Contents::Secret);
        let mut hosts = [host()?, host()?];
        let copied = [self.device.event()?, self.device.event()?];
        let pieces = answers.len().div_ceil(PIECE);
        let words = |piece: usize| piece * PIECE..((piece + 1) * PIECE).min(answers.len());
        let ranges: Vec<Range<usize>> = (0..pieces).map(words).collect();
        let start = |piece: usize, hosts: &mut [HostBuffer; 2]| -> Result<()> {
            let Range { start, end } = ranges[piece].clone();
            stream.copy_out(&self.answers, 4 * start..4 * end, &mut hosts[piece % 2], 0)?;
            copied[piece % 2].record(stream)
        };
        start(0, &mut hosts)?;
        for (piece, range) in ranges.iter().enumerate() {
            copied[piece % 2].synchronize()?;
            if piece + 1 < pieces {
                start(piece + 1, &mut hosts)?;
            }
            let (to, from) = (&mut answers[range.clone()], hosts[piece % 2].words());
            workers.move_numbers(|| {
                let shares = to.par_chunks_mut(SHARE).zip(from.par_chunks(SHARE));
                shares.for_each(|(to, from)| to.copy_from_slice(&from[..to.len()]));
            });
        }
        Ok(())
    }
}
