//! Numbers and sizes on the command line.

use crate::failure::Failure;
use modmill::hex;
use modmill::number::bit_length;
use modmill_testing::rng::Rng;

/// Reads a number of hexadecimal digits, or `@FILE`: the file that holds one.
pub(super) fn read_number(option: &str, text: &str) -> Result<Vec<u64>, Failure> {
    let wrong = |error: hex::HexError| Failure::Usage(format!("{option}: {error}"));
    match text.strip_prefix('@') {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| Failure::file("read", file, &error))?;
            hex::parse(text.trim()).map_err(wrong)
        }
        None => hex::parse(text).map_err(wrong),
    }
}

/// Reads a number of bits: digits, with K for 1024 or M for 1024 K.
pub(super) fn parse_bits(text: &str) -> Result<usize, String> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let number: usize =
        digits.parse().map_err(|_| "not a number of bits such as 786432 or 768K".to_owned())?;
    number
        .checked_mul(factor)
        .filter(|&bits| bits > 0)
        .ok_or_else(|| "must be positive, and less than 2^64".to_owned())
}

/// Reads a clock in MHz.
pub(super) fn parse_clock(text: &str) -> Result<f64, String> {
    let clock: f64 = text.parse().map_err(|_| "not a number of MHz".to_owned())?;
    if clock.is_finite() && clock > 0.0 { Ok(clock) } else { Err("must be positive".to_owned()) }
}

/// A number of exactly `bits` bits, the same for the same seed.
pub(super) fn random_number(bits: usize, seed: u64) -> Vec<u64> {
    Rng::new(seed).exact(bits).to_u64_digits()
}

/// A long number as its ends, for reading.
pub(super) fn shortened(limbs: &[u64]) -> String {
    let text = hex::format(limbs);
    let bits = bit_length(limbs);
    match text.len() {
        0..=50 => format!("{text} ({bits} bits)"),
        length => format!("{}...{} ({bits} bits)", &text[..16], &text[length - 16..]),
    }
}

/// A time in the unit that suits it.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1e-3 => format!("{:.3} ms", 1e3 * s),
        s => format!("{:.2} us", 1e6 * s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_clocks_are_read() {
        assert_eq!(["768K", "3072", "1m"].map(parse_bits), [Ok(786_432), Ok(3072), Ok(1 << 20)]);
        assert!(["", "K", "0", "-1", "99999999999999999999"].iter().all(|text| parse_bits(text).is_err()));
        assert!(["0", "-3", "x", "inf"].iter().all(|text| parse_clock(text).is_err()));
        assert_eq!(parse_clock("229.4"), Ok(229.4));
    }

    #[test]
    fn random_numbers_have_their_length() {
        for bits in [1, 63, 64, 65, 3072] {
            assert_eq!(bit_length(&random_number(bits, 5)), bits);
        }
        assert!(shortened(&random_number(3072, 1)).ends_with("(3072 bits)"));
    }
}
