//! The batches of a plan.

/// The operation of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Makes a bit that everyone knows.
    Constant(bool),
    /// Complements.
    Not,
    /// Adds modulo 2.
    Xor,
    /// Multiplies.
    And,
    /// Recrypts.
    Recrypt,
}

impl Operation {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant(_) => "constant",
            Self::Not => "NOT",
            Self::Xor => "XOR",
            Self::And => "AND",
            Self::Recrypt => "recryption",
        }
    }
}

/// One batch. Values have numbers: first the input bits, then the answers of the batches, batch after batch.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) level: usize,
    pub(super) operation: Operation,
    /// The first operands, as numbers of values.
    pub(super) left: Vec<usize>,
    /// The second operands, if the operation has any.
    pub(super) right: Vec<usize>,
    /// How many values it answers with.
    pub(super) count: usize,
    /// The least budget of its answers.
    pub(super) least_budget: f64,
}
