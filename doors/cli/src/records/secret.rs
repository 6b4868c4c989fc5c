//! Bytes that are zeroized on drop as fast as memory can be written.

use std::ops::{Deref, DerefMut};
use zeroize::{ZeroizeOnDrop, optimization_barrier};

/// Bytes that may be secret. All of their memory is zeroized on drop, at the speed of `memset`: a `Zeroizing`
/// vector writes byte by byte, which takes as long as parsing.
///
/// Memory that is outgrown is not zeroized. Whoever makes bytes asks for all the room that they need.
#[derive(Default, PartialEq, Eq)]
pub(super) struct SecretOctets(Vec<u8>);

impl SecretOctets {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    pub(super) fn zeros(length: usize) -> Self {
        Self(vec![0; length])
    }

    /// The room that is left.
    pub(super) fn room(&self) -> usize {
        self.0.capacity() - self.0.len()
    }
}

impl From<Vec<u8>> for SecretOctets {
    fn from(octets: Vec<u8>) -> Self {
        Self(octets)
    }
}

impl Deref for SecretOctets {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for SecretOctets {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl std::fmt::Debug for SecretOctets {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} octets", self.len())
    }
}

impl ZeroizeOnDrop for SecretOctets {}

impl Drop for SecretOctets {
    fn drop(&mut self) {
        // The whole capacity: bytes that were truncated are still there. It does not grow here.
        self.0.clear();
        self.0.resize(self.0.capacity(), 0);
        optimization_barrier(&self.0[..]);
    }
}
