//! Comparisons of words as numbers without sign.

use crate::circuit::{Builder, Wire, Word};

impl Builder {
    /// Whether `a` < `b`. Its depth is 1 + log2 of the width.
    pub fn less(&mut self, a: &Word, b: &Word) -> Wire {
        let width = a.width().max(b.width());
        let (a, b) = (self.extend(a, width), self.extend(b, width));
        // Of each piece of the words, from the lowest: whether a's is less than b's, and whether they are
        // equal.
        let mut pieces = Vec::with_capacity(width);
        for (&a, &b) in a.iter().zip(b.iter()) {
            let not_a = self.not(a);
            let differ = self.xor(a, b);
            pieces.push((self.and(not_a, b), self.not(differ)));
        }
        while pieces.len() > 1 {
            let joined = pieces.chunks(2).map(|pair| match *pair {
                [(low_less, low_equal), (high_less, high_equal)] => {
                    // At most one of the two summands is 1.
                    let by_low = self.and(high_equal, low_less);
                    (self.xor(high_less, by_low), self.and(high_equal, low_equal))
                }
                _ => pair[0],
            });
            pieces = joined.collect();
        }
        pieces.first().map(|piece| piece.0).unwrap_or_else(|| self.constant(false))
    }

    /// Whether `a` <= `b`.
    pub fn less_or_equal(&mut self, a: &Word, b: &Word) -> Wire {
        let greater = self.less(b, a);
        self.not(greater)
    }

    /// Whether `a` and `b` are equal. Its depth is log2 of the width.
    pub fn equal(&mut self, a: &Word, b: &Word) -> Wire {
        let difference = self.xor_words(a, b);
        let same = self.not_word(&difference);
        self.and_all(same.iter().copied())
    }

    /// Whether any bit is 1.
    pub fn is_not_zero(&mut self, a: &Word) -> Wire {
        let zeros = self.not_word(a);
        let is_zero = self.and_all(zeros.iter().copied());
        self.not(is_zero)
    }

    /// The greatest of the words, 0 for none: the winner of a tournament.
    pub fn maximum(&mut self, words: &[Word]) -> Word {
        self.tournament(words, |builder, a, b| builder.less(a, b))
    }

    /// The least of the words, 0 for none.
    pub fn minimum(&mut self, words: &[Word]) -> Word {
        self.tournament(words, |builder, a, b| builder.less(b, a))
    }

    /// The word that no other beats, as `beaten(a, b)` says whether b beats a.
    fn tournament(&mut self, words: &[Word], beaten: fn(&mut Self, &Word, &Word) -> Wire) -> Word {
        let mut left = words.to_vec();
        while left.len() > 1 {
            let round = left.chunks(2).map(|pair| match pair {
                [a, b] => {
                    let is_beaten = beaten(self, a, b);
                    self.select(is_beaten, b, a)
                }
                _ => pair[0].clone(),
            });
            left = round.collect();
        }
        left.pop().unwrap_or_default()
    }
}
