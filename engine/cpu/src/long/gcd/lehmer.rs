//! Lehmer's algorithm: matrices of words from the leading 128 bits of both numbers.

use super::euclid::step;
use super::matrix::{Matrix, WordMatrix};
use super::natural::{Natural, trim, wide_at};
use crate::long::multiplier::Multiplier;
use modmill_core::limbs::bit_length;

/// The lower bound of reduced leading parts. It keeps the entries of matrices below `2^128 / 2^65 = 2^63`.
const LOW: u128 = 1 << 65;

/// Reduces both numbers as long as they keep more than `floor` limbs, and updates the matrix.
pub(super) fn reduce(
    multiplier: &Multiplier,
    a: &mut Natural,
    b: &mut Natural,
    floor: usize,
    matrix: &mut Matrix,
) {
    while round(multiplier, a, b, floor, matrix) {}
}

/// Reduces both numbers by about 63 bits, or by one quotient, if they keep more than `floor` limbs. Returns
/// whether it did.
pub(super) fn round(
    multiplier: &Multiplier,
    a: &mut Natural,
    b: &mut Natural,
    floor: usize,
    matrix: &mut Matrix,
) -> bool {
    let place = bit_length(a).max(bit_length(b)).saturating_sub(128);
    // The truncated bits change reduced parts by less than 2^63. Parts that are this much above 2^s represent
    // numbers above `2^s 2^place`.
    let low = match (64 * floor).saturating_sub(place) {
        0 => LOW,
        127.. => return step(multiplier, a, b, floor, matrix),
        s => LOW.max((1 << s) + (1 << 64)),
    };
    match leading(wide_at(a, place), wide_at(b, place), low) {
        Some(small) => {
            apply(small, a, b);
            matrix.times_small(small);
            true
        }
        None => step(multiplier, a, b, floor, matrix),
    }
}

/// The matrix that reduces two leading parts to at least `low`. `None` if it is the identity.
fn leading(mut x: u128, mut y: u128, low: u128) -> Option<WordMatrix> {
    if x < low || y < low {
        return None;
    }
    let mut m = [[1u64, 0], [0, 1]];
    loop {
        let is_second = x < y;
        let (large, small) = if is_second { (&mut y, x) } else { (&mut x, y) };
        let (mut quotient, mut rest) = divide(*large, small);
        if rest < low {
            (quotient, rest) = (quotient - 1, rest + small);
        }
        if quotient == 0 {
            break;
        }
        *large = rest;
        let (to, from) = if is_second { (0, 1) } else { (1, 0) };
        for row in &mut m {
            row[to] += quotient * row[from];
        }
    }
    (m != [[1, 0], [0, 1]]).then_some(WordMatrix(m))
}

/// The quotient, below `2^63`, and the remainder. Most quotients are small.
fn divide(x: u128, y: u128) -> (u64, u128) {
    let mut rest = x - y;
    for quotient in 1..4 {
        if rest < y {
            return (quotient, rest);
        }
        rest -= y;
    }
    ((x / y) as u64, x % y)
}

/// `(a, b) <- m^-1 (a, b)`. The results are non-negative.
fn apply(WordMatrix([[m00, m01], [m10, m11]]): WordMatrix, a: &mut Natural, b: &mut Natural) {
    let len = a.len().max(b.len());
    a.resize(len, 0);
    b.resize(len, 0);
    let mut carries = [0i128; 2];
    for (a, b) in a.iter_mut().zip(&mut *b) {
        // Products of a limb and a number below 2^63 are below 2^127 - 2^64. The carry is below 2^64 in
        // magnitude.
        let difference = |x: (u64, u64), y: (u64, u64), carry: i128| {
            (u128::from(x.0) * u128::from(x.1)) as i128 - (u128::from(y.0) * u128::from(y.1)) as i128 + carry
        };
        let next =
            [difference((m11, *a), (m01, *b), carries[0]), difference((m00, *b), (m10, *a), carries[1])];
        [*a, *b] = next.map(|sum| sum as u64);
        carries = next.map(|sum| sum >> 64);
    }
    debug_assert_eq!(carries, [0, 0], "reduced numbers are not negative");
    trim(a);
    trim(b);
}
