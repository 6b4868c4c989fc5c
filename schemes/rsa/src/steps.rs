//! The steps of a call: each item becomes a block, the operation maps blocks to blocks, and each block
//! becomes an answer. A block is a big-endian number below the modulus, as long as the modulus.

use crate::keys::Keys;
use crate::rows::Kind;
use crate::{Error, ItemError};
use modmill::hazmat::Blocks;
use modmill::{Batch, Engine};

/// The answer or the error of every item, in the order of the call.
pub type Answers<T> = Vec<Result<T, ItemError>>;

/// The answer of an item, once it is known.
pub(crate) type Answer<T> = Option<Result<T, ItemError>>;

/// Writes the block of an item: the index of the item, its key, its block.
pub(crate) type Encode<'a, K> = dyn Fn(usize, &K, &mut [u8]) -> Result<(), Refusal> + Sync + 'a;

/// Reads the answer of an item: the index of the item, its key, its block, its row.
pub(crate) type Decode<'a, K, T> =
    dyn Fn(usize, &K, &mut [u8], &mut [u8]) -> Result<T, ItemError> + Sync + 'a;

/// The steps of a call with keys of type `K` and answers of type `T`.
pub(crate) struct Steps<'a, K, T> {
    /// Writes the block of an item.
    pub(crate) encode: &'a Encode<'a, K>,
    /// Maps blocks to blocks.
    pub(crate) operation: &'a dyn Operation<K>,
    /// Reads the answer of an item from its block, which it may overwrite. The bytes of the answer may go to
    /// the row of the item, which is as long as the block or longer.
    pub(crate) decode: &'a Decode<'a, K, T>,
    /// The form of the answers.
    pub(crate) kind: Kind,
}

/// The reason why an item has no block: an error of this item, or an error that ends the call.
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

/// The results of an operation on numbers.
pub(crate) struct Outcome {
    pub(crate) outputs: Batch,
    /// The indices of items whose results failed their check.
    pub(crate) faults: Vec<usize>,
}

/// An operation on the numbers of a batch.
pub(crate) trait Operation<K>: Sync {
    /// Computes the operation by single batch operations of the engine. `inputs` has one number per key, and
    /// all moduli have the same length.
    fn on_numbers(&self, engine: &Engine, keys: &[&K], inputs: &Batch) -> Result<Outcome, Error>;

    /// Computes the operation on `count` blocks by one call of the engine. Returns whether the engine did: no
    /// block is asked for if its plan is another.
    fn on_blocks(
        &self,
        engine: &Engine,
        keys: Keys<'_, K>,
        count: usize,
        blocks: &mut (dyn Blocks + Send),
    ) -> Result<bool, Error>;
}

/// Items of a call that are computed together.
pub(crate) enum Items {
    /// Every item of a call with this many items.
    All(usize),
    /// The items with these indices, in rising order.
    Some(Vec<usize>),
}

impl Items {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Some(items) => items.len(),
        }
    }

    /// The index in the call of the item at `position`.
    pub(crate) fn get(&self, position: usize) -> usize {
        match self {
            Self::All(_) => position,
            Self::Some(items) => items[position],
        }
    }
}

/// The least number of items that a thread takes at a time, so that it has microseconds of hashing to do.
pub(crate) const GRAIN: usize = 32;
