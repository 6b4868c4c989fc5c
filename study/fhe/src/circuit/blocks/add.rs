//! Sums and differences.

use crate::circuit::{Builder, Wire, Word};

impl Builder {
    /// The sum of two bits: its low bit and its carry.
    pub fn half_adder(&mut self, a: Wire, b: Wire) -> (Wire, Wire) {
        (self.xor(a, b), self.and(a, b))
    }

    /// The sum of three bits: its low bit and its carry. The carry, which is their majority, takes one AND
    /// gate: it is c, unless both a and b differ from c.
    pub fn full_adder(&mut self, a: Wire, b: Wire, c: Wire) -> (Wire, Wire) {
        let (a_differs, b_differs) = (self.xor(a, c), self.xor(b, c));
        let both_differ = self.and(a_differs, b_differs);
        (self.xor(a_differs, b), self.xor(both_differ, c))
    }

    /// The sum of two words, one bit wider than the wider of them. Its depth is 1 + log2 of that width: the
    /// carries are computed as a prefix tree (Sklansky's).
    pub fn add(&mut self, a: &Word, b: &Word) -> Word {
        let carry = self.constant(false);
        self.add_with_carry(a, b, carry)
    }

    /// `a` - `b` modulo 2^w, where w is the width of the wider word.
    pub fn subtract(&mut self, a: &Word, b: &Word) -> Word {
        let width = a.width().max(b.width());
        let (a, b) = (self.extend(a, width), self.extend(b, width));
        let complement = self.not_word(&b);
        let carry = self.constant(true);
        let sum = self.add_with_carry(&a, &complement, carry);
        sum[..width].to_vec().into()
    }

    /// The sum of two words as [`Builder::add`] gives it, with the fewest AND gates (one a bit) but the depth
    /// of the width: the carry passes from bit to bit.
    pub fn add_ripple(&mut self, a: &Word, b: &Word) -> Word {
        let width = a.width().max(b.width());
        let (a, b) = (self.extend(a, width), self.extend(b, width));
        let mut carry = self.constant(false);
        let mut sum = Vec::with_capacity(width + 1);
        for (&a, &b) in a.iter().zip(b.iter()) {
            let (low, high) = self.full_adder(a, b, carry);
            sum.push(low);
            carry = high;
        }
        sum.push(carry);
        sum.into()
    }

    /// The sum of two words and a bit.
    fn add_with_carry(&mut self, a: &Word, b: &Word, carry: Wire) -> Word {
        let width = a.width().max(b.width());
        let (a, b) = (self.extend(a, width), self.extend(b, width));
        // Bit i makes a carry of its own (generate), or hands on the one that it gets (propagate), never
        // both.
        let mut generate: Vec<Wire> = a.iter().zip(b.iter()).map(|(&a, &b)| self.and(a, b)).collect();
        let mut propagate: Vec<Wire> = a.iter().zip(b.iter()).map(|(&a, &b)| self.xor(a, b)).collect();
        let sums = propagate.clone();
        if width > 0 {
            (_, generate[0]) = self.full_adder(a[0], b[0], carry);
        }
        // Before the round of `span`, entry i stands for the bits of its own block of `span` bits up to i.
        let mut span = 1;
        while span < width {
            for i in (0..width).filter(|i| i & span != 0) {
                let below = (i & !(span - 1)) - 1;
                let handed_on = self.and(propagate[i], generate[below]);
                generate[i] = self.xor(generate[i], handed_on);
                propagate[i] = self.and(propagate[i], propagate[below]);
            }
            span *= 2;
        }
        // Now `generate[i]` is the carry out of bit i.
        let carries = std::iter::once(carry).chain(generate);
        let last = self.constant(false);
        let sums = sums.into_iter().chain([last]);
        sums.zip(carries).map(|(sum, carry)| self.xor(sum, carry)).collect()
    }
}
