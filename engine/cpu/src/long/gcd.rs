//! Greatest common divisors and cofactors of long numbers, in subquadratic time: recursive half-gcd (Möller,
//! "On Schönhage's algorithm and subquadratic integer GCD computation", 2008), Lehmer's steps below a
//! threshold, and products by transforms. Divisors of short numbers are found by division steps. The time
//! depends on the numbers, so they must be public.
//!
//! Numbers are reduced by matrices of determinant 1 with non-negative entries: `(a, b) = M (a', b')`. No
//! number becomes zero. The reduction ends with `a' = b' = g`, where `g = m_11 a - m_01 b = m_00 b - m_10 a`.

mod euclid;
mod half;
mod lehmer;
mod matrix;
mod natural;
mod short;

use crate::long::multiplier::Multiplier;
use matrix::Matrix;
use natural::{Natural, trimmed};
pub use short::Scratch;

/// The limbs below which divisors are found by division steps.
pub(crate) const STEPS_LIMBS: usize = half::THRESHOLD;

use std::cmp::Ordering;

/// A greatest common divisor with cofactors: `s a - t b = g`, or `t b - s a = g` if `is_swapped`. A cofactor
/// is at most half of the other number divided by g, unless one number divides the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bezout {
    /// The greatest common divisor.
    pub gcd: Vec<u64>,
    /// The cofactor of a.
    pub s: Vec<u64>,
    /// The cofactor of b.
    pub t: Vec<u64>,
    /// Whether the product with a is subtracted.
    pub is_swapped: bool,
}

/// Writes `gcd(a, b)` to `out`, which is zero and as long as the longer number. The divisor of two zeros is
/// zero.
///
/// ```
/// use modmill_cpu::long::Multiplier;
/// use modmill_cpu::long::gcd::{Scratch, gcd_into};
///
/// let mut divisor = [0];
/// gcd_into(&Multiplier::detect(None)[0], &[12], &[18], &mut divisor, &mut Scratch::default());
/// assert_eq!(divisor, [6]);
/// ```
pub fn gcd_into(multiplier: &Multiplier, a: &[u64], b: &[u64], out: &mut [u64], scratch: &mut Scratch) {
    let (a, b) = (natural::used(a), natural::used(b));
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    if short.is_empty() {
        return out[..long.len()].copy_from_slice(long);
    }
    if long.len() - short.len() < 2 && long.len() < half::THRESHOLD {
        return short::gcd(long, short, out, scratch);
    }
    let (mut long, mut short) = (long.to_vec(), short.to_vec());
    // Steps would shorten the longer number by a bit at a time.
    while long.len() - short.len() >= 2 {
        let rest = natural::remainder(multiplier, long, &short);
        if rest.is_empty() {
            return out[..short.len()].copy_from_slice(&short);
        }
        (long, short) = (short, rest);
    }
    shorten(multiplier, &mut long, &mut short);
    short::gcd(&long, &short, out, scratch);
}

/// `gcd(a, b)` with cofactors.
#[must_use]
pub fn xgcd(multiplier: &Multiplier, a: &[u64], b: &[u64]) -> Bezout {
    let (a, b) = (trimmed(a), trimmed(b));
    match (a.is_empty(), b.is_empty()) {
        (true, true) => Bezout { gcd: a, s: vec![], t: vec![], is_swapped: false },
        (true, _) => Bezout { gcd: b, s: vec![], t: vec![1], is_swapped: true },
        (_, true) => Bezout { gcd: a, s: vec![1], t: vec![], is_swapped: false },
        _ => {
            let mut matrix = Matrix::identity(2);
            let gcd = reduced(multiplier, a, b, &mut matrix);
            let [[m00, m01], [m10, m11]] = matrix.into_entries();
            let is_swapped = natural::compare(&m10, &m11) == Ordering::Less;
            let (s, t) = if is_swapped { (m10, m00) } else { (m11, m01) };
            Bezout { gcd, s, t, is_swapped }
        }
    }
}

/// `a^-1 mod n`, below n. `None` if a and n share a factor, or if n is zero.
#[must_use]
pub fn invert(multiplier: &Multiplier, a: &[u64], n: &[u64]) -> Option<Vec<u64>> {
    let n = trimmed(n);
    if n.is_empty() {
        return None;
    }
    let a = natural::remainder(multiplier, trimmed(a), &n);
    if a.is_empty() {
        return (n == [1]).then(Vec::new);
    }
    let mut matrix = Matrix::last_row();
    let gcd = reduced(multiplier, a, n, &mut matrix);
    // m_11 is at most n, and equals n only if a = n = 1.
    (gcd == [1]).then(|| matrix.into_last_entry())
}

/// The greatest common divisor of two non-zero numbers. `matrix` is multiplied by the matrix that reduces
/// them to it.
fn reduced(multiplier: &Multiplier, mut a: Natural, mut b: Natural, matrix: &mut Matrix) -> Natural {
    loop {
        let n = a.len().max(b.len());
        if n < half::THRESHOLD {
            lehmer::reduce(multiplier, &mut a, &mut b, 0, matrix);
            return a;
        }
        if !half::reduce_top(multiplier, &mut a, &mut b, n / 2, matrix)
            && !lehmer::round(multiplier, &mut a, &mut b, 0, matrix)
        {
            return a;
        }
    }
}

/// Reduces two non-zero numbers to less than the threshold of half-gcd, or to their divisor if that is
/// longer.
fn shorten(multiplier: &Multiplier, a: &mut Natural, b: &mut Natural) {
    let mut none = Matrix::identity(0);
    loop {
        let n = a.len().max(b.len());
        // Without a matrix to update, small steps cost less.
        if n < half::THRESHOLD
            || !half::reduce_top(multiplier, a, b, 2 * n / 3, &mut none)
                && !lehmer::round(multiplier, a, b, 0, &mut none)
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
