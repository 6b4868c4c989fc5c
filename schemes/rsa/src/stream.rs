//! The blocks of a group on their way to a device and back. All threads encode the items of one chunk, and
//! decode those of another, while the device computes the chunks between. Where no device computes, the
//! operation on numbers takes all blocks as one chunk.

use crate::groups::Items;
use crate::keys::{Key, Keys};
use crate::rows::{GRAIN, Memory, Rows};
use crate::steps::{Outcome, Steps};
use crate::{Error, ItemError, number};
use modmill::hazmat::Blocks;
use modmill::memory::try_vector;
use modmill::{Batch, Engine};
use rayon::prelude::*;
use std::ops::Range;
use zeroize::Zeroizing;

/// The length of an item's answer or its error, once it is known.
type Answer = Option<Result<usize, ItemError>>;

/// The items of a group, and the answers that are known so far.
pub(crate) struct Stream<'a, K> {
    steps: &'a Steps<'a, K>,
    engine: &'a Engine,
    keys: Keys<'a, K>,
    items: &'a Items,
    /// Length of the modulus in bits.
    bits: usize,
    answers: Vec<Answer>,
    rows: Memory,
    /// The first error that ends the call.
    failed: Option<Error>,
}

impl<'a, K: Key> Stream<'a, K> {
    pub(crate) fn new(
        steps: &'a Steps<'a, K>,
        engine: &'a Engine,
        keys: Keys<'a, K>,
        bits: usize,
        items: &'a Items,
    ) -> Result<Self, modmill::Error> {
        let (mut answers, bytes) = (Vec::new(), items.len().saturating_mul(size_of::<Answer>()));
        answers.try_reserve_exact(items.len()).map_err(|_| modmill::Error::no_memory(bytes))?;
        let rows = Memory::new(steps.kind, bits.div_ceil(8), items.len())?;
        Ok(Self { steps, engine, keys, items, bits, answers, rows, failed: None })
    }

    /// Length of a block in bytes: that of the modulus, rounded up to whole limbs.
    fn stride(&self) -> usize {
        8 * self.bits.div_ceil(64)
    }

    /// The positions of items without an answer.
    pub(crate) fn open(&self) -> Vec<usize> {
        (0..self.answers.len()).filter(|&position| self.answers[position].is_none()).collect()
    }

    /// The answers with their rows. An item that has none has failed its check.
    pub(crate) fn finish(self) -> Result<Rows, Error> {
        let lengths = self.answers.into_iter().map(|answer| answer.unwrap_or(Err(ItemError::Fault)));
        self.failed.map_or_else(|| Ok(Rows::new(lengths.collect(), self.rows)), Err)
    }

    /// Computes all items by single operations of the engine. Answers that were taken from a device do not
    /// count: it failed later.
    pub(crate) fn by_numbers(&mut self) -> Result<(), Error> {
        let (count, stride) = (self.items.len(), self.stride());
        self.answers.clear();
        let mut blocks = Zeroizing::new(try_vector(count * stride)?);
        self.fill(0..count, &mut blocks);
        // The items that were not refused.
        let open = self.open();
        if self.failed.is_some() || open.is_empty() {
            return Ok(());
        }
        let mut inputs = Batch::try_zeros(self.bits, open.len())?;
        for (index, position) in open.iter().enumerate() {
            number::copy_be_bytes(&blocks[position * stride..][..stride], inputs.get_mut(index));
        }
        let keys: Vec<&K> = open.iter().map(|&position| self.keys.get(self.items.get(position))).collect();
        let Outcome { outputs, faults } = self.steps.operation.on_numbers(self.engine, &keys, &inputs)?;
        for (position, output) in open.iter().zip(outputs.iter()) {
            number::write_be_bytes(output, &mut blocks[position * stride..][..stride]);
        }
        let mut wrong = vec![0; count];
        faults.into_iter().for_each(|index| wrong[open[index]] = 1);
        self.take(0..count, &mut blocks, &wrong);
        Ok(())
    }
}

impl<K: Key> Blocks for Stream<'_, K> {
    fn fill(&mut self, range: Range<usize>, blocks: &mut [u8]) {
        let (stride, front) = (self.stride(), self.stride() - self.bits.div_ceil(8));
        let Self { steps, keys, items, .. } = *self;
        if self.failed.is_some() {
            blocks.fill(0);
            return;
        }
        // The answers of a chunk are made here, while the device computes another chunk. Devices ask for
        // their chunks in any order.
        if self.answers.len() < range.end {
            self.answers.resize_with(range.end, || None);
        }
        let fill = |offset: usize, block: &mut [u8], answer: &mut Answer| {
            let item = items.get(range.start + offset);
            block[..front].fill(0);
            let refusal = (steps.encode)(item, keys.get(item), &mut block[front..]).err()?;
            // A refused item is sent as zero, so that its result is zero and passes the check.
            block.fill(0);
            refusal.of_call(|error| *answer = Some(Err(error)))
        };
        self.failed = each_block(self.engine, (blocks, stride), &mut self.answers[range.clone()], fill);
    }

    fn take(&mut self, range: Range<usize>, blocks: &mut [u8], wrong: &[u32]) {
        let (stride, front) = (self.stride(), self.stride() - self.bits.div_ceil(8));
        let Self { steps, keys, items, engine, .. } = *self;
        if self.failed.is_some() {
            return;
        }
        let take = |offset: usize, block: &mut [u8], (answer, row): &mut (&mut Answer, &mut [u8])| {
            if answer.is_some() || wrong[offset] != 0 {
                return None;
            }
            let item = items.get(range.start + offset);
            let octets = (steps.decode)(item, keys.get(item), &mut block[front..]);
            **answer = Some(octets.map(|octets| {
                row[..octets.len()].copy_from_slice(octets);
                octets.len()
            }));
            None
        };
        let answers = self.answers[range.clone()].iter_mut();
        let mut places: Vec<_> = answers.zip(self.rows.rows_mut(range.clone())).collect();
        self.failed = each_block(engine, (blocks, stride), &mut places, take);
    }
}

/// Applies `work` to the index, the block of `size` bytes and the place of every item, on the engine's
/// threads if there are many items. Returns the first error.
pub(crate) fn each_block<P: Send>(
    engine: &Engine,
    (blocks, size): (&mut [u8], usize),
    places: &mut [P],
    work: impl Fn(usize, &mut [u8], &mut P) -> Option<Error> + Sync,
) -> Option<Error> {
    if engine.threads() == 1 || places.len() <= GRAIN {
        let mut items = blocks.chunks_exact_mut(size).zip(places).enumerate();
        return items.find_map(|(index, (block, place))| work(index, block, place));
    }
    engine.install(|| {
        let items = blocks.par_chunks_exact_mut(size).zip(places).enumerate().with_min_len(GRAIN);
        items.find_map_first(|(index, (block, place))| work(index, block, place))
    })
}
