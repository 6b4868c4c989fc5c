//! The bytes of a body as they come.

use bytes::Bytes;
use zeroize::Zeroizing;

/// The bytes of a body. Small bodies come in one piece, which is not copied.
pub(super) enum Octets {
    One(Bytes),
    Many(Zeroizing<Vec<u8>>),
}

impl Default for Octets {
    fn default() -> Self {
        Self::One(Bytes::new())
    }
}

impl Octets {
    pub(super) fn as_slice(&self) -> &[u8] {
        match self {
            Self::One(octets) => octets,
            Self::Many(octets) => octets,
        }
    }

    /// The memory that these bytes and `more` take. Memory that grows is doubled, and has no more than
    /// `longest` bytes, unless more are there.
    pub(super) fn needed(&self, more: usize, longest: usize) -> usize {
        let length = self.as_slice().len() + more;
        match self {
            Self::One(octets) if octets.is_empty() => length,
            Self::Many(octets) if octets.capacity() >= length => octets.capacity(),
            _ => (2 * length).min(longest).max(length),
        }
    }

    /// Adds `data`. `needed` is what [`Octets::needed`] said of it.
    pub(super) fn add(&mut self, data: Bytes, needed: usize) {
        match self {
            Self::One(octets) if octets.is_empty() => *self = Self::One(data),
            Self::Many(octets) if octets.capacity() - octets.len() >= data.len() => {
                octets.extend_from_slice(&data);
            }
            // Memory that grows by itself leaves copies behind that are not cleared.
            _ => {
                let mut octets = Zeroizing::new(Vec::with_capacity(needed));
                octets.extend_from_slice(self.as_slice());
                octets.extend_from_slice(&data);
                *self = Self::Many(octets);
            }
        }
    }
}
