//! The operands of a batch on their way to a device, and its answers on their way back.

use crate::call::Numbers;
use crate::device::{Buffer, HostBuffer};
use crate::device_rows::DeviceRows;
use crate::pipeline::{Chunk, Exchange, Footprint, Incoming, Outgoing, Place};
use crate::staging::{AnswerRows, Source};
use modmill_core::Items;
use rayon::prelude::*;
use std::ops::Range;

/// The operands of a batch as they are copied in for each chunk, one after the other.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a, const N: usize> {
    pub(crate) sources: [Source<'a>; N],
    /// The items of the batch.
    pub(crate) items: Items<'a>,
}

impl<'a, const N: usize> Operands<'a, N> {
    /// Limbs of `rows` items that are copied in.
    pub(crate) fn limbs(&self, rows: usize) -> usize {
        self.sources.iter().map(|source| source.limbs(rows)).sum()
    }

    /// The places of a chunk's operands on the device.
    pub(crate) fn numbers(&self, chunk: &Chunk<'_>) -> [Numbers; N] {
        let mut start = 0;
        self.sources.map(|source| {
            let numbers = source.numbers(chunk.inputs, start, self.items.get(chunk.first));
            start += source.limbs(chunk.rows);
            numbers
        })
    }

    /// The buffers that the operands of a chunk are in.
    pub(crate) fn buffers(&self, chunk: &Chunk<'a>) -> Vec<&'a Buffer> {
        let resident = self.sources.iter().filter_map(Source::rows).map(|rows| &rows.buffer);
        resident.chain([chunk.inputs]).collect()
    }

    /// Writes the operands of a chunk, but for those that the device copies by itself.
    fn gather(&self, items: Range<usize>, mut limbs: &mut [u64]) {
        let items = self.items.part(items);
        let mut parts = Vec::with_capacity(N);
        for source in &self.sources {
            let (rows, rest) = limbs.split_at_mut(source.limbs(items.len()));
            parts.push((source, rows));
            limbs = rest;
        }
        parts.into_par_iter().for_each(|(source, rows)| source.gather(items, rows));
    }

    /// The operands of a chunk in pinned memory, each with its place among all limbs of the chunk.
    fn pinned(&self, items: Range<usize>) -> Vec<(usize, &'a [u64])> {
        let items = self.items.part(items);
        let mut start = 0;
        let mut pinned = Vec::new();
        for source in &self.sources {
            pinned.extend(source.pinned(items).map(|limbs| (start, limbs)));
            start += source.limbs(items.len());
        }
        pinned
    }
}

/// The destination of a batch's answers on the device.
#[derive(Clone, Copy)]
pub(crate) struct Destination<'a> {
    /// Rows that stay on the device; `None` if each chunk has rows of its own, which are copied out.
    pub(crate) rows: Option<&'a DeviceRows>,
    /// Limbs of an answer.
    pub(crate) limbs: usize,
}

impl<'a> Destination<'a> {
    /// The rows that the answers of a chunk go to.
    pub(crate) fn place(&self, chunk: &Chunk<'a>) -> Place<'a> {
        match self.rows {
            Some(rows) => Place { buffer: &rows.buffer, start: rows.start(chunk.first) },
            None => Place { buffer: chunk.outputs, start: 0 },
        }
    }

    /// Memory for a chunk of `rows` rows with some operands.
    pub(crate) fn footprint<const N: usize>(&self, operands: &Operands<'_, N>, rows: usize) -> Footprint {
        let output_limbs = if self.rows.is_some() { 0 } else { self.limbs * rows };
        Footprint { input_limbs: operands.limbs(rows), output_limbs, flag_words: 0 }
    }
}

/// The flags that kernels set for items that they refuse.
#[derive(Clone, Copy)]
pub(crate) enum Flags {
    /// None: they refuse nothing.
    None,
    /// One for all items.
    One,
    /// One for each item.
    Each,
}

/// The host's side of a batch: operands, and rows for the answers.
pub(crate) struct OperandExchange<'a, const N: usize> {
    operands: Operands<'a, N>,
    /// `None` if the answers stay on the device.
    answers: Option<AnswerRows<'a>>,
    flags: Flags,
    /// The places of the items that kernels refused.
    pub(crate) refused: Vec<usize>,
}

impl<'a, const N: usize> OperandExchange<'a, N> {
    pub(crate) fn new(operands: Operands<'a, N>, answers: Option<AnswerRows<'a>>, flags: Flags) -> Self {
        Self { operands, answers, flags, refused: Vec::new() }
    }
}

impl<const N: usize> Exchange for OperandExchange<'_, N> {
    fn gather(&mut self, items: Range<usize>, _: usize, input: &mut HostBuffer) {
        self.operands.gather(items, input.limbs_mut());
    }

    fn scatter_and_gather(&mut self, done: Outgoing<'_>, next: Incoming<'_>) {
        let operands = self.operands;
        rayon::join(
            || self.scatter(done.items, done.output, done.flags),
            || operands.gather(next.items, next.input.limbs_mut()),
        );
    }

    fn scatter(&mut self, items: Range<usize>, output: &mut HostBuffer, flags: &[u32]) {
        if let Some(answers) = &mut self.answers {
            answers.take(items.clone(), output.limbs());
        }
        match self.flags {
            Flags::One if flags[0] != 0 => self.refused.extend(items),
            Flags::None | Flags::One => {}
            Flags::Each => {
                self.refused.extend(items.zip(flags).filter(|(_, flag)| **flag != 0).map(|(item, _)| item))
            }
        }
    }

    fn pinned_inputs(&self, items: Range<usize>) -> Vec<(usize, &[u64])> {
        self.operands.pinned(items)
    }

    fn pinned_answers(&mut self, items: Range<usize>) -> Option<&mut [u64]> {
        self.answers.as_mut()?.pinned(items)
    }
}
