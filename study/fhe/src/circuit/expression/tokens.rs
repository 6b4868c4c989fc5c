//! The words and signs of an expression.

use super::Fault;
use crate::circuit::Reason;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Number(u64),
    /// An operator, a bracket or a comma.
    Sign(&'static str),
    End,
}

impl Token {
    /// The token as an error shows it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Number(number) => format!("`{number}`"),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// The signs; a sign comes before those that it begins with.
const SIGNS: [&str; 21] = [
    "<<", ">>", "<=", ">=", "==", "!=", "~", "!", "*", "+", "-", "<", ">", "&", "^", "|", "?", ":", "(", ")",
    ",",
];

/// The tokens of a text with their positions in characters. The last one is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, Fault> {
    let characters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(&first) = characters.get(position) {
        let rest = &characters[position..];
        if first.is_whitespace() {
            position += 1;
        } else if first.is_ascii_alphanumeric() || first == '_' {
            let is_part = |c: &&char| c.is_ascii_alphanumeric() || **c == '_';
            let word: String = rest.iter().take_while(is_part).collect();
            let length = word.len();
            let token = match first.is_ascii_digit() {
                true => number(word).map_err(|word| Fault::new(position, Reason::Number(word)))?,
                false => Token::Name(word),
            };
            tokens.push((position, token));
            position += length;
        } else {
            let is_here = |sign: &&&str| sign.chars().eq(rest.iter().copied().take(sign.len()));
            let Some(&sign) = SIGNS.iter().find(is_here) else {
                return Err(Fault::new(position, Reason::Character(first)));
            };
            tokens.push((position, Token::Sign(sign)));
            position += sign.len();
        }
    }
    tokens.push((position, Token::End));
    Ok(tokens)
}

/// Reads a number, or returns the word.
fn number(word: String) -> Result<Token, String> {
    let lower = word.to_ascii_lowercase();
    let (digits, radix) = match (lower.strip_prefix("0x"), lower.strip_prefix("0b")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 2),
        _ => (lower.as_str(), 10),
    };
    u64::from_str_radix(digits, radix).map(Token::Number).map_err(|_| word)
}
