//! Answers in one piece of memory.

use crate::ItemError;
use modmill::{Spare, try_vector};
use zeroize::{Zeroize, Zeroizing};

/// Memory of dropped rows, from a megabyte to half a gigabyte. It is not cleared: what it held was public,
/// and an answer is read only as far as it was written.
static PUBLIC: Spare<u8> = Spare::new(1 << 20, 1 << 29);

/// The form of a call's answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Values of their own, without a row of bytes.
    Values,
    /// Bytes that anybody may see.
    Public,
    /// Bytes that are cleared when they are dropped.
    Secret,
}

/// The form in which bytes are handed back.
pub(crate) trait Form {
    type Answer: Send;
    const KIND: Kind;

    /// The answer of an item from its bytes, which may go to its row.
    fn answer(octets: &[u8], row: &mut [u8]) -> Self::Answer;
}

/// A vector for each item.
pub(crate) struct Vectors;

impl Form for Vectors {
    type Answer = Vec<u8>;
    const KIND: Kind = Kind::Values;

    fn answer(octets: &[u8], _: &mut [u8]) -> Vec<u8> {
        octets.to_vec()
    }
}

/// A vector for each item, which is cleared when it is dropped.
pub(crate) struct SecretVectors;

impl Form for SecretVectors {
    type Answer = Zeroizing<Vec<u8>>;
    const KIND: Kind = Kind::Values;

    fn answer(octets: &[u8], _: &mut [u8]) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(octets.to_vec())
    }
}

/// Rows, which are cleared when they are dropped if `SECRET`. The answer is the number of bytes.
pub(crate) struct InRows<const SECRET: bool>;

impl<const SECRET: bool> Form for InRows<SECRET> {
    type Answer = usize;
    const KIND: Kind = if SECRET { Kind::Secret } else { Kind::Public };

    fn answer(octets: &[u8], row: &mut [u8]) -> usize {
        row[..octets.len()].copy_from_slice(octets);
        octets.len()
    }
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
        let row = if kind == Kind::Values { 1 } else { longest.max(1) };
        let octets = match kind {
            Kind::Public => PUBLIC.try_take(count * row)?,
            Kind::Values | Kind::Secret => try_vector(count * row)?,
        };
        Ok(Self { octets, row, is_secret: kind == Kind::Secret })
    }

    /// The bytes of all rows, and the length of a row.
    pub(crate) fn rows(&mut self) -> (&mut [u8], usize) {
        (&mut self.octets, self.row)
    }

    /// The row of an item.
    pub(crate) fn row(&self, item: usize) -> &[u8] {
        &self.octets[item * self.row..][..self.row]
    }

    /// Copies a row to the row of an item. The longer one of the two ends with bytes that nobody reads.
    pub(crate) fn copy_row(&mut self, item: usize, from: &[u8]) {
        let len = self.row.min(from.len());
        self.octets[item * self.row..][..len].copy_from_slice(&from[..len]);
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
    pub(crate) fn new((lengths, memory): (Vec<Result<usize, ItemError>>, Memory)) -> Self {
        Self { memory, lengths }
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
