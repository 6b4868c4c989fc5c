//! The number of ones among bits.

use crate::circuit::{Builder, Wire, Word};
use std::collections::VecDeque;

impl Builder {
    /// The number of ones among n wires, in floor(log2 n) + 1 bits.
    ///
    /// All bits of one weight are summed before the next weight. The low bits of their sums take XOR gates
    /// only, so all carries of a weight are equally deep: the depth is floor(log2 n), with fewer than n AND
    /// gates.
    pub fn count(&mut self, wires: &[Wire]) -> Word {
        let mut column: VecDeque<Wire> = wires.iter().copied().collect();
        let mut count = Vec::new();
        while !column.is_empty() {
            let carries = self.compress(&mut column, 1);
            count.extend(column);
            column = carries.into();
        }
        count.into()
    }

    /// Adds bits of one weight until `most` of them are left, or one; returns the carries, which have twice
    /// the weight. All carries are one AND gate deeper than the deepest of the bits. The bits enter from the
    /// front and sums go to the back, so that the sums form a tree.
    pub(super) fn compress(&mut self, column: &mut VecDeque<Wire>, most: usize) -> Vec<Wire> {
        let mut carries = Vec::new();
        while column.len() > most.max(1) {
            let count = if column.len() - most.max(1) >= 2 { 3 } else { 2 };
            let bits: Vec<Wire> = column.drain(..count).collect();
            let (sum, carry) = match bits[..] {
                [a, b, c] => self.full_adder(a, b, c),
                _ => self.half_adder(bits[0], bits[1]),
            };
            column.push_back(sum);
            carries.push(carry);
        }
        carries
    }
}
