//! Working memory of division steps: vectors, zeroized on drop.

use super::vector::Vector;
use crate::working_memory::clear_stack;

/// Numbers of one length, digit after digit, kept from one group of lanes to the next.
pub(crate) struct Space<V: Vector> {
    vectors: Vec<V>,
    token: V::Token,
}

impl<V: Vector> Space<V> {
    /// Empty memory.
    pub(crate) fn new(token: V::Token) -> Self {
        Self { vectors: Vec::new(), token }
    }

    /// The proof that the processor has the vectors.
    pub(crate) fn token(&self) -> V::Token {
        self.token
    }

    /// Memory for `len` vectors, with anything in it.
    pub(crate) fn take(&mut self, len: usize) -> &mut [V] {
        if self.vectors.len() < len {
            self.clear();
            self.vectors = vec![V::splat(self.token, 0); len];
        }
        &mut self.vectors[..len]
    }

    fn clear(&mut self) {
        use zeroize::Zeroize;
        V::words_mut(&mut self.vectors).zeroize();
    }
}

impl<V: Vector> Drop for Space<V> {
    fn drop(&mut self) {
        self.clear();
        clear_stack();
    }
}
