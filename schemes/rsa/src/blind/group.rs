//! Items of a call of the client whose moduli have the same length, as numbers.

use crate::groups::by_length;
use crate::keys::Keys;
use crate::number;
use crate::steps::Encode;
use crate::stream::each_block;
use crate::{Error, ItemError, PublicKey};
use modmill::memory::try_vector;
use modmill::{Batch, Engine, Modulus};
use zeroize::Zeroizing;

/// Items whose moduli have the same length.
pub(super) struct Group<'a> {
    engine: &'a Engine,
    bits: usize,
    /// The indices of the items in the call.
    pub(super) items: Vec<usize>,
    pub(super) keys: Vec<&'a PublicKey>,
    pub(super) moduli: Vec<&'a Modulus>,
    /// The first error of each item.
    errors: Vec<Option<ItemError>>,
}

impl<'a> Group<'a> {
    /// The groups of a call with `count` items.
    pub(super) fn all(
        engine: &'a Engine,
        keys: Keys<'a, PublicKey>,
        count: usize,
    ) -> Result<Vec<Self>, Error> {
        keys.check(count)?;
        let groups = by_length(engine, keys, count).into_iter().map(|(bits, items)| {
            let items: Vec<usize> = (0..items.len()).map(|position| items.get(position)).collect();
            let keys: Vec<&PublicKey> = items.iter().map(|&item| keys.get(item)).collect();
            let moduli = keys.iter().map(|key| key.modulus()).collect();
            Self { engine, bits, errors: vec![None; items.len()], items, keys, moduli }
        });
        Ok(groups.collect())
    }

    /// A number for each item, from the block that `write` writes. An item that is refused keeps its error,
    /// and its number is 1, which has an inverse modulo anything.
    pub(super) fn numbers(&mut self, write: &Encode<'_, PublicKey>) -> Result<Batch, Error> {
        let size = self.bits.div_ceil(8);
        let mut octets = Zeroizing::new(try_vector(self.items.len() * size)?);
        let mut refused: Vec<Option<ItemError>> = vec![None; self.items.len()];
        let write = |position: usize, block: &mut [u8], refused: &mut Option<ItemError>| {
            let refusal = write(self.items[position], self.keys[position], block).err()?;
            refusal.of_call(|error| *refused = Some(error))
        };
        if let Some(error) = each_block(self.engine, (&mut octets, size), &mut refused, write) {
            return Err(error);
        }
        let mut numbers = Batch::try_zeros(self.bits, self.items.len())?;
        for (position, (refused, block)) in refused.into_iter().zip(octets.chunks_exact(size)).enumerate() {
            match refused {
                None => number::copy_be_bytes(block, numbers.get_mut(position)),
                Some(error) => {
                    self.fail(position, error);
                    numbers.get_mut(position)[0] = 1;
                }
            }
        }
        Ok(numbers)
    }

    /// Notes an error of the item at `position`, unless it has one.
    pub(super) fn fail(&mut self, position: usize, error: ItemError) {
        self.errors[position].get_or_insert(error);
    }

    /// The answer of every item with its index in the call: its error, or what `read` says about its
    /// position.
    pub(super) fn answers<T>(
        &self,
        read: impl Fn(usize) -> T,
    ) -> impl Iterator<Item = (usize, Result<T, ItemError>)> {
        self.items.iter().enumerate().map(move |(position, &item)| {
            (item, self.errors[position].map_or_else(|| Ok(read(position)), Err))
        })
    }

    /// The bytes of a number, as long as the moduli.
    pub(super) fn octets(&self, number: &[u64]) -> Vec<u8> {
        let mut octets = vec![0; self.bits.div_ceil(8)];
        number::write_be_bytes(number, &mut octets);
        octets
    }
}
