//! Conversion between hexadecimal text, most significant digit first, and limbs.

use thiserror::Error;

/// The reason why a text is not a hexadecimal number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HexError {
    /// The text has no digits.
    #[error("an empty string is not a number")]
    Empty,
    /// The text has a character that is not a hexadecimal digit.
    #[error("{character:?} at position {position} is not a hexadecimal digit")]
    Digit {
        /// The offending character.
        character: char,
        /// Its position in characters, counted from zero with a `0x` prefix included.
        position: usize,
    },
}

/// The digits of `text` and the length of its `0x` prefix.
fn digits(text: &str) -> (&str, usize) {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(rest) => (rest, 2),
        None => (text, 0),
    }
}

/// The declared width of `text` in bits: four for each digit, leading zeros included.
#[must_use]
pub fn declared_bits(text: &str) -> usize {
    4 * digits(text).0.len()
}

/// Parses a hexadecimal number, with or without `0x`, into little-endian limbs. The number of limbs
/// follows from the number of digits, leading zeros included.
pub fn parse(text: &str) -> Result<Vec<u64>, HexError> {
    let (body, prefix) = digits(text);
    if body.is_empty() {
        return Err(HexError::Empty);
    }
    let mut limbs = vec![0u64; body.len().div_ceil(16)];
    for (position, character) in body.chars().enumerate() {
        let digit =
            character.to_digit(16).ok_or(HexError::Digit { character, position: position + prefix })?;
        // All characters so far were one byte long, so lengths in bytes count digits.
        let place = body.len() - 1 - position;
        limbs[place / 16] |= u64::from(digit) << (4 * (place % 16));
    }
    Ok(limbs)
}

/// Formats little-endian limbs in lower-case hexadecimal without leading zeros. Zero is `"0"`.
#[must_use]
pub fn format(limbs: &[u64]) -> String {
    use std::fmt::Write;
    let top = limbs.iter().rposition(|&limb| limb != 0).unwrap_or(0);
    let mut text = format!("{:x}", limbs.get(top).copied().unwrap_or(0));
    for limb in limbs[..top.min(limbs.len())].iter().rev() {
        write!(text, "{limb:016x}").expect("writing to a string cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_a_round_trip() {
        for text in
            ["0", "1", "f", "10", "ffffffffffffffff", "10000000000000000", "123456789abcdef0fedcba987654321"]
        {
            assert_eq!(format(&parse(text).unwrap()), text);
        }
        assert_eq!(format(&parse("0x000F").unwrap()), "f");
        assert_eq!(format(&parse("0XaB").unwrap()), "ab");
        assert_eq!(format(&[]), "0");
    }

    #[test]
    fn bad_text_is_named() {
        assert_eq!(parse(""), Err(HexError::Empty));
        assert_eq!(parse("0x"), Err(HexError::Empty));
        assert_eq!(parse("0x1g"), Err(HexError::Digit { character: 'g', position: 3 }));
        assert_eq!(parse("-1"), Err(HexError::Digit { character: '-', position: 0 }));
        assert_eq!(parse("1é2"), Err(HexError::Digit { character: 'é', position: 1 }));
    }
}
