//! Random and hard words, and arithmetic modulo `p = 2^64 - 2^32 + 1` by division.

use fastrand::Rng;
use std::fmt::Write;

const P: u64 = 0xFFFF_FFFF_0000_0001;

/// A word that is hard as often as it is random: ends of ranges, words around p, long runs of equal bits. Not
/// always below p.
pub(crate) fn hard_word(random: &mut Rng) -> u64 {
    let word = random.u64(..);
    match random.u64(..) % 10 {
        0 => 0,
        1 => u64::MAX,
        2 => P - 1 - word % 3,
        3 => P + word % 3,
        4 => u64::MAX << (word % 64),
        5 => u64::MAX >> (word % 64),
        _ => word,
    }
}

pub(crate) fn plus(x: u64, y: u64) -> u64 {
    ((u128::from(x) + u128::from(y)) % u128::from(P)) as u64
}

pub(crate) fn times(x: u64, y: u64) -> u64 {
    (u128::from(x) * u128::from(y) % u128::from(P)) as u64
}

pub(crate) fn power(base: u64, exponent: u64) -> u64 {
    (0..64).rev().fold(1, |value, bit| {
        let square = times(value, value);
        if exponent >> bit & 1 == 1 { times(square, base) } else { square }
    })
}

/// A number of 64-bit words, the least significant first, in hexadecimal.
pub(crate) fn hex(words: &[u64]) -> String {
    words.iter().rev().fold(String::new(), |mut text, word| {
        let _ = write!(text, "{word:016x}");
        text
    })
}
