//! The steps of a call: each item becomes a block, the operation maps blocks to blocks, and each block
//! becomes an answer. A block is a big-endian number below the modulus, as long as the modulus.

use crate::keys::Keys;
use crate::rows::Kind;
use crate::{Error, ItemError};
use modmill::hazmat::Blocks;
use modmill::{Batch, Engine};

/// Writes the block of an item: the index of the item, its key, its block.
pub(crate) type Encode<'a, K> = dyn Fn(usize, &K, &mut [u8]) -> Result<(), Refusal> + Sync + 'a;

/// Finds the bytes of an answer in a block, which it may overwrite: the index of the item, its key, its
/// block.
pub(crate) type Decode<'a, K> =
    dyn for<'b> Fn(usize, &K, &'b mut [u8]) -> Result<&'b [u8], ItemError> + Sync + 'a;

/// The decoding of answers that are as long as their blocks.
pub(crate) fn whole<'b, K>(_: usize, _: &K, block: &'b mut [u8]) -> Result<&'b [u8], ItemError> {
    Ok(block)
}

/// A function as a [`Decode`]: the compiler does not see by itself that it serves blocks of every lifetime.
pub(crate) fn decoding<K, F>(decode: F) -> F
where
    F: for<'b> Fn(usize, &K, &'b mut [u8]) -> Result<&'b [u8], ItemError> + Sync,
{
    decode
}

/// The steps of a call with keys of type `K`.
pub(crate) struct Steps<'a, K> {
    /// Writes the block of an item.
    pub(crate) encode: &'a Encode<'a, K>,
    /// Maps blocks to blocks.
    pub(crate) operation: &'a dyn Operation<K>,
    /// Finds the answer of an item in its block.
    pub(crate) decode: &'a Decode<'a, K>,
    /// The readers of the answers.
    pub(crate) kind: Kind,
}

/// The reason why an item has no block: an error of this item, or an error that ends the call.
pub(crate) enum Refusal {
    Item(ItemError),
    Call(Error),
}

impl Refusal {
    /// The error, if it ends the call; `keep` is told that of an item.
    pub(crate) fn of_call(self, keep: impl FnOnce(ItemError)) -> Option<Error> {
        match self {
            Self::Call(error) => return Some(error),
            Self::Item(error) => keep(error),
        }
        None
    }
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
