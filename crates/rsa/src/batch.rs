//! Running the steps of a call: items are grouped by the length of their moduli, and each group is computed by a
//! device as a whole, or by single operations of the engine.

use crate::keys::{Key, Keys};
use crate::number;
use crate::steps::{Answer, Answers, GRAIN, Items, Operation, Outcome, Refusal, Steps};
use crate::stream::Stream;
use crate::{Error, ItemError};
use modmill::{Batch, Engine};
use rayon::prelude::*;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

impl<Encode, Operate, Decode> Steps<Encode, Operate, Decode> {
    /// Answers `count` items in order. An item without an answer does not affect the others.
    pub(crate) fn run<K: Key, T: Send>(
        &self,
        engine: &Engine,
        keys: Keys<'_, K>,
        count: usize,
    ) -> Result<Answers<T>, Error>
    where
        Encode: Fn(usize, &K, &mut [u8]) -> Result<(), Refusal> + Sync,
        Operate: Operation<K>,
        Decode: Fn(usize, &K, &mut [u8]) -> Result<T, ItemError> + Sync,
    {
        keys.check(count)?;
        let mut answers: Vec<Answer<T>> = Vec::new();
        let groups = by_length(engine, keys, count);
        let is_one = groups.len() == 1;
        if !is_one {
            answers.resize_with(count, || None);
        }
        for (bits, items) in groups {
            let mut stream = Stream::new(self, engine, keys, bits, &items);
            let group_keys: Vec<&K>;
            let its_keys = match (&items, keys) {
                (Items::All(_), keys) => keys,
                (Items::Some(items), _) => {
                    group_keys = items.iter().map(|&item| keys.get(item)).collect();
                    Keys::Each(&group_keys)
                }
            };
            let done = self.operation.on_blocks(engine, its_keys, items.len(), &mut stream)?;
            let (of_group, again) = stream.finish(done)?;
            match is_one {
                true => answers = of_group,
                false => {
                    for (position, answer) in of_group.into_iter().enumerate() {
                        answers[items.get(position)] = answer;
                    }
                }
            }
            self.by_steps(engine, keys, bits, again, &mut answers)?;
        }
        // Every item belongs to a group, and every group answers its items.
        Ok(answers.into_iter().map(|answer| answer.unwrap_or(Err(ItemError::Fault))).collect())
    }

    /// Answers `items`, whose moduli have `bits` bits, by single operations of the engine.
    fn by_steps<K: Key, T: Send>(
        &self,
        engine: &Engine,
        keys: Keys<'_, K>,
        bits: usize,
        mut items: Vec<usize>,
        answers: &mut [Answer<T>],
    ) -> Result<(), Error>
    where
        Encode: Fn(usize, &K, &mut [u8]) -> Result<(), Refusal> + Sync,
        Operate: Operation<K>,
        Decode: Fn(usize, &K, &mut [u8]) -> Result<T, ItemError> + Sync,
    {
        let size = bits.div_ceil(8);
        let mut octets = Zeroizing::new(vec![0; items.len() * size]);
        let encoded = map_blocks(engine, &items, &mut octets, size, |item, block| {
            (self.encode)(item, keys.get(item), block)
        });
        // The indices rise, because those of the items do.
        let mut refused = Vec::new();
        for (&item, result) in items.iter().zip(encoded) {
            match result {
                Ok(()) => {}
                Err(Refusal::Call(error)) => return Err(error),
                Err(Refusal::Item(error)) => {
                    answers[item] = Some(Err(error));
                    refused.push(item);
                }
            }
        }
        if !refused.is_empty() {
            keep(&mut items, &mut octets, size, |item| refused.binary_search(&item).is_err());
        }
        if items.is_empty() {
            return Ok(());
        }
        let mut inputs = Batch::zeros(bits, items.len());
        for (index, block) in octets.chunks_exact(size).enumerate() {
            number::copy_be_bytes(block, inputs.get_mut(index));
        }
        let group_keys: Vec<&K> = items.iter().map(|&item| keys.get(item)).collect();
        let Outcome { outputs, faults } = self.operation.on_numbers(engine, &group_keys, &inputs)?;
        for (block, output) in octets.chunks_exact_mut(size).zip(outputs.iter()) {
            number::write_be_bytes(output, block);
        }
        let decoded = map_blocks(engine, &items, &mut octets, size, |item, block| {
            (self.decode)(item, keys.get(item), block)
        });
        for (&item, answer) in items.iter().zip(decoded) {
            answers[item] = Some(answer);
        }
        for index in faults {
            answers[items[index]] = Some(Err(ItemError::Fault));
        }
        Ok(())
    }
}

/// Groups items by the length of their moduli in bits. All exponents of a batch are as long as its longest, so
/// that short keys would cost as much as the longest key of their batch.
fn by_length<K: Key>(engine: &Engine, keys: Keys<'_, K>, count: usize) -> BTreeMap<usize, Items> {
    if count == 0 {
        return BTreeMap::new();
    }
    let bits = keys.get(0).public().bits();
    if keys.all(engine, |key| key.public().bits() == bits) {
        return BTreeMap::from([(bits, Items::All(count))]);
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for item in 0..count {
        groups.entry(keys.get(item).public().bits()).or_default().push(item);
    }
    groups.into_iter().map(|(bits, items)| (bits, Items::Some(items))).collect()
}

/// Drops the items that are not `wanted`, with their blocks of `size` bytes.
fn keep(items: &mut Vec<usize>, octets: &mut Vec<u8>, size: usize, wanted: impl Fn(usize) -> bool) {
    let mut kept = 0;
    for index in 0..items.len() {
        if wanted(items[index]) {
            octets.copy_within(index * size..(index + 1) * size, kept * size);
            items[kept] = items[index];
            kept += 1;
        }
    }
    items.truncate(kept);
    octets.truncate(kept * size);
}

/// Applies `work` to every item and its block of `size` bytes, on the engine's threads if there are many items.
fn map_blocks<T: Send>(
    engine: &Engine,
    items: &[usize],
    octets: &mut [u8],
    size: usize,
    work: impl Fn(usize, &mut [u8]) -> T + Sync,
) -> Vec<T> {
    if engine.threads() == 1 || items.len() <= GRAIN {
        return items
            .iter()
            .zip(octets.chunks_exact_mut(size))
            .map(|(&item, block)| work(item, block))
            .collect();
    }
    engine.install(|| {
        let pairs = items.par_iter().zip(octets.par_chunks_exact_mut(size)).with_min_len(GRAIN);
        pairs.map(|(&item, block)| work(item, block)).collect()
    })
}
