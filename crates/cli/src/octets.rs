//! Octet strings as hexadecimal text.

/// Reads pairs of hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return Err("an odd number of hexadecimal digits".to_owned());
    }
    let pair = |(index, pair): (usize, &[u8; 2])| match (digit(pair[0]), digit(pair[1])) {
        (Some(high), Some(low)) => Ok(high << 4 | low),
        _ => Err(format!("no hexadecimal digits at position {}", 2 * index)),
    };
    pairs.iter().enumerate().map(pair).collect()
}

/// Pairs of lower-case hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_come_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&to_hex(&bytes)).unwrap(), bytes);
        assert_eq!(from_hex("00fFA0"), Ok(vec![0, 255, 160]));
        assert!(from_hex("0").unwrap_err().contains("odd"));
        assert!(from_hex("00zz").unwrap_err().contains("position 2"));
    }
}
