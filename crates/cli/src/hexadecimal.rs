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
    let (first, pairs) = digits.as_bytes().split_at(digits.len() % 2);
    let mut octets = Zeroizing::new(vec![0; digits.len().div_ceil(2)]);
    let (first_octet, others) = octets.split_at_mut(first.len());
    // More than 15 if any character is no digit. Digits may be secret: one loop for all, without branches.
    let mut all = 0;
    for (octet, &digit) in first_octet.iter_mut().zip(first) {
        *octet = digit_value(digit);
        all |= *octet;
    }
    for (octet, &[high, low]) in others.iter_mut().zip(pairs.as_chunks::<2>().0) {
        let (high, low) = (digit_value(high), digit_value(low));
        all |= high | low;
        *octet = high << 4 | low & 15;
    }
    if all <= 15 {
        return Ok(octets);
    }
    let mut characters = digits.chars().enumerate();
    let wrong = characters.find(|(_, character)| !character.is_ascii_hexdigit());
    let (position, character) = wrong.unwrap_or_default();
    Err(HexError::Digit { character, position: position + prefix })
}

/// The value of a hexadecimal digit, or 255 for any other byte.
fn digit_value(byte: u8) -> u8 {
    let number = byte.wrapping_sub(b'0');
    let letter = (byte | 0x20).wrapping_sub(b'a');
    let value = if letter < 6 { letter + 10 } else { 255 };
    if number < 10 { number } else { value }
}

/// The lower-case digit of a value below 16.
fn digit(value: u8) -> u8 {
    value + if value < 10 { b'0' } else { b'a' - 10 }
}

/// Appends pairs of lower-case hexadecimal digits.
pub(crate) fn append_octets(text: &mut Vec<u8>, octets: &[u8]) {
    let start = text.len();
    text.resize(start + 2 * octets.len(), 0);
    for (pair, octet) in text[start..].as_chunks_mut::<2>().0.iter_mut().zip(octets) {
        *pair = [digit(octet >> 4), digit(octet & 15)];
    }
}

/// Appends a number without leading zeros; zero is `0`. `octets` has the most significant octet first.
pub(crate) fn append_number(text: &mut Vec<u8>, octets: &[u8]) {
    let start = octets.iter().position(|&octet| octet != 0).unwrap_or(octets.len());
    match octets[start..].split_first() {
        Some((&first, rest)) if first < 16 => {
            text.push(digit(first));
            append_octets(text, rest);
        }
        Some(_) => append_octets(text, &octets[start..]),
        None => text.push(b'0'),
    }
}

/// Pairs of lower-case hexadecimal digits.
pub(crate) fn format_octets(octets: &[u8]) -> String {
    let mut text = Vec::with_capacity(2 * octets.len());
    append_octets(&mut text, octets);
    text.into_iter().map(char::from).collect()
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
        for byte in 0..=255 {
            let value = char::from(byte).to_digit(16);
            assert_eq!(digit_value(byte), value.map_or(255, |value| value as u8));
        }
        assert!(octets("0é").unwrap_err().contains("'é' at position 1"));
    }

    #[test]
    fn numbers_come_back_without_leading_zeros() {
        let again = |text: &str| {
            let mut formatted = Vec::new();
            append_number(&mut formatted, &number(text).unwrap().0);
            String::from_utf8(formatted).unwrap()
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
