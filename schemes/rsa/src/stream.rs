//! The blocks of a group on their way to a device and back. All threads encode the items of one chunk, and
//! decode those of another, while the device computes the chunks between.

use crate::Error;
use crate::keys::{Key, Keys};
use crate::rows::Memory;
use crate::steps::{Answer, GRAIN, Items, Refusal, Steps};
use modmill::Engine;
use modmill::hazmat::Blocks;
use rayon::prelude::*;
use std::ops::Range;

/// The answers of a group with their rows, and the items that are still to be computed.
type Found<T> = (Vec<Answer<T>>, Memory, Vec<usize>);

/// The block of an item, and its row of the answers.
type BlockAndRow<'a> = (&'a mut [u8], &'a mut [u8]);

/// The items of a group, and the answers that are known so far.
pub(crate) struct Stream<'a, K, T> {
    steps: &'a Steps<'a, K, T>,
    engine: &'a Engine,
    keys: Keys<'a, K>,
    items: &'a Items,
    /// Length of the modulus in bytes.
    size: usize,
    /// Length of a block in bytes: `size` rounded up to whole limbs.
    stride: usize,
    answers: Vec<Answer<T>>,
    /// Memory of the answers, once a device asked for blocks.
    rows: Option<Memory>,
    /// Positions of items whose results failed their check on the device.
    wrong: Vec<usize>,
    /// The first error that ends the call.
    failed: Option<Error>,
}

impl<'a, K, T> Stream<'a, K, T> {
    pub(crate) fn new(
        steps: &'a Steps<'a, K, T>,
        engine: &'a Engine,
        keys: Keys<'a, K>,
        bits: usize,
        items: &'a Items,
    ) -> Self {
        let (size, stride) = (bits.div_ceil(8), 8 * bits.div_ceil(64));
        let (answers, wrong) = (Vec::new(), Vec::new());
        Self { steps, engine, keys, items, size, stride, answers, rows: None, wrong, failed: None }
    }

    /// Memory for the answers and their rows.
    fn memory(&self) -> Result<(Vec<Answer<T>>, Memory), modmill::Error> {
        let mut answers: Vec<Answer<T>> = Vec::new();
        let bytes = self.items.len().saturating_mul(size_of::<Answer<T>>());
        answers.try_reserve_exact(self.items.len()).map_err(|_| modmill::Error::no_memory(bytes))?;
        Ok((answers, Memory::new(self.steps.kind, self.size, self.items.len())?))
    }

    /// The answers with their rows, and the items that are computed step by step: those whose answers failed
    /// their check, or all items unless a device computed them (`is_done`).
    pub(crate) fn finish(mut self, is_done: bool) -> Result<Found<T>, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if let (true, Some(rows)) = (is_done, self.rows.take()) {
            // Devices finish their shares in any order.
            self.wrong.sort_unstable();
            let again = self.wrong.into_iter().map(|position| self.items.get(position)).collect();
            return Ok((self.answers, rows, again));
        }
        // Answers taken from a device that failed later do not count.
        let (mut answers, rows) = self.memory()?;
        answers.resize_with(self.items.len(), || None);
        Ok((answers, rows, (0..self.items.len()).map(|position| self.items.get(position)).collect()))
    }
}

impl<K: Key, T: Send> Blocks for Stream<'_, K, T> {
    fn fill(&mut self, range: Range<usize>, blocks: &mut [u8]) {
        let Self { steps, keys, items, size, stride, .. } = *self;
        if self.rows.is_none() {
            match self.memory() {
                Ok((answers, rows)) => (self.answers, self.rows) = (answers, Some(rows)),
                Err(error) => self.failed = Some(error.into()),
            }
        }
        if self.failed.is_some() {
            blocks.fill(0);
            return;
        }
        // The answers of a chunk are made here, while the device computes another chunk. Devices ask for
        // their chunks in any order.
        if self.answers.len() < range.end {
            self.answers.resize_with(range.end, || None);
        }
        let answers = &mut self.answers[range.clone()];
        let fill = |(offset, (block, answer)): (usize, (&mut [u8], &mut Answer<T>))| {
            let item = items.get(range.start + offset);
            let (front, block) = block.split_at_mut(stride - size);
            front.fill(0);
            let refusal = (steps.encode)(item, keys.get(item), block).err()?;
            block.fill(0);
            match refusal {
                Refusal::Call(error) => Some(error),
                Refusal::Item(error) => {
                    *answer = Some(Err(error));
                    None
                }
            }
        };
        let failed: Vec<Error> = self.engine.install(|| {
            let pairs = blocks.par_chunks_exact_mut(stride).zip(answers.par_iter_mut());
            pairs.enumerate().with_min_len(GRAIN).filter_map(fill).collect()
        });
        self.failed = self.failed.take().or(failed.into_iter().next());
    }

    fn take(&mut self, range: Range<usize>, blocks: &mut [u8], wrong: &[u32]) {
        let Self { steps, keys, items, size, stride, .. } = *self;
        let (Some(rows), None) = (&mut self.rows, &self.failed) else { return };
        let answers = &mut self.answers[range.clone()];
        let (rows, row) = rows.rows();
        let rows = &mut rows[row * range.start..row * range.end];
        let take = |(offset, ((block, row), answer)): (usize, (BlockAndRow<'_>, &mut Answer<T>))| {
            if answer.is_some() || wrong[offset] != 0 {
                return;
            }
            let item = items.get(range.start + offset);
            *answer = Some((steps.decode)(item, keys.get(item), &mut block[stride - size..], row));
        };
        self.engine.install(|| {
            let blocks = blocks.par_chunks_exact_mut(stride).zip(rows.par_chunks_exact_mut(row));
            blocks.zip(answers.par_iter_mut()).enumerate().with_min_len(GRAIN).for_each(take);
        });
        // A refused item was sent as zero, so that its result is zero and passes the check.
        let positions =
            range.zip(wrong).filter(|&(position, &wrong)| wrong != 0 && self.answers[position].is_none());
        self.wrong.extend(positions.map(|(position, _)| position).collect::<Vec<_>>());
    }
}
