//! Operations that take bits one by one.

use crate::circuit::{Builder, Wire, Word};

impl Builder {
    /// The word with zeros above it up to `width` bits; a wider word as it is.
    pub fn extend(&mut self, word: &Word, width: usize) -> Word {
        let zero = self.constant(false);
        let zeros = width.saturating_sub(word.width());
        word.iter().copied().chain(std::iter::repeat_n(zero, zeros)).collect()
    }

    /// The complement of each bit.
    pub fn not_word(&mut self, a: &Word) -> Word {
        a.iter().map(|&a| self.not(a)).collect()
    }

    /// XOR of each bit; the shorter word gets zeros.
    pub fn xor_words(&mut self, a: &Word, b: &Word) -> Word {
        self.pairwise(a, b, Self::xor)
    }

    /// AND of each bit; the shorter word gets zeros.
    pub fn and_words(&mut self, a: &Word, b: &Word) -> Word {
        self.pairwise(a, b, Self::and)
    }

    /// OR of each bit; the shorter word gets zeros.
    pub fn or_words(&mut self, a: &Word, b: &Word) -> Word {
        self.pairwise(a, b, Self::or)
    }

    /// `a` if the condition is 1, `b` otherwise: the multiplexer, with one AND gate a bit. The shorter word
    /// gets zeros.
    pub fn select(&mut self, condition: Wire, a: &Word, b: &Word) -> Word {
        self.pairwise(a, b, |builder, a, b| {
            let difference = builder.xor(a, b);
            let change = builder.and(condition, difference);
            builder.xor(change, b)
        })
    }

    fn pairwise(&mut self, a: &Word, b: &Word, mut gate: impl FnMut(&mut Self, Wire, Wire) -> Wire) -> Word {
        let width = a.width().max(b.width());
        let (a, b) = (self.extend(a, width), self.extend(b, width));
        a.iter().zip(b.iter()).map(|(&a, &b)| gate(self, a, b)).collect()
    }
}
