//! Running the steps of a call: items are grouped by the length of their moduli, and each group is computed
//! by a device as a whole, or by single operations of the engine.

use crate::keys::{Key, Keys};
use crate::number;
use crate::rows::{Kind, Memory};
use crate::steps::{Answer, Answers, GRAIN, Items, Outcome, Refusal, Steps};
use crate::stream::Stream;
use crate::{Error, ItemError};
use modmill::{Batch, Engine, try_vector};
use rayon::prelude::*;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

impl<K: Key, T: Send> Steps<'_, K, T> {
    /// Answers `count` items in order, with their rows. An item without an answer does not affect the others.
    pub(crate) fn run(
        &self,
        engine: &Engine,
        keys: Keys<'_, K>,
        count: usize,
    ) -> Result<(Answers<T>, Memory), Error> {
        keys.check(count)?;
        let mut answers: Vec<Answer<T>> = Vec::new();
        let groups = by_length(engine, keys, count);
        let is_one = groups.len() == 1;
        let longest = groups.last_key_value().map_or(0, |(bits, _)| bits.div_ceil(8));
        let mut rows = Memory::new(self.kind, longest, if is_one { 0 } else { count })?;
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
            let is_done = self.operation.on_blocks(engine, its_keys, items.len(), &mut stream)?;
            let (of_group, group_rows, again) = stream.finish(is_done)?;
            match is_one {
                true => (answers, rows) = (of_group, group_rows),
                false => {
                    for (position, answer) in of_group.into_iter().enumerate() {
                        answers[items.get(position)] = answer;
                        rows.copy_row(items.get(position), group_rows.row(position));
                    }
                }
            }
            self.by_steps(engine, keys, bits, again, (&mut answers, &mut rows))?;
        }
        // Every item belongs to a group, and every group answers its items.
        let answers = answers.into_iter().map(|answer| answer.unwrap_or(Err(ItemError::Fault))).collect();
        Ok((answers, rows))
    }

    /// Answers `items`, whose moduli have `bits` bits, by single operations of the engine.
    fn by_steps(
        &self,
        engine: &Engine,
        keys: Keys<'_, K>,
        bits: usize,
        mut items: Vec<usize>,
        (answers, rows): (&mut [Answer<T>], &mut Memory),
    ) -> Result<(), Error> {
        let size = bits.div_ceil(8);
        let mut octets = Zeroizing::new(try_vector(items.len() * size)?);
        let mut none = Memory::new(Kind::Values, size, items.len())?;
        let encoded = map_blocks(engine, &items, (&mut octets, size), &mut none, |item, block, _| {
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
        let mut inputs = Batch::try_zeros(bits, items.len())?;
        for (index, block) in octets.chunks_exact(size).enumerate() {
            number::copy_be_bytes(block, inputs.get_mut(index));
        }
        let group_keys: Vec<&K> = items.iter().map(|&item| keys.get(item)).collect();
        let Outcome { outputs, faults } = self.operation.on_numbers(engine, &group_keys, &inputs)?;
        for (block, output) in octets.chunks_exact_mut(size).zip(outputs.iter()) {
            number::write_be_bytes(output, block);
        }
        let mut decoded_rows = Memory::new(self.kind, size, items.len())?;
        let decoded =
            map_blocks(engine, &items, (&mut octets, size), &mut decoded_rows, |item, block, row| {
                (self.decode)(item, keys.get(item), block, row)
            });
        for (index, (&item, answer)) in items.iter().zip(decoded).enumerate() {
            answers[item] = Some(answer);
            rows.copy_row(item, decoded_rows.row(index));
        }
        for index in faults {
            answers[items[index]] = Some(Err(ItemError::Fault));
        }
        Ok(())
    }
}

/// Groups items by the length of their moduli in bits. All exponents of a batch are as long as its longest,
/// so that short keys would cost as much as the longest key of their batch.
pub(crate) fn by_length<K: Key>(engine: &Engine, keys: Keys<'_, K>, count: usize) -> BTreeMap<usize, Items> {
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

/// Applies `work` to every item, its block of `size` bytes and its row, on the engine's threads if there are
/// many items.
pub(crate) fn map_blocks<T: Send>(
    engine: &Engine,
    items: &[usize],
    (octets, size): (&mut [u8], usize),
    rows: &mut Memory,
    work: impl Fn(usize, &mut [u8], &mut [u8]) -> T + Sync,
) -> Vec<T> {
    let (rows, row) = rows.rows();
    if engine.threads() == 1 || items.len() <= GRAIN {
        return items
            .iter()
            .zip(octets.chunks_exact_mut(size).zip(rows.chunks_exact_mut(row)))
            .map(|(&item, (block, row))| work(item, block, row))
            .collect();
    }
    engine.install(|| {
        let blocks = octets.par_chunks_exact_mut(size).zip(rows.par_chunks_exact_mut(row));
        let pairs = items.par_iter().zip(blocks).with_min_len(GRAIN);
        pairs.map(|(&item, (block, row))| work(item, block, row)).collect()
    })
}
