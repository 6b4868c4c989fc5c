//! Hexadecimal text to bytes and back.

use modmill::hex::HexError;
use zeroize::Zeroizing;

/// Reads pairs of hexadecimal digits.
pub(crate) fn octets(text: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    if !text.len().is_multiple_of(2) && text.is_ascii() {
        return Err("an odd number of hexadecimal digits".to_owned());
    }
    digit_pairs(text, 0).map_err(|error| error.to_string())
}

/// Reads a number of any length, with or without `0x`. Returns its bytes, most significant first, and the
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

/// The bytes that digits stand for; the first byte has one digit if their number is odd. `prefix` characters
/// stood before the digits.
fn digit_pairs(digits: &str, prefix: usize) -> Result<Zeroizing<Vec<u8>>, HexError> {
    let mut octets = Zeroizing::new(vec![0; digits.len().div_ceil(2)]);
    if decode(digits.as_bytes(), &mut octets) {
        return Ok(octets);
    }
    let mut characters = digits.chars().enumerate();
    let wrong = characters.find(|(_, character)| !character.is_ascii_hexdigit());
    let (position, character) = wrong.unwrap_or_default();
    Err(HexError::Digit { character, position: position + prefix })
}

/// A byte in each of the eight places of a word.
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Writes the bytes that hexadecimal digits stand for; the first byte has one digit if their number is odd.
/// Returns whether all are digits. `octets` has `digits.len().div_ceil(2)` bytes.
///
/// Digits may be secret: there is no branch and no address that depends on them.
pub(crate) fn decode(digits: &[u8], octets: &mut [u8]) -> bool {
    let (first, digits) = digits.split_at(digits.len() % 2);
    let (first_octet, octets) = octets.split_at_mut(first.len().min(octets.len()));
    let mut wrong = 0;
    for (octet, &digit) in first_octet.iter_mut().zip(first) {
        let value;
        (value, wrong) = decode_eight([b'0', b'0', b'0', b'0', b'0', b'0', b'0', digit]);
        *octet = value.to_be_bytes()[3];
    }
    let (eights, rest) = digits.as_chunks::<8>();
    let (fours, tail) = octets.as_chunks_mut::<4>();
    for (four, eight) in fours.iter_mut().zip(eights) {
        let (value, errors) = decode_eight(*eight);
        *four = value.to_be_bytes();
        wrong |= errors;
    }
    if !rest.is_empty() {
        let mut padded = [b'0'; 8];
        padded[8 - rest.len()..].copy_from_slice(rest);
        let (value, errors) = decode_eight(padded);
        let value = value.to_be_bytes();
        let length = tail.len().min(4);
        tail[..length].copy_from_slice(&value[4 - length..]);
        wrong |= errors;
    }
    wrong == 0
}

/// The value of eight digits, and a word that is not zero if any of them is no digit.
///
/// The digits are bytes of one word. For a byte b below 128, `b + (128 - k)` has its highest bit set exactly
/// if b is at least k, and no sum reaches the next byte. A byte of 128 or more is an error by itself.
fn decode_eight(digits: [u8; 8]) -> (u32, u64) {
    const HIGH: u64 = each(0x80);
    let digits = u64::from_be_bytes(digits);
    let low = digits & !HIGH;
    let lower_case = low | each(0x20);
    let at_least = |word: u64, bound: u8| word + each(0x80 - bound);
    let numbers = at_least(low, b'0') & !at_least(low, b'9' + 1);
    let letters = at_least(lower_case, b'a') & !at_least(lower_case, b'f' + 1) & HIGH;
    let wrong = (!(numbers | letters) | digits) & HIGH;
    // A letter's low four bits are its value less 9.
    let values = (low & each(0x0f)) + (letters >> 7) * 9;
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    ((fours | fours >> 16) as u32, wrong)
}

/// The eight lower-case digits of a word.
fn encode_eight(value: u32) -> [u8; 8] {
    let value = u64::from(value);
    let fours = (value | value << 16) & 0x0000_ffff_0000_ffff;
    let pairs = (fours | fours << 8) & 0x00ff_00ff_00ff_00ff;
    let values = (pairs | pairs << 4) & each(0x0f);
    // One for each value above 9.
    let letters = (values + each(6)) >> 4 & each(1);
    (values + each(b'0') + letters * u64::from(b'a' - b'9' - 1)).to_be_bytes()
}

/// The lower-case digit of a value below 16.
fn digit(value: u8) -> u8 {
    encode_eight(value.into())[7]
}

/// Appends pairs of lower-case hexadecimal digits.
pub(crate) fn append_octets(text: &mut Vec<u8>, octets: &[u8]) {
    let start = text.len();
    text.resize(start + 2 * octets.len(), 0);
    let (eights, rest) = text[start..].as_chunks_mut::<8>();
    let (fours, tail) = octets.as_chunks::<4>();
    for (eight, four) in eights.iter_mut().zip(fours) {
        *eight = encode_eight(u32::from_be_bytes(*four));
    }
    for (pair, &octet) in rest.as_chunks_mut::<2>().0.iter_mut().zip(tail) {
        pair.copy_from_slice(&encode_eight(octet.into())[6..]);
    }
}

/// Appends a number without leading zeros; zero is `0`. `octets` has the most significant byte first.
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
        // Every byte at every place of a word, in texts with and without whole words before it.
        for byte in 0..=255 {
            let value = char::from(byte).to_digit(16);
            for (length, place) in (1..=19).flat_map(|length| (0..length).map(move |place| (length, place))) {
                let mut digits = vec![b'0'; length];
                digits[place] = byte;
                let mut octets = vec![0; length.div_ceil(2)];
                assert_eq!(decode(&digits, &mut octets), value.is_some());
                let mut expected = vec![0; octets.len()];
                expected[(place + length % 2) / 2] =
                    (value.unwrap_or(0) << if (length - place) % 2 == 0 { 4 } else { 0 }) as u8;
                assert!(value.is_none() || octets == expected);
            }
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
