//! The grammar of expressions.

use super::Fault;
use super::tokens::Token;
use crate::circuit::Reason;

/// An expression as a tree. The position is that of the operator or the word.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) position: usize,
    pub(super) node: Node,
    /// The number of nodes on the longest path downwards.
    height: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    Number(u64),
    Name(String),
    /// An operator and one operand.
    Unary(&'static str, Vec<Tree>),
    /// An operator and two operands.
    Binary(&'static str, Vec<Tree>),
    /// A condition and two words.
    Choice(Vec<Tree>),
    /// A function and its arguments.
    Call(String, Vec<Tree>),
}

/// The greatest height of a tree, and depth of brackets. Trees are walked by recursion, which must not
/// exhaust the stack.
const MOST_LEVELS: usize = 256;

/// Binary operators from the loosest to the tightest; those of a line bind alike, to the left.
const LEVELS: [&[&str]; 8] =
    [&["|"], &["^"], &["&"], &["==", "!="], &["<", "<=", ">", ">="], &["<<", ">>"], &["+", "-"], &["*"]];

const OPERAND: &str = "a name, a number, `~`, `!` or `(`";

pub(super) fn parse(tokens: &[(usize, Token)]) -> Result<Tree, Fault> {
    let mut parser = Parser { tokens, next: 0, brackets: 0 };
    let tree = parser.choice()?;
    match parser.peek() {
        Token::End => Ok(tree),
        _ => Err(parser.expected("an operator or the end")),
    }
}

struct Parser<'a> {
    tokens: &'a [(usize, Token)],
    next: usize,
    /// How many calls of `choice` and `operand` are open.
    brackets: usize,
}

impl Parser<'_> {
    /// The next token; the end is never passed.
    fn peek(&self) -> &Token {
        self.tokens.get(self.next).map_or(&Token::End, |token| &token.1)
    }

    fn position(&self) -> usize {
        self.tokens.get(self.next).map_or(0, |token| token.0)
    }

    fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len().saturating_sub(1));
    }

    /// Passes a sign if it is the next token.
    fn take(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Token::Sign(next) if *next == sign);
        if is_next {
            self.advance();
        }
        is_next
    }

    fn expected(&self, expected: &'static str) -> Fault {
        Fault::new(self.position(), Reason::Expected { expected, found: self.peek().shown() })
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.brackets >= MOST_LEVELS {
            return Err(Fault::new(self.position(), Reason::Nesting(MOST_LEVELS)));
        }
        self.brackets += 1;
        let read = read(self);
        self.brackets -= 1;
        read
    }

    /// `condition ? a : b`, or anything that binds tighter.
    fn choice(&mut self) -> Result<Tree, Fault> {
        self.deeper(|parser| {
            let condition = parser.binary(0)?;
            let position = parser.position();
            if !parser.take("?") {
                return Ok(condition);
            }
            let chosen = parser.choice()?;
            if !parser.take(":") {
                return Err(parser.expected("`:` and the other choice"));
            }
            let other = parser.choice()?;
            tree(position, Node::Choice(vec![condition, chosen, other]))
        })
    }

    /// Operators of `level` and above.
    fn binary(&mut self, level: usize) -> Result<Tree, Fault> {
        let Some(operators) = LEVELS.get(level) else { return self.operand() };
        let mut left = self.binary(level + 1)?;
        loop {
            let position = self.position();
            let Some(&operator) = operators.iter().find(|operator| self.take(operator)) else {
                return Ok(left);
            };
            let right = self.binary(level + 1)?;
            left = tree(position, Node::Binary(operator, vec![left, right]))?;
        }
    }

    fn operand(&mut self) -> Result<Tree, Fault> {
        let position = self.position();
        if let Some(operator) = ["~", "!"].into_iter().find(|operator| self.take(operator)) {
            let operand = self.deeper(Self::operand)?;
            return tree(position, Node::Unary(operator, vec![operand]));
        }
        if self.take("(") {
            let inside = self.choice()?;
            return if self.take(")") { Ok(inside) } else { Err(self.expected("an operator or `)`")) };
        }
        let node = match self.peek().clone() {
            Token::Number(number) => Node::Number(number),
            Token::Name(name) => {
                self.advance();
                let node =
                    if self.take("(") { Node::Call(name, self.arguments()?) } else { Node::Name(name) };
                return tree(position, node);
            }
            _ => return Err(self.expected(OPERAND)),
        };
        self.advance();
        tree(position, node)
    }

    /// The arguments of a function up to its closing bracket.
    fn arguments(&mut self) -> Result<Vec<Tree>, Fault> {
        let mut arguments = vec![self.choice()?];
        while self.take(",") {
            arguments.push(self.choice()?);
        }
        if self.take(")") { Ok(arguments) } else { Err(self.expected("`,` or `)`")) }
    }
}

fn tree(position: usize, node: Node) -> Result<Tree, Fault> {
    let below = match &node {
        Node::Number(_) | Node::Name(_) => &[][..],
        Node::Unary(_, operands)
        | Node::Binary(_, operands)
        | Node::Choice(operands)
        | Node::Call(_, operands) => operands,
    };
    let height = 1 + below.iter().map(|tree| tree.height).max().unwrap_or(0);
    if height > MOST_LEVELS {
        return Err(Fault::new(position, Reason::Nesting(MOST_LEVELS)));
    }
    Ok(Tree { position, node, height })
}
