//! Tables that everyone knows, read at a secret place.

use crate::circuit::{Builder, Wire, Word};
use std::collections::HashMap;

impl Builder {
    /// The entry of a table at the place that `index` says, as a word of `width` bits; 0 beyond the table.
    ///
    /// Each bit of the answer is a polynomial in the bits of the index, a sum of products of some of them.
    /// The products are shared, and their depth is log2 of the index's width. A table of n entries takes up
    /// to n AND gates.
    pub fn table(&mut self, index: &Word, entries: &[u64], width: usize) -> Word {
        let needed = entries.len().next_power_of_two().trailing_zeros() as usize;
        let (low, high) = index.split_at(needed.min(index.width()));
        let coefficients = polynomial(entries, low.len());
        let mut products = HashMap::new();
        let inside = {
            let zeros: Vec<Wire> = high.iter().map(|&bit| self.not(bit)).collect();
            self.and_all(zeros)
        };
        let mut answer = Vec::with_capacity(width);
        for bit in 0..width {
            let mut sum = self.constant(false);
            for (set, &coefficient) in coefficients.iter().enumerate() {
                if bit < 64 && coefficient >> bit & 1 == 1 {
                    let product = self.product_of(low, set, &mut products);
                    sum = self.xor(sum, product);
                }
            }
            answer.push(self.and(sum, inside));
        }
        answer.into()
    }

    /// The product of the bits that a set names, from the products of its halves.
    fn product_of(&mut self, bits: &[Wire], set: usize, known: &mut HashMap<usize, Wire>) -> Wire {
        if let Some(&product) = known.get(&set) {
            return product;
        }
        let members: Vec<usize> = (0..bits.len()).filter(|bit| set >> bit & 1 == 1).collect();
        let product = match members[..] {
            [] => self.constant(true),
            [bit] => bits[bit],
            _ => {
                let half = members[..members.len() / 2].iter().fold(0, |half, bit| half | 1 << bit);
                let first = self.product_of(bits, half, known);
                let second = self.product_of(bits, set & !half, known);
                self.and(first, second)
            }
        };
        known.insert(set, product);
        product
    }
}

/// The coefficients of a table's polynomial modulo 2 in `bits` variables, all bits of the entries at a time:
/// coefficient s belongs to the product of the variables in the set s. Each step eliminates one variable: f =
/// f0 + x (f0 + f1).
fn polynomial(entries: &[u64], bits: usize) -> Vec<u64> {
    let mut values: Vec<u64> = (0..1 << bits).map(|place| entries.get(place).copied().unwrap_or(0)).collect();
    for bit in 0..bits {
        for place in (0..values.len()).filter(|place| place >> bit & 1 == 1) {
            values[place] ^= values[place ^ 1 << bit];
        }
    }
    values
}
