//! The faults of a circuit, a plan or an expression.

use std::error::Error;
use std::fmt;

/// Why a circuit cannot be planned. Nothing has been computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The number of input words is not the circuit's.
    #[error("the circuit has {expected} input words, and {found} were given")]
    Words {
        /// The circuit's.
        expected: usize,
        /// The number that was given.
        found: usize,
    },
    /// An input word has a wrong number of bits.
    #[error("the input `{name}` has {found} bits; {expected} are needed")]
    Width {
        /// The name of the word.
        name: String,
        /// The word's width times the number of instances.
        expected: usize,
        /// The number that was given.
        found: usize,
    },
    /// An input bit has so much noise that it may not decrypt, or cannot be recrypted.
    #[error("bit {bit} of the input `{name}` has too much noise: its budget is {budget:.1} bits")]
    Input {
        /// The name of the word.
        name: String,
        /// The number of the bit, 0 for the lowest.
        bit: usize,
        /// The bits of noise that may be added until the bit no longer decrypts.
        budget: f64,
    },
    /// The circuit makes too much noise, even with all the recryptions that the scheme has.
    #[error(
        "the circuit makes too much noise at level {level} of {levels}: {operation} would leave a budget of {budget:.1} bits, \
         and {}",
        if *.can_recrypt { "recryption does not help" } else { "the scheme cannot recrypt" }
    )]
    TooDeep {
        /// The gates' name.
        operation: &'static str,
        /// The number of AND gates on the longest path to the gate, itself included.
        level: usize,
        /// The depth of the circuit.
        levels: usize,
        /// The least budget of the gate's output.
        budget: f64,
        /// Whether the scheme has recryption.
        can_recrypt: bool,
    },
}

/// Why a plan cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError<E: Error + 'static> {
    /// The inputs are not those of the plan: their number differs, or they have more noise.
    #[error("the input word {word} is not the one that the plan was made for: {reason}")]
    Inputs {
        /// The number of the word.
        word: usize,
        /// The difference.
        reason: &'static str,
    },
    /// The scheme failed.
    #[error(transparent)]
    Scheme(E),
}

/// The fault of an expression, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpressionError {
    /// The expression.
    pub text: String,
    /// The place, in characters from 0.
    pub position: usize,
    /// The fault there.
    pub reason: Reason,
}

impl Error for ExpressionError {}

impl fmt::Display for ExpressionError {
    /// The reason, the expression, and a caret below the place.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line: String = self.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        write!(formatter, "{}\n  {line}\n  {:>width$}", self.reason, "^", width = self.position + 1)
    }
}

/// The fault at a place of an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A character that has no meaning.
    #[error("`{0}` has no meaning here")]
    Character(char),
    /// Something else is needed.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The text that is needed.
        expected: &'static str,
        /// The text that stands there.
        found: String,
    },
    /// A number that cannot be read, or has more than 64 bits.
    #[error("`{0}` is no number of at most 64 bits (decimal, 0x and hexadecimal, 0b and binary)")]
    Number(String),
    /// A name that is no input.
    #[error("there is no input `{name}`; inputs: {inputs}")]
    Name {
        /// The name.
        name: String,
        /// The names of the inputs.
        inputs: String,
    },
    /// A name that is no function.
    #[error("there is no function `{0}`; functions: count, max, min, table")]
    Function(String),
    /// A function with a wrong number of arguments.
    #[error("`{name}` takes {takes}")]
    Arguments {
        /// The function.
        name: String,
        /// The arguments that it takes.
        takes: &'static str,
    },
    /// A place where only a number will do.
    #[error("{0} must be a number, not a computed word")]
    NotConstant(&'static str),
    /// An input whose name was given twice.
    #[error("the input `{0}` is given twice")]
    Twice(String),
    /// An expression that nests too deep.
    #[error("the expression nests deeper than {0} levels")]
    Nesting(usize),
    /// A word that would be too wide.
    #[error("a word of {width} bits is wider than the limit of {limit}")]
    Width {
        /// The width.
        width: usize,
        /// The limit.
        limit: usize,
    },
    /// A product that takes too many gates.
    #[error("a product of {0} and {1} bits takes too many gates")]
    Product(usize, usize),
}
