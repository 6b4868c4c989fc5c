//! Working memory of the kernels: aligned, and zeroized on drop.

use std::ops::{Deref, DerefMut};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The alignment in words: a cache line, which is also one AVX-512 register.
const LINE: usize = 8;

/// Words that start on a 64-byte boundary and are zeroized on drop.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Rows {
    words: Vec<u64>,
    start: usize,
    len: usize,
}

impl Rows {
    /// `len` zero words.
    #[must_use]
    pub(crate) fn zeros(len: usize) -> Self {
        let words = vec![0; len + LINE - 1];
        // `align_offset` may refuse to answer. Alignment then affects the speed only.
        let start = words.as_ptr().align_offset(8 * LINE).min(LINE - 1);
        Self { words, start, len }
    }
}

impl Clone for Rows {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl Deref for Rows {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        &self.words[self.start..][..self.len]
    }
}

impl DerefMut for Rows {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.words[self.start..][..self.len]
    }
}

/// Words of the stack that [`clear_stack`] clears. The frames between a group of items and the conversion of
/// its limbs are shorter.
const STACK_WORDS: usize = 1024;

/// Clears the stack below the caller. Functions that convert limbs to digits leave limbs there, in vectors
/// for which the compiler had no register. A structure with a part that is not set, such as an empty
/// `Option`, would even take them along to the heap.
#[inline(never)]
pub(crate) fn clear_stack() {
    let mut words = [0u64; STACK_WORDS];
    std::hint::black_box(&mut words);
}

/// Clears the stack when it is dropped, with the working memory of a thread that it belongs to.
#[derive(Default)]
pub(crate) struct CleanStack;

impl Drop for CleanStack {
    fn drop(&mut self) {
        clear_stack();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_aligned_and_copies_too() {
        for len in [1, 7, 8, 100] {
            let mut rows = Rows::zeros(len);
            rows.fill(3);
            for rows in [&rows, &rows.clone()] {
                assert_eq!(rows.as_ptr() as usize % 64, 0);
                assert_eq!(&rows[..], vec![3; len]);
            }
        }
    }
}
