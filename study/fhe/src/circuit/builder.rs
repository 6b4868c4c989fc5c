//! Builds circuits gate by gate.

use super::{Circuit, Gate, Input, Wire, Word};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Builds a circuit. Equal gates are made once, gates with constant operands are not made, and NOT gates are
/// moved behind XOR gates, where they meet and vanish.
///
/// The depth of a circuit (the AND gates on its longest path) decides how much noise it makes, and so how
/// often a scheme recrypts. The blocks are therefore chosen to be shallow.
///
/// A wire or word may only be used with the builder that made it.
///
/// ```
/// use modmill_fhe::circuit::Builder;
///
/// let mut builder = Builder::new();
/// let (a, b) = (builder.input("a", 16), builder.input("b", 16));
/// let sum = builder.add(&a, &b);
/// let circuit = builder.finish(sum);
/// assert_eq!((circuit.output().width(), circuit.cost().depth), (17, 5));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    gates: Vec<Gate>,
    /// The AND gates on the longest path to each gate.
    depths: Vec<usize>,
    known: HashMap<Gate, Wire>,
    inputs: Vec<Input>,
    input_bits: u32,
}

impl Builder {
    /// A builder without gates.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new input word. Names are for people; nothing forbids equal ones.
    pub fn input(&mut self, name: &str, width: usize) -> Word {
        self.inputs.push(Input { name: name.to_owned(), width });
        let word = (0..width).map(|_| {
            self.input_bits += 1;
            self.gate(Gate::Input(self.input_bits - 1))
        });
        word.collect::<Vec<_>>().into()
    }

    /// A bit that everyone knows.
    pub fn constant(&mut self, bit: bool) -> Wire {
        self.gate(Gate::Constant(bit))
    }

    /// A number that everyone knows, as a word of `width` bits; bits that do not fit are lost.
    pub fn number(&mut self, number: u64, width: usize) -> Word {
        let bit = |bit: usize| bit < 64 && number >> bit & 1 == 1;
        (0..width).map(|index| self.constant(bit(index))).collect()
    }

    /// The number that a word is, if all of its bits are constants and it has at most 64 of them.
    pub fn known_number(&self, word: &Word) -> Option<u64> {
        let bit = |wire: &Wire| match self.gates[wire.index()] {
            Gate::Constant(bit) => Some(bit),
            _ => None,
        };
        let bits = word.iter().map(bit).collect::<Option<Vec<_>>>().filter(|bits| bits.len() <= 64)?;
        Some(bits.iter().rev().fold(0, |number, &bit| number << 1 | u64::from(bit)))
    }

    /// The number of AND gates on the longest path from an input to a wire.
    pub fn depth(&self, wire: Wire) -> usize {
        self.depths[wire.index()]
    }

    /// The complement of `a`.
    pub fn not(&mut self, a: Wire) -> Wire {
        match self.gates[a.index()] {
            Gate::Constant(bit) => self.constant(!bit),
            Gate::Not(b) => b,
            _ => self.gate(Gate::Not(a)),
        }
    }

    /// The sum of `a` and `b` modulo 2.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.gates[a.index()], self.gates[b.index()]) {
            _ if a == b => self.constant(false),
            (Gate::Constant(bit), _) => {
                if bit {
                    self.not(b)
                } else {
                    b
                }
            }
            (_, Gate::Constant(bit)) => {
                if bit {
                    self.not(a)
                } else {
                    a
                }
            }
            (Gate::Not(a), Gate::Not(b)) => self.xor(a, b),
            (Gate::Not(a), _) => {
                let xor = self.xor(a, b);
                self.not(xor)
            }
            (_, Gate::Not(b)) => {
                let xor = self.xor(a, b);
                self.not(xor)
            }
            _ => self.gate(Gate::Xor(a.min(b), a.max(b))),
        }
    }

    /// The product of `a` and `b`.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        match (self.gates[a.index()], self.gates[b.index()]) {
            _ if a == b => a,
            (Gate::Constant(bit), _) => {
                if bit {
                    b
                } else {
                    a
                }
            }
            (_, Gate::Constant(bit)) => {
                if bit {
                    a
                } else {
                    b
                }
            }
            (Gate::Not(c), _) if c == b => self.constant(false),
            (_, Gate::Not(c)) if c == a => self.constant(false),
            _ => self.gate(Gate::And(a.min(b), a.max(b))),
        }
    }

    /// 1 if `a` or `b` is.
    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    /// The product of all wires, 1 for none: a tree that joins the shallowest wires first, so that its depth
    /// is the least.
    pub fn and_all(&mut self, wires: impl IntoIterator<Item = Wire>) -> Wire {
        let mut heap: BinaryHeap<_> =
            wires.into_iter().map(|wire| Reverse((self.depth(wire), wire))).collect();
        while let Some(Reverse((_, a))) = heap.pop() {
            let Some(Reverse((_, b))) = heap.pop() else { return a };
            let product = self.and(a, b);
            heap.push(Reverse((self.depth(product), product)));
        }
        self.constant(true)
    }

    /// The circuit that computes a word, without gates that the word does not need. The wires of the circuit
    /// have numbers of their own.
    pub fn finish(self, output: Word) -> Circuit {
        let mut is_needed = vec![false; self.gates.len()];
        output.iter().for_each(|wire| is_needed[wire.index()] = true);
        for (index, gate) in self.gates.iter().enumerate().rev() {
            if is_needed[index] {
                gate.operands().for_each(|wire| is_needed[wire.index()] = true);
            }
        }
        let mut gates = Vec::new();
        // The new wire of each gate that is needed; the others keep a number that nobody asks for.
        let mut renamed: Vec<Wire> = Vec::with_capacity(self.gates.len());
        for (index, &gate) in self.gates.iter().enumerate() {
            renamed.push(Wire::new(gates.len()));
            if is_needed[index] {
                let new = |wire: Wire| renamed[wire.index()];
                gates.push(match gate {
                    Gate::Not(a) => Gate::Not(new(a)),
                    Gate::Xor(a, b) => Gate::Xor(new(a), new(b)),
                    Gate::And(a, b) => Gate::And(new(a), new(b)),
                    Gate::Input(_) | Gate::Constant(_) => gate,
                });
            }
        }
        let output = output.iter().map(|wire| renamed[wire.index()]).collect();
        Circuit { gates, inputs: self.inputs, output }
    }

    /// The wire of a gate, which is made unless there is one like it.
    fn gate(&mut self, gate: Gate) -> Wire {
        if let Some(&wire) = self.known.get(&gate) {
            return wire;
        }
        let wire = Wire::new(self.gates.len());
        let deepest = gate.operands().map(|wire| self.depth(wire)).max().unwrap_or(0);
        self.depths.push(deepest + usize::from(matches!(gate, Gate::And(..))));
        self.gates.push(gate);
        self.known.insert(gate, wire);
        wire
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_gates_are_made_once_and_constants_vanish() {
        let mut builder = Builder::new();
        let word = builder.input("a", 2);
        let (a, b) = (word[0], word[1]);
        let (zero, one) = (builder.constant(false), builder.constant(true));
        assert_eq!(builder.xor(a, b), builder.xor(b, a));
        assert_eq!(builder.and(a, b), builder.and(b, a));
        assert_eq!((builder.xor(a, a), builder.xor(a, zero)), (zero, a));
        assert_eq!((builder.and(a, a), builder.and(a, one), builder.and(zero, a)), (a, a, zero));
        let (not_a, not_b) = (builder.not(a), builder.not(b));
        assert_eq!((builder.not(not_a), builder.xor(a, one), builder.not(one)), (a, not_a, zero));
        assert_eq!((builder.and(a, not_a), builder.xor(a, not_a)), (zero, one));
        assert_eq!(builder.xor(not_a, not_b), builder.xor(a, b));
        assert_eq!((builder.or(a, one), builder.or(a, zero), builder.or(a, not_a)), (one, a, one));
    }

    #[test]
    fn a_circuit_has_no_gate_that_its_output_does_not_need() {
        let mut builder = Builder::new();
        let word = builder.input("a", 3);
        let waste = builder.and(word[0], word[1]);
        builder.not(waste);
        let output = builder.xor(word[0], word[2]);
        let circuit = builder.finish(output.into());
        assert_eq!(circuit.gates().len(), 3);
        assert_eq!(circuit.cost(), crate::circuit::Cost { xor: 1, ..Default::default() });
        assert_eq!(circuit.compute(&[true, true, false]), Some(vec![true]));
        assert_eq!(circuit.compute(&[true, true]), None);
    }

    #[test]
    fn products_of_many_wires_are_as_shallow_as_they_can_be() {
        for (count, depth) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (64, 6), (65, 7)] {
            let mut builder = Builder::new();
            let word = builder.input("a", count);
            let product = builder.and_all(word.iter().copied());
            assert_eq!(builder.depth(product), depth, "{count}");
        }
        // A deep wire enters last.
        let mut builder = Builder::new();
        let word = builder.input("a", 7);
        let deep = builder.and_all(word[..4].iter().copied());
        let product = builder.and_all([deep, word[4], word[5], word[6]]);
        assert_eq!(builder.depth(product), 3);
        let none = builder.and_all([]);
        assert_eq!(none, builder.constant(true));
    }
}
