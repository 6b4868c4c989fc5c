//! The messages, digests or signatures of a call: one byte string per item.

use crate::hash::Digest;
use crate::{ItemError, SignatureScheme};

/// One byte string per item.
///
/// The public methods take slices of anything that has bytes. Behind this trait the work is compiled once,
/// not once for each type that a caller uses.
pub(crate) trait Strings: Sync {
    /// The number of items.
    fn len(&self) -> usize;

    /// The byte string of item `item`.
    fn get(&self, item: usize) -> &[u8];
}

impl<T: AsRef<[u8]> + Sync> Strings for &[T] {
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn get(&self, item: usize) -> &[u8] {
        self[item].as_ref()
    }
}

/// The messages of signatures, or their digests.
#[derive(Clone, Copy)]
pub(crate) enum Signed<'a> {
    /// Messages, which are hashed here.
    Messages(&'a dyn Strings),
    /// Digests of messages.
    Digests(&'a dyn Strings),
}

impl Signed<'_> {
    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        let (Self::Messages(strings) | Self::Digests(strings)) = self;
        strings.len()
    }

    /// The digest of item `item` by the hash of `scheme`. A digest of another length is refused.
    pub(crate) fn digest(&self, scheme: SignatureScheme, item: usize) -> Result<Digest, ItemError> {
        match self {
            Self::Messages(messages) => Ok(scheme.hash().digest(&[messages.get(item)])),
            Self::Digests(digests) => scheme.read_digest(digests.get(item)),
        }
    }
}
