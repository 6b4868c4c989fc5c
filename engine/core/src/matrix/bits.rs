//! Vectors of bits.

use super::vectors::zero_words;
use crate::error::Error;
use std::fmt;
use zeroize::Zeroize;

/// Vectors of zeros and ones of the same length, which may be secret. Bit i of a vector is bit `i mod 32` of
/// its word `i / 32`; bits beyond the length are zero. Cleared when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct BitVectors {
    count: usize,
    length: usize,
    words: Vec<u32>,
}

impl BitVectors {
    /// `count` vectors of `length` zeros.
    pub fn zeros(count: usize, length: usize) -> Result<Self, Error> {
        let words = count.checked_mul(length.div_ceil(32)).filter(|&words| words <= isize::MAX as usize / 8);
        let words = zero_words(words.ok_or(Error::no_memory(usize::MAX))?)?;
        Ok(Self { count, length, words })
    }

    /// Vectors whose words come from `fill`, which gets them all at once; bits beyond the length are cleared.
    pub fn filled<E: From<Error>>(
        count: usize,
        length: usize,
        fill: impl FnOnce(&mut [u32]) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut vectors = Self::zeros(count, length)?;
        fill(&mut vectors.words)?;
        if !length.is_multiple_of(32) {
            let last = vectors.words.chunks_mut(length.div_ceil(32)).filter_map(<[u32]>::last_mut);
            last.for_each(|word| *word &= (1 << (length % 32)) - 1);
        }
        Ok(vectors)
    }

    /// The number of vectors.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The bits of a vector.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// The words of a vector.
    #[must_use]
    pub fn vector(&self, vector: usize) -> &[u32] {
        let words = self.length.div_ceil(32);
        &self.words[vector * words..][..words]
    }

    /// All words, vector after vector.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.words
    }

    /// Bit `index` of a vector.
    #[must_use]
    pub fn get(&self, vector: usize, index: usize) -> bool {
        self.vector(vector)[index / 32] >> (index % 32) & 1 == 1
    }

    /// Sets bit `index` of a vector to one.
    pub fn set(&mut self, vector: usize, index: usize) {
        assert!(index < self.length, "bit {index} of {}", self.length);
        let words = self.length.div_ceil(32);
        self.words[vector * words + index / 32] |= 1 << (index % 32);
    }
}

impl Drop for BitVectors {
    fn drop(&mut self) {
        self.words.zeroize();
    }
}

impl fmt::Debug for BitVectors {
    /// Shows the shape and never the values, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BitVectors({} x {} bits)", self.count, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_length_are_cleared() {
        let fill = |words: &mut [u32]| -> Result<(), Error> {
            words.fill(u32::MAX);
            Ok(())
        };
        let vectors = BitVectors::filled(2, 33, fill).unwrap();
        assert_eq!(vectors.as_slice(), [u32::MAX, 1, u32::MAX, 1]);
        assert!(vectors.get(1, 32));
        let mut zeros = BitVectors::zeros(2, 33).unwrap();
        zeros.set(1, 32);
        assert_eq!(zeros.as_slice(), [0, 0, 0, 1]);
        assert!(BitVectors::zeros(usize::MAX, 64).is_err());
    }
}
