//! Answers in one piece of memory.

use crate::ItemError;
use modmill::Engine;
use modmill::memory::{Spare, try_vector};
use modmill::threads::{Share, install_if};
use rayon::prelude::*;
use std::ops::Range;
use std::slice::ChunksExactMut;
use zeroize::{Zeroize, Zeroizing};

/// Memory of dropped rows, from a megabyte to half a gigabyte. It is not cleared: what it held was public,
/// and an answer is read only as far as it was written.
static PUBLIC: Spare<u8> = Spare::new(1 << 20, 1 << 29);

/// The least number of items that a thread takes at a time, so that it has microseconds of hashing to do.
pub(crate) const GRAIN: usize = 32;

/// The answer or the error of every item, in the order of the call.
pub type Answers<T> = Vec<Result<T, ItemError>>;

/// The readers of the answers of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They have no bytes.
    Verdicts,
    /// Anybody.
    Public,
    /// Nobody but the caller: they are cleared when they are dropped.
    Secret,
}

/// One row of bytes for each item of a call.
pub(crate) struct Memory {
    octets: Vec<u8>,
    row: usize,
    is_secret: bool,
}

impl Memory {
    /// Rows for `count` answers of at most `longest` bytes each.
    pub(crate) fn new(kind: Kind, longest: usize, count: usize) -> Result<Self, modmill::Error> {
        // Items without bytes have a row too, of one byte.
        let row = if kind == Kind::Verdicts { 1 } else { longest.max(1) };
        let octets = match kind {
            Kind::Public => PUBLIC.try_take(count * row)?,
            Kind::Verdicts | Kind::Secret => try_vector(count * row)?,
        };
        Ok(Self { octets, row, is_secret: kind == Kind::Secret })
    }

    /// The rows of some items.
    pub(crate) fn rows_mut(&mut self, items: Range<usize>) -> ChunksExactMut<'_, u8> {
        self.octets[self.row * items.start..self.row * items.end].chunks_exact_mut(self.row)
    }

    /// The row of an item.
    fn row(&self, item: usize) -> &[u8] {
        &self.octets[item * self.row..][..self.row]
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.is_secret {
            self.octets.zeroize();
        } else {
            PUBLIC.keep(std::mem::take(&mut self.octets));
        }
    }
}

/// The bytes or the error of every item, in the order of the call, in one piece of memory.
///
/// A large batch is answered faster in this form than with a vector for each item. Messages are cleared when
/// this is dropped.
///
/// ```
/// use modmill::Engine;
/// use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
///
/// let engine = Engine::new()?;
/// let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
/// let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
/// let signatures = Rsa::new(&engine).sign_rows(&key, scheme, &["first", "second"])?;
/// assert_eq!(signatures.len(), 2);
/// assert_eq!(signatures.get(1).map(<[u8]>::len), Ok(128));
/// # Ok::<(), modmill_rsa::Error>(())
/// ```
pub struct Rows {
    memory: Memory,
    /// The length of each answer.
    lengths: Vec<Result<usize, ItemError>>,
}

impl Rows {
    pub(crate) fn new(lengths: Vec<Result<usize, ItemError>>, memory: Memory) -> Self {
        Self { memory, lengths }
    }

    /// Copies the answers of some items. `place` gives the index here of an item there.
    pub(crate) fn put(&mut self, place: impl Fn(usize) -> usize, some: &Self) {
        for (position, answer) in some.iter().enumerate() {
            let item = place(position);
            self.lengths[item] = answer.map(<[u8]>::len).map_err(|error| *error);
            if let Ok(octets) = answer {
                self.memory.octets[item * self.memory.row..][..octets.len()].copy_from_slice(octets);
            }
        }
    }

    /// A value or the error of every item, made of its bytes. The engine's threads share many items.
    pub(crate) fn each<T: Send>(&self, engine: &Engine, make: impl Fn(&[u8]) -> T + Sync) -> Answers<T> {
        let answer = |item: usize| self.get(item).map(&make).map_err(|error| *error);
        let items = (0..self.len()).into_par_iter().with_min_len(GRAIN).map(answer);
        install_if(engine, self.len() > GRAIN, || items.list())
    }

    /// A vector for each item.
    pub(crate) fn vectors(&self, engine: &Engine) -> Answers<Vec<u8>> {
        self.each(engine, <[u8]>::to_vec)
    }

    /// A vector for each item, which is cleared when it is dropped.
    pub(crate) fn secrets(&self, engine: &Engine) -> Answers<Zeroizing<Vec<u8>>> {
        self.each(engine, |octets| Zeroizing::new(octets.to_vec()))
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The bytes or the error of an item.
    ///
    /// # Panics
    /// If there are not that many items.
    pub fn get(&self, item: usize) -> Result<&[u8], &ItemError> {
        self.lengths[item].as_ref().map(|&len| &self.memory.row(item)[..len])
    }

    /// The bytes or the errors of all items in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<&[u8], &ItemError>> {
        (0..self.len()).map(|item| self.get(item))
    }
}
