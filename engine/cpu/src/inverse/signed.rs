//! Signed numbers in digits of 62 bits, and their update by a batch of division steps.

use super::divsteps::{BATCH, StepMatrix};
use modmill_core::radix;
use zeroize::Zeroizing;

const MASK: i64 = (1 << BATCH) - 1;

/// A number of n digits of 62 bits, of which the last is signed. Its range is `-2^(62n + 1)` to
/// `2^(62n + 1)`.
pub(crate) type Signed = Zeroizing<Vec<i64>>;

/// Converts a non-negative number to the digits of a number of `bits` bits.
pub(crate) fn from_limbs(limbs: &[u64], bits: usize) -> Signed {
    let mut digits = Zeroizing::new(vec![0; bits.div_ceil(BATCH as usize)]);
    radix::split(limbs, BATCH, 1, &mut digits);
    Zeroizing::new(digits.iter().map(|&digit| digit as i64).collect())
}

/// Converts a non-negative number to `limbs` limbs. The number must fit in them.
pub(crate) fn to_limbs(number: &[i64], limbs: usize) -> Zeroizing<Vec<u64>> {
    let digits: Zeroizing<Vec<u64>> = Zeroizing::new(number.iter().map(|&digit| digit as u64).collect());
    let mut out = Zeroizing::new(vec![0; limbs]);
    radix::join(&digits, BATCH, 1, &mut out);
    out
}

/// All ones for a negative number, zero otherwise.
#[inline]
pub(crate) fn sign(number: &[i64]) -> i64 {
    number.last().map_or(0, |top| top >> 63)
}

/// `number <- (number ^ flip) - flip + (term & take)`. The masks select the number or its negative, and the
/// term or zero.
pub(crate) fn negate_and_add(number: &mut [i64], flip: i64, term: &[i64], take: i64) {
    let top = number.len() - 1;
    let mut carry = 0;
    for (index, (digit, term)) in number.iter_mut().zip(term).enumerate() {
        carry += (*digit ^ flip) - flip + (term & take);
        *digit = if index == top { carry } else { carry & MASK };
        carry >>= BATCH;
    }
}

/// The low 64 bits of a number. The first digit holds 62 of them.
pub(crate) fn low_word(number: &[i64]) -> u64 {
    (number[0] as u64) | number.get(1).map_or(0, |&next| (next as u64) << BATCH)
}

#[inline(always)]
fn wide(a: i64, b: i64) -> i128 {
    i128::from(a) * i128::from(b)
}

/// `(f, g) <- (u f + v g, q f + r g) / 2^62`; the division is exact.
///
/// A sum of two products is below `2^62 2^62` for the low digits and below twice that for the top digits. The
/// carry is below 2^65. All of it fits in 128 bits.
pub(crate) fn update(f: &mut [i64], g: &mut [i64], StepMatrix { u, v, q, r }: StepMatrix) {
    let len = f.len();
    let (f, g) = (&mut f[..len], &mut g[..len]);
    // The lowest digits of both sums are zero and are dropped.
    let mut carry_f = (wide(u, f[0]) + wide(v, g[0])) >> BATCH;
    let mut carry_g = (wide(q, f[0]) + wide(r, g[0])) >> BATCH;
    for index in 1..len {
        let (x, y) = (f[index], g[index]);
        carry_f += wide(u, x) + wide(v, y);
        carry_g += wide(q, x) + wide(r, y);
        f[index - 1] = carry_f as i64 & MASK;
        g[index - 1] = carry_g as i64 & MASK;
        carry_f >>= BATCH;
        carry_g >>= BATCH;
    }
    f[len - 1] = carry_f as i64;
    g[len - 1] = carry_g as i64;
}

/// `(d, e) <- (u d + v e, q d + r e) / 2^62` modulo the odd `modulus`, whose inverse modulo 2^62 is
/// `inverse`. The update keeps d and e above -2N and below N.
///
/// First N is added to d and e where they are negative, so both are between -N and N. `2^-62 (u d + v e)` and
/// its counterpart are in the same range, because `|u| + |v| <= 2^62`. Then a multiple of N makes the lowest
/// digit zero. The multiplier is between 0 and -(2^62 - 1), so the quotient decreases by less than N.
pub(crate) fn update_modulo(d: &mut [i64], e: &mut [i64], step: StepMatrix, modulus: &[i64], inverse: i64) {
    let (sign_d, sign_e) = (sign(d), sign(e));
    let negative_d = (step.u & sign_d) + (step.v & sign_e);
    let negative_e = (step.q & sign_d) + (step.r & sign_e);
    let low_d = step.u.wrapping_mul(d[0]).wrapping_add(step.v.wrapping_mul(e[0]));
    let low_e = step.q.wrapping_mul(d[0]).wrapping_add(step.r.wrapping_mul(e[0]));
    let times_d = negative_d - (inverse.wrapping_mul(low_d).wrapping_add(negative_d) & MASK);
    let times_e = negative_e - (inverse.wrapping_mul(low_e).wrapping_add(negative_e) & MASK);
    let (mut carry_d, mut carry_e) = (0i128, 0i128);
    let (mut below_d, mut below_e) = (&mut 0, &mut 0);
    for ((d, e), &n) in d.iter_mut().zip(e).zip(modulus) {
        carry_d += wide(step.u, *d) + wide(step.v, *e) + wide(times_d, n);
        carry_e += wide(step.q, *d) + wide(step.r, *e) + wide(times_e, n);
        *below_d = carry_d as i64 & MASK;
        *below_e = carry_e as i64 & MASK;
        carry_d >>= BATCH;
        carry_e >>= BATCH;
        (below_d, below_e) = (d, e);
    }
    *below_d = carry_d as i64;
    *below_e = carry_e as i64;
}
