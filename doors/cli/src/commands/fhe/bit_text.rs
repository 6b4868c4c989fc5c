//! Bits as text and as numbers. In text the first character is the highest bit; in memory the lowest bit is
//! the first.

use zeroize::Zeroizing;

/// Reads a text such as `10110`.
pub(super) fn parse_bits(text: &str) -> Result<Zeroizing<Vec<bool>>, String> {
    let bit = |(place, character)| match character {
        '0' => Ok(false),
        '1' => Ok(true),
        other => Err(format!("character {} is {other:?}; only 0 and 1 are bits", place + 1)),
    };
    let mut bits = Zeroizing::new(text.chars().enumerate().map(bit).collect::<Result<Vec<_>, _>>()?);
    bits.reverse();
    if bits.is_empty() { Err("there are no bits".to_owned()) } else { Ok(bits) }
}

/// Reads a number in decimal, in hexadecimal after `0x` or in binary after `0b`.
pub(super) fn parse_number(text: &str) -> Result<u128, String> {
    let lower = text.to_ascii_lowercase();
    let parsed = match (lower.strip_prefix("0x"), lower.strip_prefix("0b")) {
        (Some(digits), _) => u128::from_str_radix(digits, 16),
        (_, Some(digits)) => u128::from_str_radix(digits, 2),
        _ => lower.parse(),
    };
    parsed.map_err(|_| "not a number of at most 128 bits, such as 22, 0x16 or 0b10110".to_owned())
}

/// The bits of a number, if it has at most `width` of them.
pub(super) fn bits_of(number: u128, width: usize) -> Option<Zeroizing<Vec<bool>>> {
    let bit = |place: usize| place < 128 && number >> place & 1 == 1;
    let fits = (width..128).all(|place| !bit(place));
    fits.then(|| Zeroizing::new((0..width).map(bit).collect()))
}

/// The text of bits.
pub(super) fn bits_text(bits: &[bool]) -> Zeroizing<String> {
    Zeroizing::new(bits.iter().rev().map(|&bit| if bit { '1' } else { '0' }).collect())
}

/// The number that bits are, in decimal.
pub(super) fn number_text(bits: &[bool]) -> Zeroizing<String> {
    const BASE: u64 = 1_000_000_000_000_000_000;
    // 18 decimal digits each, the lowest first; as many as are needed, so that nothing is left behind.
    let mut digits = Zeroizing::new(Vec::with_capacity(bits.len() / 59 + 1));
    digits.push(0u64);
    for &bit in bits.iter().rev() {
        let mut carry = u64::from(bit);
        for digit in digits.iter_mut() {
            let doubled = 2 * *digit + carry;
            (*digit, carry) = (doubled % BASE, doubled / BASE);
        }
        if carry > 0 {
            digits.push(carry);
        }
    }
    let mut text = Zeroizing::new(String::with_capacity(18 * digits.len()));
    let (last, others) = digits.split_last().unwrap_or((&0, &[]));
    text.push_str(&Zeroizing::new(last.to_string()));
    others.iter().rev().for_each(|digit| text.push_str(&Zeroizing::new(format!("{digit:018}"))));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_character_is_the_highest_bit() {
        let bits = parse_bits("10110").unwrap();
        assert_eq!(bits.as_slice(), [false, true, true, false, true]);
        assert_eq!((bits_text(&bits).as_str(), number_text(&bits).as_str()), ("10110", "22"));
        assert_eq!(bits_of(22, 5).unwrap(), bits);
        assert!(parse_bits("").is_err());
        assert!(parse_bits("1021").unwrap_err().contains("character 3 is '2'"));
    }

    #[test]
    fn numbers_are_read_and_fit_or_not() {
        assert_eq!(["22", "0x16", "0b10110"].map(parse_number), [Ok(22), Ok(22), Ok(22)]);
        assert!(["", "x", "-1", "0x", "1.5"].into_iter().all(|text| parse_number(text).is_err()));
        assert!(bits_of(22, 4).is_none() && bits_of(u128::MAX, 127).is_none());
        assert_eq!(bits_of(u128::MAX, 200).unwrap().iter().filter(|&&bit| bit).count(), 128);
    }

    #[test]
    fn long_numbers_are_written_in_decimal() {
        for number in [0, 1, 999_999_999_999_999_999, 10u128.pow(18), 10u128.pow(36), u128::MAX] {
            assert_eq!(number_text(&bits_of(number, 128).unwrap()).as_str(), number.to_string());
        }
        let mut power = vec![false; 200];
        power.push(true);
        let expected = "1606938044258990275541962092341162602522202993782792835301376";
        assert_eq!((number_text(&power).as_str(), number_text(&[]).as_str()), (expected, "0"));
    }
}
