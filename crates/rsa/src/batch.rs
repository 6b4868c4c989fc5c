//! Batches of items with one key or a key each: octet strings in, one operation on numbers of one
//! length at a time, octet strings out.

use crate::stream::Stream;
use crate::{Error, ItemError, PrivateKey, PublicKey};
use modmill::{Batch, Blocks, Engine, Offloaded};
use modmill_core::limbs;
use rayon::prelude::*;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// An answer or an error for every item, in order.
pub type Answers<T> = Vec<Result<T, ItemError>>;

/// The keys of a call.
#[derive(Debug)]
pub enum Keys<'a, K> {
    /// One key for all items.
    One(&'a K),
    /// A key for each item. Items with the same key are best kept together.
    Each(&'a [&'a K]),
}

impl<K> Clone for Keys<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Keys<'_, K> {}

impl<'a, K> From<&'a K> for Keys<'a, K> {
    fn from(key: &'a K) -> Self {
        Self::One(key)
    }
}

impl<'a, K> From<&'a [&'a K]> for Keys<'a, K> {
    fn from(keys: &'a [&'a K]) -> Self {
        Self::Each(keys)
    }
}

impl<'a, K> Keys<'a, K> {
    /// The key of an item.
    #[must_use]
    pub fn get(&self, item: usize) -> &'a K {
        match self {
            Self::One(key) => key,
            Self::Each(keys) => keys[item],
        }
    }

    /// Whether something holds for every key; all threads look.
    pub(crate) fn all(&self, holds: impl Fn(&K) -> bool + Sync) -> bool
    where
        K: Sync,
    {
        match self {
            Self::One(key) => holds(key),
            Self::Each(keys) => keys.par_iter().with_min_len(1 << 12).all(|key| holds(key)),
        }
    }

    fn check(&self, count: usize) -> Result<(), Error> {
        match self {
            Self::Each(keys) => check_length("keys", count, keys.len()),
            Self::One(_) => Ok(()),
        }
    }
}

/// Whether an argument has as many items as the call.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::LengthMismatch { what, expected, found }) }
}

/// A key of either kind.
pub(crate) trait Key: Sync {
    fn public(&self) -> &PublicKey;
}

impl Key for PublicKey {
    fn public(&self) -> &PublicKey {
        self
    }
}

impl Key for PrivateKey {
    fn public(&self) -> &PublicKey {
        self.public_key()
    }
}

/// Why an item is not computed: an error of its own, or one that ends the call.
pub(crate) enum Refusal {
    Item(ItemError),
    Call(Error),
}

impl From<ItemError> for Refusal {
    fn from(error: ItemError) -> Self {
        Self::Item(error)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

/// Answers of an operation on numbers, and the items whose answers are wrong.
pub(crate) struct Outcome {
    pub(crate) outputs: Batch,
    pub(crate) faults: Vec<usize>,
}

/// An operation on the numbers of a batch.
pub(crate) trait Operation<K>: Sync {
    /// Step by step, on numbers of one length with a key each.
    fn on_numbers(&self, engine: &Engine, keys: &[&K], inputs: &Batch) -> Result<Outcome, Error>;

    /// As a whole, where the engine has it so, on blocks of octets; whether it was done.
    fn on_blocks(
        &self,
        engine: &Engine,
        keys: Keys<'_, K>,
        count: usize,
        blocks: &mut (dyn Blocks + Send),
    ) -> Result<Offloaded, Error>;
}

/// What a call does: a block as long as the modulus from an item, an operation on these, and an answer from a
/// block. Blocks may be overwritten.
pub(crate) struct Steps<Encode, Operate, Decode> {
    pub(crate) encode: Encode,
    pub(crate) operation: Operate,
    pub(crate) decode: Decode,
}

impl<Encode, Operate, Decode> Steps<Encode, Operate, Decode> {
    /// Answers all items in order. An item that cannot be answered costs no other its answer.
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
        let mut answers: Vec<Option<Result<T, ItemError>>> = Vec::new();
        let groups = by_length(keys, count);
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
        // Every item is in a group, and answered there.
        Ok(answers.into_iter().map(|answer| answer.unwrap_or(Err(ItemError::Fault))).collect())
    }

    /// Answers items with moduli of one length by the operation on numbers.
    fn by_steps<K: Key, T: Send>(
        &self,
        engine: &Engine,
        keys: Keys<'_, K>,
        bits: usize,
        mut items: Vec<usize>,
        answers: &mut [Option<Result<T, ItemError>>],
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
        // In rising order, as the items are.
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
            limbs::copy_be_bytes(block, inputs.get_mut(index));
        }
        let group_keys: Vec<&K> = items.iter().map(|&item| keys.get(item)).collect();
        let Outcome { outputs, faults } = self.operation.on_numbers(engine, &group_keys, &inputs)?;
        for (block, output) in octets.chunks_exact_mut(size).zip(outputs.iter()) {
            limbs::write_be_bytes(output, block);
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

/// Items of a call.
pub(crate) enum Items {
    All(usize),
    Some(Vec<usize>),
}

impl Items {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Some(items) => items.len(),
        }
    }

    pub(crate) fn get(&self, position: usize) -> usize {
        match self {
            Self::All(_) => position,
            Self::Some(items) => items[position],
        }
    }
}

/// Items by the length of their moduli: numbers of one length are computed together, since exponents are as
/// long as the longest.
fn by_length<K: Key>(keys: Keys<'_, K>, count: usize) -> BTreeMap<usize, Items> {
    if count == 0 {
        return BTreeMap::new();
    }
    let bits = keys.get(0).public().bits();
    if keys.all(|key| key.public().bits() == bits) {
        return BTreeMap::from([(bits, Items::All(count))]);
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for item in 0..count {
        groups.entry(keys.get(item).public().bits()).or_default().push(item);
    }
    groups.into_iter().map(|(bits, items)| (bits, Items::Some(items))).collect()
}

/// Keeps some items and their blocks.
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

/// Items that one thread takes at a time: some microseconds of hashing at least.
pub(crate) const GRAIN: usize = 32;

/// Applies `work` to items and their blocks, on the engine's threads if there are many.
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
