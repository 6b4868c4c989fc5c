//! From trees to gates.

use super::Fault;
use super::parser::{Node, Tree};
use crate::circuit::{Builder, Circuit, Reason, Wire, Word};

/// The widest word.
const MOST_BITS: usize = 1 << 16;

/// The most products of bits in a product of words.
const MOST_PRODUCTS: usize = 1 << 22;

pub(super) fn circuit(tree: &Tree, inputs: &[(&str, usize)]) -> Result<Circuit, Fault> {
    let mut builder = Builder::new();
    let mut words: Vec<(&str, Word)> = Vec::with_capacity(inputs.len());
    for &(name, width) in inputs {
        if words.iter().any(|word| word.0 == name) {
            return Err(Fault::new(0, Reason::Twice(name.to_owned())));
        }
        check_width(width, 0)?;
        words.push((name, builder.input(name, width)));
    }
    let output = Compiler { builder: &mut builder, words: &words }.word(tree)?;
    Ok(builder.finish(output))
}

fn check_width(width: usize, position: usize) -> Result<(), Fault> {
    match width > MOST_BITS {
        true => Err(Fault::new(position, Reason::Width { width, limit: MOST_BITS })),
        false => Ok(()),
    }
}

struct Compiler<'a> {
    builder: &'a mut Builder,
    words: &'a [(&'a str, Word)],
}

impl Compiler<'_> {
    fn word(&mut self, tree: &Tree) -> Result<Word, Fault> {
        let position = tree.position;
        let word = match &tree.node {
            Node::Number(number) => self.builder.number(*number, width_of(*number)),
            Node::Name(name) => self.named(name, position)?,
            Node::Unary(operator, operands) => {
                let word = self.word(&operands[0])?;
                match *operator {
                    "~" => self.builder.not_word(&word),
                    _ => {
                        let is_not_zero = self.builder.is_not_zero(&word);
                        self.builder.not(is_not_zero).into()
                    }
                }
            }
            Node::Binary(operator @ ("<<" | ">>"), operands) => {
                let word = self.word(&operands[0])?;
                let by = self.constant(&operands[1], "the number of places of a shift")?;
                self.shift(&word, *operator == "<<", by, position)?
            }
            Node::Binary(operator, operands) => {
                let (a, b) = (self.word(&operands[0])?, self.word(&operands[1])?);
                self.binary(operator, &a, &b, position)?
            }
            Node::Choice(parts) => {
                let condition = self.word(&parts[0])?;
                let condition = self.builder.is_not_zero(&condition);
                let (chosen, other) = (self.word(&parts[1])?, self.word(&parts[2])?);
                self.builder.select(condition, &chosen, &other)
            }
            Node::Call(name, arguments) => self.call(name, arguments, position)?,
        };
        check_width(word.width(), position)?;
        Ok(word)
    }

    fn named(&self, name: &str, position: usize) -> Result<Word, Fault> {
        let word = self.words.iter().find(|word| word.0 == name).map(|word| word.1.clone());
        word.ok_or_else(|| {
            let inputs: Vec<&str> = self.words.iter().map(|word| word.0).collect();
            let inputs = if inputs.is_empty() { "none".to_owned() } else { inputs.join(", ") };
            Fault::new(position, Reason::Name { name: name.to_owned(), inputs })
        })
    }

    fn binary(&mut self, operator: &str, a: &Word, b: &Word, position: usize) -> Result<Word, Fault> {
        let builder = &mut *self.builder;
        let not = |builder: &mut Builder, wire: Wire| builder.not(wire).into();
        Ok(match operator {
            "*" => {
                if a.width().saturating_mul(b.width()) > MOST_PRODUCTS {
                    return Err(Fault::new(position, Reason::Product(a.width(), b.width())));
                }
                builder.multiply(a, b)
            }
            "+" => builder.add(a, b),
            "-" => builder.subtract(a, b),
            "<" => builder.less(a, b).into(),
            "<=" => builder.less_or_equal(a, b).into(),
            ">" => builder.less(b, a).into(),
            ">=" => builder.less_or_equal(b, a).into(),
            "==" => builder.equal(a, b).into(),
            "!=" => {
                let equal = builder.equal(a, b);
                not(builder, equal)
            }
            "&" => builder.and_words(a, b),
            "^" => builder.xor_words(a, b),
            _ => builder.or_words(a, b),
        })
    }

    fn shift(&mut self, word: &Word, to_left: bool, by: u64, position: usize) -> Result<Word, Fault> {
        let by = usize::try_from(by).unwrap_or(usize::MAX);
        if to_left {
            check_width(word.width().saturating_add(by), position)?;
            let zeros = self.builder.number(0, by);
            return Ok(zeros.iter().chain(word.iter()).copied().collect());
        }
        let left: Word = word.iter().copied().skip(by).collect();
        Ok(self.builder.extend(&left, 1))
    }

    fn call(&mut self, name: &str, arguments: &[Tree], position: usize) -> Result<Word, Fault> {
        if name == "table" {
            return self.table(arguments, position);
        }
        if !["count", "max", "min"].contains(&name) {
            return Err(Fault::new(position, Reason::Function(name.to_owned())));
        }
        let words = arguments.iter().map(|argument| self.word(argument)).collect::<Result<Vec<_>, _>>()?;
        Ok(match name {
            "count" => {
                let bits: Vec<Wire> = words.iter().flat_map(|word| word.iter().copied()).collect();
                self.builder.count(&bits)
            }
            "max" => self.builder.maximum(&words),
            _ => self.builder.minimum(&words),
        })
    }

    fn table(&mut self, arguments: &[Tree], position: usize) -> Result<Word, Fault> {
        let (index, entries) = match arguments {
            [index, entries @ ..] if !entries.is_empty() => (index, entries),
            _ => {
                let takes = "an index and at least one number";
                return Err(Fault::new(position, Reason::Arguments { name: "table".to_owned(), takes }));
            }
        };
        let index = self.word(index)?;
        let entries = entries.iter().map(|entry| self.constant(entry, "an entry of a table"));
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        let width = entries.iter().map(|&entry| width_of(entry)).max().unwrap_or(1);
        Ok(self.builder.table(&index, &entries, width))
    }

    /// A number that does not depend on inputs.
    fn constant(&mut self, tree: &Tree, what: &'static str) -> Result<u64, Fault> {
        let word = self.word(tree)?;
        self.builder.known_number(&word).ok_or_else(|| Fault::new(tree.position, Reason::NotConstant(what)))
    }
}

/// The number of bits up to the highest 1, at least 1.
fn width_of(number: u64) -> usize {
    (64 - number.leading_zeros()).max(1) as usize
}
