//! Bytes in hexadecimal.

/// The two digits of a byte, in lower case.
#[must_use]
pub fn digits(octet: u8) -> [u8; 2] {
    let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
    [digit(octet >> 4), digit(octet)]
}

/// The bytes in lower case.
#[must_use]
pub fn encode(octets: &[u8]) -> String {
    let digits: Vec<[u8; 2]> = octets.iter().map(|octet| digits(*octet)).collect();
    // Digits are ASCII: this does not fail.
    String::from_utf8(digits.into_flattened()).unwrap_or_default()
}

/// Reads digits of either case into `octets`. Returns `None` if there is another character, or if there are
/// not exactly as many digits as `octets` need.
#[must_use]
pub fn decode(digits: &[u8], octets: &mut [u8]) -> Option<()> {
    if digits.len() != 2 * octets.len() {
        return None;
    }
    let value = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    for (octet, pair) in octets.iter_mut().zip(digits.chunks_exact(2)) {
        *octet = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_are_read_as_written() {
        let all: Vec<u8> = (0..=255).collect();
        let text = encode(&all);
        assert!(text.starts_with("000102") && text.ends_with("fdfeff"), "{text}");
        for text in [text.clone(), text.to_uppercase()] {
            let mut read = vec![0; 256];
            decode(text.as_bytes(), &mut read).unwrap();
            assert_eq!(read, all);
        }
        assert_eq!((encode(&[]), decode(b"", &mut [])), (String::new(), Some(())));
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["0", "000", "00000", "0g00", "+000", " 000", "0\u{e9}0"] {
            assert_eq!(decode(text.as_bytes(), &mut [0; 2]), None, "{text}");
        }
    }
}
