//! Batches of items with one key or a key each: octet strings in, one operation on numbers of one
//! length at a time, octet strings out.

use crate::{Error, ItemError, PrivateKey, PublicKey};
use modmill::{Batch, Engine};
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

/// What a call does: a block as long as the modulus from an item, an operation on these as numbers, and
/// an answer from a block. Blocks may be overwritten.
pub(crate) struct Steps<Encode, Operate, Decode> {
    pub(crate) encode: Encode,
    pub(crate) operate: Operate,
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
        Operate: Fn(&[&K], &Batch) -> Result<Outcome, Error> + Sync,
        Decode: Fn(usize, &K, &mut [u8]) -> Result<T, ItemError> + Sync,
    {
        keys.check(count)?;
        // Numbers of one length are computed together: exponents are as long as the longest.
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for item in 0..count {
            groups.entry(keys.get(item).public().bits()).or_default().push(item);
        }
        let mut answers: Vec<Option<Result<T, ItemError>>> = (0..count).map(|_| None).collect();
        for (bits, mut items) in groups {
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
                continue;
            }
            let mut inputs = Batch::zeros(bits, items.len());
            for (index, block) in octets.chunks_exact(size).enumerate() {
                limbs::copy_be_bytes(block, inputs.get_mut(index));
            }
            let group_keys: Vec<&K> = items.iter().map(|&item| keys.get(item)).collect();
            let Outcome { outputs, faults } = (self.operate)(&group_keys, &inputs)?;
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
        }
        // Every item is in a group, and answered there.
        Ok(answers.into_iter().map(|answer| answer.unwrap_or(Err(ItemError::Fault))).collect())
    }
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
const GRAIN: usize = 32;

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
