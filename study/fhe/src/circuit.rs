//! Circuits of gates, and their evaluation by a scheme.
//!
//! A [`Circuit`] is made by a [`Builder`], or from an [`Expression`] such as `"a < b ? a : b"`. A [`Plan`]
//! decides, before anything is computed, in which batches a [`Scheme`] computes the gates and which bits it
//! recrypts, so that no bit ever has too much noise. [`evaluate()`] runs the plan.
//!
//! ```
//! use modmill_fhe::circuit::{Expression, PlainScheme, Plan, evaluate};
//!
//! let circuit = Expression::parse("a < b ? a : b")?.circuit(&[("a", 4), ("b", 4)])?;
//! let bits = |number: u8| (0..4).map(|bit| number >> bit & 1 == 1).collect::<Vec<_>>();
//! let inputs = [bits(9), bits(6)];
//! let scheme = PlainScheme;
//! let plan = Plan::new(&circuit, &scheme, &inputs.each_ref(), 1)?;
//! let least = evaluate(&plan, &scheme, &inputs.each_ref(), &mut |_| {})?;
//! assert_eq!(least, bits(6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod builder;
mod error;
mod evaluate;
mod expression;
mod noises;
mod plain;
mod plan;
#[cfg(test)]
mod plan_tests;
mod planner;
mod recryptions;
mod scheme;
mod step;
mod word;

pub use builder::Builder;
pub use error::{EvaluateError, ExpressionError, PlanError, Reason};
pub use evaluate::{Progress, evaluate};
pub use expression::Expression;
pub use plain::PlainScheme;
pub use plan::Plan;
pub use scheme::Scheme;
pub use step::Operation;
pub use word::{Wire, Word};

/// One gate. Its operands are wires of earlier gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gate {
    /// A bit of the input, counted over all input words.
    Input(u32),
    /// A bit that everyone knows.
    Constant(bool),
    /// The complement of a bit.
    Not(Wire),
    /// The sum of two bits modulo 2.
    Xor(Wire, Wire),
    /// The product of two bits.
    And(Wire, Wire),
}

impl Gate {
    /// The wires that the gate reads.
    pub fn operands(self) -> impl Iterator<Item = Wire> {
        let (first, second) = match self {
            Self::Input(_) | Self::Constant(_) => (None, None),
            Self::Not(a) => (Some(a), None),
            Self::Xor(a, b) | Self::And(a, b) => (Some(a), Some(b)),
        };
        first.into_iter().chain(second)
    }
}

/// The name and the number of bits of an input word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The name.
    pub name: String,
    /// The number of bits.
    pub width: usize,
}

/// The number of gates of each kind, and the depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// AND gates.
    pub and: usize,
    /// XOR gates.
    pub xor: usize,
    /// NOT gates.
    pub not: usize,
    /// The most AND gates that one path from an input to an output passes through.
    pub depth: usize,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} AND, {} XOR, {} NOT, depth {}", self.and, self.xor, self.not, self.depth)
    }
}

/// A circuit: gates in an order in which each comes after its operands, and the word that they compute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuit {
    gates: Vec<Gate>,
    inputs: Vec<Input>,
    output: Word,
}

impl Circuit {
    /// The gates; the wire of number i is the output of gate i.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The input words, in the order of their bits.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The word that the circuit computes.
    pub fn output(&self) -> &Word {
        &self.output
    }

    /// For each gate, the number of AND gates on the longest path from an input to its output.
    pub fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(self.gates.len());
        for &gate in &self.gates {
            let deepest = gate.operands().map(|wire| depths[wire.index()]).max().unwrap_or(0);
            depths.push(deepest + usize::from(matches!(gate, Gate::And(..))));
        }
        depths
    }

    /// The gates and the depth.
    pub fn cost(&self) -> Cost {
        let count = |is_kind: fn(&Gate) -> bool| self.gates.iter().filter(|gate| is_kind(gate)).count();
        Cost {
            and: count(|gate| matches!(gate, Gate::And(..))),
            xor: count(|gate| matches!(gate, Gate::Xor(..))),
            not: count(|gate| matches!(gate, Gate::Not(_))),
            depth: self.depths().into_iter().max().unwrap_or(0),
        }
    }

    /// Computes the circuit on bits in the clear: all input words one after the other, lowest bits first.
    /// `None` if their number is not that of the inputs.
    pub fn compute(&self, input: &[bool]) -> Option<Vec<bool>> {
        if input.len() != self.inputs.iter().map(|word| word.width).sum::<usize>() {
            return None;
        }
        let mut bits: Vec<bool> = Vec::with_capacity(self.gates.len());
        for &gate in &self.gates {
            bits.push(match gate {
                Gate::Input(index) => input[index as usize],
                Gate::Constant(bit) => bit,
                Gate::Not(a) => !bits[a.index()],
                Gate::Xor(a, b) => bits[a.index()] ^ bits[b.index()],
                Gate::And(a, b) => bits[a.index()] & bits[b.index()],
            });
        }
        Some(self.output.iter().map(|wire| bits[wire.index()]).collect())
    }
}
