//! Hexadecimal text to octets and back.

use modmill::hex::HexError;
use zeroize::Zeroizing;

/// Reads pairs of hexadecimal digits.
pub(crate) fn octets(text: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    if !text.len().is_multiple_of(2) && text.is_ascii() {
        return Err("an odd number of hexadecimal digits".to_owned());
    }
    digit_pairs(text, 0).map_err(|error| error.to_string())
}

/// Reads a number of any length, with or without `0x`. Returns its octets, most significant first, and the
/// number of bits that the digits spell out, leading zeros included.
pub(crate) fn number(text: &str) -> Result<(Zeroizing<Vec<u8>>, usize), String> {
    let body = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (body, prefix) = body.map_or((text, 0), |body| (body, 2));
    if body.is_empty() {
        return Err(HexError::Empty.to_string());
    }
    let octets = digit_pairs(body, prefix).map_err(|error| error.to_string())?;
    Ok((octets, 4 * body.len()))
}

/// The octets that digits stand for; the first octet has one digit if their number is odd. `prefix` characters
/// stood before the digits.
fn digit_pairs(digits: &str, prefix: usize) -> Result<Zeroizing<Vec<u8>>, HexError> {
    let digit = |position: usize, byte: u8| match char::from(byte).to_digit(16) {
        Some(digit) => Ok(digit as u8),
        None => {
            // All characters before this one were digits, one byte each.
            let character = digits[position..].chars().next().unwrap_or_default();
            Err(HexError::Digit { character, position: position + prefix })
        }
    };
    let (first, pairs) = digits.as_bytes().split_at(digits.len() % 2);
    let mut octets = Zeroizing::new(Vec::with_capacity(digits.len().div_ceil(2)));
    for &byte in first {
        octets.push(digit(0, byte)?);
    }
    for (index, &[high, low]) in pairs.as_chunks::<2>().0.iter().enumerate() {
        let position = first.len() + 2 * index;
        octets.push(digit(position, high)? << 4 | digit(position + 1, low)?);
    }
    Ok(octets)
}

/// Appends pairs of lower-case hexadecimal digits.
pub(crate) fn append_octets(text: &mut String, octets: &[u8]) {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    text.extend(octets.iter().flat_map(|octet| [digit(octet >> 4), digit(octet & 15)]));
}

/// Appends a number without leading zeros; zero is `0`. `octets` has the most significant octet first.
pub(crate) fn append_number(text: &mut String, octets: &[u8]) {
    let start = octets.iter().position(|&octet| octet != 0).unwrap_or(octets.len());
    match octets[start..].split_first() {
        None => text.push('0'),
        Some((&first, rest)) => {
            if first < 16 {
                text.push(char::from_digit(first.into(), 16).unwrap_or('0'));
            } else {
                append_octets(text, &[first]);
            }
            append_octets(text, rest);
        }
    }
}

/// Pairs of lower-case hexadecimal digits.
pub(crate) fn format_octets(octets: &[u8]) -> String {
    let mut text = String::with_capacity(2 * octets.len());
    append_octets(&mut text, octets);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_come_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(*octets(&format_octets(&bytes)).unwrap(), bytes);
        assert_eq!(*octets("00fFA0").unwrap(), [0, 255, 160]);
        assert!(octets("").unwrap().is_empty());
        assert!(octets("0").unwrap_err().contains("odd"));
        assert!(octets("00zz").unwrap_err().contains("position 2"));
        assert!(octets("0é").unwrap_err().contains("'é' at position 1"));
    }

    #[test]
    fn numbers_come_back_without_leading_zeros() {
        let again = |text: &str| {
            let mut formatted = String::new();
            append_number(&mut formatted, &number(text).unwrap().0);
            formatted
        };
        for value in ["0", "1", "f", "10", "100", "123456789abcdef0fedcba987654321"] {
            assert_eq!(again(value), value);
        }
        assert_eq!(
            (again("0x000F").as_str(), again("0XaB").as_str(), again("0000").as_str()),
            ("f", "ab", "0")
        );
        assert_eq!(number("0x0012").unwrap().1, 16);
        assert_eq!(number("123").unwrap(), (Zeroizing::new(vec![1, 0x23]), 12));
        for empty in ["", "0x"] {
            assert!(number(empty).unwrap_err().contains("an empty string"));
        }
        assert!(number("0x1g").unwrap_err().contains("'g' at position 3"));
        assert!(number("-1").unwrap_err().contains("'-' at position 0"));
    }
}
