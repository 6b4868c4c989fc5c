//! Products of many vectors with a matrix: passes of some vectors each, and parts of the moduli within a
//! pass.
//!
//! While the products of a part are computed, the vectors of the next part are copied to the device, and the
//! answers of the part before to the host.

use super::products::Products;
use super::shape::MatrixShape;
use super::turns::{SHARE, Turns};
use super::vectors::DeviceVectors;
use crate::device::{Device, Event, Stream, prefer_large_pages};
use crate::error::{Error, Result};
use crate::workers::Workers;
use modmill_core::{MatrixFactors, ResidueVectors};
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of the answers of a pass: more vectors go in several.
const PASS_BYTES: usize = 4 << 30;

/// The most parts of a pass. Each ends with blocks that not all multiprocessors are busy with.
const MOST_PARTS: usize = 8;

/// How products are computed.
pub(super) struct MatrixRun<'a> {
    pub(super) device: &'a Device,
    pub(super) workers: &'a Workers,
    pub(super) shape: &'a MatrixShape,
    /// The most rows of a section.
    pub(super) section_rows: usize,
    /// Words that are copied from and to the host at a time.
    pub(super) piece_words: usize,
    /// Whether the moduli may be computed in parts, which costs nothing where the matrix is on the device.
    pub(super) in_parts: bool,
}

impl MatrixRun<'_> {
    /// Computes products in passes. `work` launches the products of all sections of the matrix for a part of
    /// the moduli. Returns the seconds in kernels.
    pub(super) fn multiply(
        &self,
        factors: MatrixFactors<'_>,
        answers: &mut ResidueVectors,
        mut work: impl FnMut(&Products<'_>, &Stream, &Range<usize>) -> Result<()>,
    ) -> Result<f64> {
        self.check(factors, answers)?;
        let width = self.shape.row_words();
        // Whole groups of 256 columns of vectors.
        let most = (PASS_BYTES / (4 * width)).clamp(1, 1 << 16);
        let most = if most > 256 { most / 256 * 256 } else { most };
        let stride = factors.length().next_multiple_of(64);
        let all_words = factors.count().saturating_mul(width.max(stride * self.shape.moduli.len()));
        let piece_words = self.piece_words.min(all_words).max(stride);
        let mut turns = Turns::new(self.device, self.workers, piece_words)?;
        prefer_large_pages(answers.as_mut_slice());
        let mut seconds = 0.0;
        for (pass, answers) in answers.as_mut_slice().chunks_mut(most * width).enumerate() {
            seconds += self.pass(&mut turns, factors, pass * most, answers, &mut work)?;
        }
        Ok(seconds)
    }

    fn check(&self, factors: MatrixFactors<'_>, answers: &ResidueVectors) -> Result<()> {
        let Self { shape, .. } = self;
        factors
            .check(&shape.moduli, shape.rows)
            .and_then(|()| answers.check_answers(&shape.moduli, factors.count(), shape.columns))
            .map_err(|error| Error::Call { call: "a product with a matrix", reason: error.to_string() })
    }

    /// Computes the products of the vectors from `first` on, as many as there is room for in `answers`.
    fn pass(
        &self,
        turns: &mut Turns<'_>,
        factors: MatrixFactors<'_>,
        first: usize,
        answers: &mut [u32],
        work: &mut impl FnMut(&Products<'_>, &Stream, &Range<usize>) -> Result<()>,
    ) -> Result<f64> {
        let Self { device, shape, .. } = *self;
        let vectors = DeviceVectors::new(device, factors, answers.len() / shape.row_words())?;
        let parts = self.parts(answers.len());
        let (compute, copies) = (device.stream()?, device.stream()?);
        let most = parts.iter().map(Range::len).max().unwrap_or(0);
        let products = Products::new(device, shape, self.section_rows, most, &compute, vectors)?;
        let uploaded = device.event()?;
        let mut spans = Vec::with_capacity(parts.len());
        for part in &parts {
            products.vectors.upload(turns, &copies, factors, first, part)?;
            uploaded.record(&copies)?;
            compute.wait(&uploaded)?;
            let (begin, end) = (device.event()?, device.event()?);
            begin.record(&compute)?;
            work(&products, &compute, part)?;
            end.record(&compute)?;
            spans.push((begin, end));
        }
        self.download(turns, &copies, &products, &parts, &spans, answers)?;
        let span = |(begin, end): &(Event, Event)| Ok(f64::from(end.elapsed_ms(begin)?) / 1e3);
        spans.iter().map(span).sum()
    }

    /// Parts of the moduli, whose answers have about as many words as are copied at a time.
    fn parts(&self, answer_words: usize) -> Vec<Range<usize>> {
        let moduli = self.shape.moduli.len();
        let most = if self.in_parts { MOST_PARTS.min(moduli) } else { 1 };
        let size = moduli.div_ceil((answer_words / self.piece_words).clamp(1, most));
        (0..moduli).step_by(size).map(|start| start..(start + size).min(moduli)).collect()
    }

    /// Copies the answers of each part to the host as soon as they are there.
    fn download(
        &self,
        turns: &mut Turns<'_>,
        copies: &Stream,
        products: &Products<'_>,
        parts: &[Range<usize>],
        spans: &[(Event, Event)],
        answers: &mut [u32],
    ) -> Result<()> {
        let (columns, width) = (self.shape.columns, self.shape.row_words());
        let mut pieces = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let words = products.answer_words(part);
            let starts = words.clone().step_by(turns.words());
            pieces.extend(starts.map(|start| (index, start..(start + turns.words()).min(words.end))));
        }
        let ranges: Vec<Range<usize>> = pieces.iter().map(|(_, range)| range.clone()).collect();
        let begin = |piece: usize| copies.wait(&spans[pieces[piece].0].1);
        turns.copy_out(copies, &products.answers, &ranges, begin, |piece, words| {
            let part = &parts[pieces[piece].0];
            let start = ranges[piece].start - products.answer_words(part).start;
            let places = part.start * columns..part.end * columns;
            scatter(words, start, places, answers, width);
        })
    }
}

/// Writes words of a part of the moduli, from word `start` of the part on, to their places in vectors of
/// `width` words, of which the part has the words `places`. On all threads.
fn scatter(words: &[u32], start: usize, places: Range<usize>, answers: &mut [u32], width: usize) {
    let run = places.len();
    let vectors = start / run..(start + words.len()).div_ceil(run);
    let rows = answers[vectors.start * width..vectors.end * width].par_chunks_mut(width);
    rows.zip(vectors.into_par_iter()).for_each(|(row, vector)| {
        // The words of this vector, counted from the first of the part.
        let here = (vector * run).max(start)..((vector + 1) * run).min(start + words.len());
        let to = &mut row[places.clone()][here.start - vector * run..here.end - vector * run];
        let from = &words[here.start - start..here.end - start];
        let shares = to.par_chunks_mut(SHARE).zip(from.par_chunks(SHARE)).with_max_len(1);
        shares.for_each(|(to, from)| to.copy_from_slice(from));
    });
}
