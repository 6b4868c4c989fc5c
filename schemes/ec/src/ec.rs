//! The entry point, and how the items of a call are divided among threads.

use crate::{Curve, Error, ItemError, Keys};
use modmill::Engine;
use modmill::threads::{Share, install_if};
use rayon::prelude::*;
use std::ops::Range;

/// The answer or the error of every item, in the order of the call.
pub type Answers<T> = Vec<Result<T, ItemError>>;

/// The most items that share inversions. More would save little: an inversion is some hundred products, and
/// an item has 300 at least.
const BLOCK: usize = 64;

/// Operations on elliptic curves on the threads of an [`Engine`].
///
/// The operations are [`Ec::sign`], [`Ec::verify`] and [`Ec::derive`], for all curves, with one key or a key
/// for each item. Whatever depends on a private key or a nonce runs in constant time. Items are computed in
/// blocks that share inversions.
#[derive(Clone, Copy)]
pub struct Ec<'a> {
    pub(crate) engine: &'a Engine,
}

impl<'a> Ec<'a> {
    /// Elliptic curves on the threads of `engine`.
    #[must_use]
    pub fn new(engine: &'a Engine) -> Self {
        Self { engine }
    }

    /// Answers the items of each curve in blocks. `work` answers the items that a block lists.
    pub(crate) fn by_curve<K: HasCurve, T: Send>(
        &self,
        keys: Keys<'_, K>,
        count: usize,
        work: impl Fn(Curve, &[usize]) -> Answers<T> + Sync,
    ) -> Answers<T> {
        let all: Vec<usize> = (0..count).collect();
        if let Keys::One(key) = keys {
            return in_blocks(self.engine, count, |block| work(key.curve(), &all[block]));
        }
        let mut answers: Answers<T> = (0..count).map(|_| Err(ItemError::Fault)).collect();
        for curve in Curve::all() {
            let items: Vec<usize> =
                all.iter().copied().filter(|&item| keys.get(item).curve() == curve).collect();
            let of_curve = in_blocks(self.engine, items.len(), |block| work(curve, &items[block]));
            items.iter().zip(of_curve).for_each(|(&item, answer)| answers[item] = answer);
        }
        answers
    }
}

/// A key, whose curve says how it is used.
pub(crate) trait HasCurve: Sync {
    fn curve(&self) -> Curve;
}

/// Computes items in blocks, which the threads of the engine share, and joins what they answer.
pub(crate) fn in_blocks<T: Send>(
    engine: &Engine,
    count: usize,
    work: impl Fn(Range<usize>) -> Vec<T> + Sync,
) -> Vec<T> {
    let size = count.div_ceil(engine.threads()).clamp(1, BLOCK);
    let blocks = (0..count.div_ceil(size)).into_par_iter();
    let blocks = blocks.map(|block| work(block * size..count.min((block + 1) * size)));
    let answers: Vec<Vec<T>> = install_if(engine, count > 1, || blocks.list());
    answers.into_iter().flatten().collect()
}

/// Refuses an argument that has `found` entries in a call of `expected` items.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::LengthMismatch { what, expected, found }) }
}

/// Refuses a number of keys that differs from the number of items.
pub(crate) fn check_keys<K>(keys: Keys<'_, K>, count: usize) -> Result<(), Error> {
    match keys {
        Keys::Each(keys) => check_length("keys", count, keys.len()),
        Keys::One(_) => Ok(()),
    }
}
