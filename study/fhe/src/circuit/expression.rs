//! Expressions such as `a < b ? a : b` as circuits.

mod compile;
mod parser;
mod tokens;

#[cfg(test)]
mod tests;

use super::{Circuit, ExpressionError, Reason};
use parser::{Node, Tree};

/// An expression over named words, as a user writes it.
///
/// Words are numbers without sign. The operators are those of C, with C's precedence, from the tightest:
///
/// | operators | width of the answer |
/// |---|---|
/// | `~a` (each bit), `!a` (whether a is 0) | that of a; 1 |
/// | `a * b` | the sum of the widths |
/// | `a + b`, `a - b` | one more than the wider; the wider, so that a difference below 0 wraps |
/// | `a << 3`, `a >> 3`, by a number | 3 more; 3 less, but at least 1 |
/// | `a < b`, `a <= b`, `a > b`, `a >= b` | 1 |
/// | `a == b`, `a != b` | 1 |
/// | `a & b`, then `a ^ b`, then `a \| b` | the wider; the shorter word gets zeros |
/// | `c ? a : b` (a if c is not 0) | the wider |
///
/// As in C, `a & b == c` means `a & (b == c)`. Numbers are decimal (`10`), hexadecimal (`0xa`) or binary
/// (`0b1010`) and as wide as their highest 1. Functions: `count(v, ...)` is the number of ones among all
/// bits, `max(a, b, ...)` and `min(a, b, ...)` are the greatest and the least, and `table(i, 3, 1, 4)` is the
/// i-th of the numbers after i, or 0.
///
/// ```
/// use modmill_fhe::circuit::Expression;
///
/// let circuit = Expression::parse("count(votes) > 2")?.circuit(&[("votes", 5)])?;
/// assert_eq!(circuit.compute(&[true, false, true, true, false]), Some(vec![true]));
///
/// let error = Expression::parse("a & (b ^ )").unwrap_err();
/// assert_eq!(error.position, 9);
/// assert!(error.to_string().ends_with("  a & (b ^ )\n           ^"));
/// # Ok::<(), modmill_fhe::circuit::ExpressionError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    tree: Tree,
}

impl Expression {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let tree = tokens::tokens(text).and_then(|tokens| parser::parse(&tokens));
        let tree = tree.map_err(|fault| fault.in_text(text))?;
        Ok(Self { text: text.to_owned(), tree })
    }

    /// The names of the words that the expression reads, each once, in the order of their first use.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        collect(&self.tree, &mut names);
        names
    }

    /// The circuit of the expression, with input words of the given names and widths, in this order. Words
    /// that the expression does not read are inputs all the same.
    pub fn circuit(&self, inputs: &[(&str, usize)]) -> Result<Circuit, ExpressionError> {
        compile::circuit(&self.tree, inputs).map_err(|fault| fault.in_text(&self.text))
    }
}

fn collect<'a>(tree: &'a Tree, names: &mut Vec<&'a str>) {
    match &tree.node {
        Node::Name(name) if !names.contains(&name.as_str()) => names.push(name),
        Node::Name(_) | Node::Number(_) => {}
        Node::Unary(_, operands)
        | Node::Binary(_, operands)
        | Node::Choice(operands)
        | Node::Call(_, operands) => {
            operands.iter().for_each(|operand| collect(operand, names));
        }
    }
}

/// A fault, and its place.
#[derive(Debug)]
struct Fault {
    position: usize,
    reason: Reason,
}

impl Fault {
    fn new(position: usize, reason: Reason) -> Self {
        Self { position, reason }
    }

    fn in_text(self, text: &str) -> ExpressionError {
        ExpressionError { text: text.to_owned(), position: self.position, reason: self.reason }
    }
}
