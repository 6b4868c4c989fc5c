//! Exact reciprocals of long numbers by Newton's iteration, in time that depends on lengths only.

use super::multiplier::Multiplier;
use modmill_core::limbs::{add_assign, negate, reduce_once, sub_assign, sub_assign_times};
use modmill_core::mask;
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

fn zeros(len: usize) -> Limbs {
    Zeroizing::new(vec![0; len])
}

/// `floor((B^2n - 1) / d)` with `B = 2^64`, in n + 1 limbs, for a d of n limbs whose top bit is set.
///
/// ```
/// use modmill_cpu::long::{Multiplier, reciprocal};
///
/// let multiplier = Multiplier::detect(None)[0];
/// assert_eq!(reciprocal(&multiplier, &[1 << 63])[..], [u64::MAX, 1]);
/// ```
///
/// # Panics
/// If d is empty or its top bit is not set.
#[must_use]
pub fn reciprocal(multiplier: &Multiplier, d: &[u64]) -> Limbs {
    let n = d.len();
    assert!(d.last().is_some_and(|top| top >> 63 == 1), "the top bit of a divisor must be set");
    let mut x = approximate(multiplier, d);
    // The approximation has an error of at most SLACK, so the remainder is in 0 .. (2 SLACK + 1) d.
    sub_assign(&mut x, &[SLACK]);
    let mut rest = zeros(2 * n + 1);
    multiplier.multiply(&x, d, &mut rest);
    // B^2n - 1 minus the product; both are below B^2n.
    rest[..2 * n].iter_mut().for_each(|limb| *limb = !*limb);
    rest.truncate(n + 1);
    correct(&mut x, &mut rest, d, 2 * SLACK);
    x
}

/// Completes a division whose quotient is too small by at most `times`, a small number. Subtracts d as often
/// as it fits into the remainder. The top bit of d is set, and `rest` has one limb more than d.
fn correct(quotient: &mut [u64], rest: &mut [u64], d: &[u64], times: u64) {
    // The estimate divides the top limbs of the remainder by the top limb of d plus one. It is exact or one
    // too small: the two quotients differ by less than `(times + 2) / 2^63`.
    let n = d.len();
    let (top, once) = (u128::from(rest[n]) << 64 | u128::from(rest[n - 1]), u128::from(d[n - 1]) + 1);
    let fits: u64 = (1..=times).map(|k| u64::from(top >= u128::from(k) * once)).sum();
    sub_assign_times(rest, d, fits);
    let fits = fits + reduce_once(rest, d);
    add_assign(quotient, &[fits]);
}

/// The largest error of [`approximate`].
const SLACK: u64 = 4;

/// The number of limbs up to which the reciprocal is computed bit by bit.
const FIRST: usize = 2;

/// An approximation of `B^2n / d` with an error of at most `SLACK`.
///
/// Let X be the reciprocal of the upper h limbs. Then `X' = X B^(n-h) + X (B^(n+h) - d X) / B^2h` has twice
/// as many correct limbs. With `X = (1 + e) B^2h / D_h` and e of the order `4 B^-h`, the error is `e^2`,
/// below `16 B^(-2h)`, and h satisfies `2h >= n + 2`. Two roundings remain: that of `X E / B^2h`, and that of
/// d to n limbs in the caller's reciprocal. Each is worth less than 2.
fn approximate(multiplier: &Multiplier, d: &[u64]) -> Limbs {
    let n = d.len();
    if n <= FIRST {
        return by_bits(d);
    }
    let h = n / 2 + 1;
    let x = approximate(multiplier, &d[n - h..]);
    let mut error = zeros(n + h + 1);
    multiplier.multiply(&x, d, &mut error);
    // E = B^(n+h) - d X is signed and below B^(n+1) in magnitude, so n + 2 limbs hold its magnitude.
    negate(&mut error);
    let top = error.len() - 1;
    add_assign(&mut error[top..], &[1]);
    let negative = mask::from_bit(error[top] >> 63);
    add_conditional_negation(&mut error, negative);
    let mut correction = zeros(x.len() + n + 2);
    multiplier.multiply(&x, &error[..n + 2], &mut correction);
    let mut sum = zeros(n + 1);
    sum[n - h..].copy_from_slice(&x);
    let mut shifted = zeros(n + 1);
    shifted[..n + 3 - h].copy_from_slice(&correction[2 * h..]);
    add_conditional_negation(&mut shifted, negative);
    add_assign(&mut sum, &shifted);
    sum
}

/// Negates a number modulo its length if the mask is all ones.
fn add_conditional_negation(value: &mut [u64], mask: u64) {
    let mut carry = mask & 1;
    for limb in value {
        let (sum, overflow) = (*limb ^ mask).overflowing_add(carry);
        (*limb, carry) = (sum, u64::from(overflow));
    }
}

/// `floor((B^2n - 1) / d)` by long division.
fn by_bits(d: &[u64]) -> Limbs {
    let n = d.len();
    let (mut quotient, mut rest) = (zeros(n + 1), zeros(n + 1));
    for place in (0..128 * n).rev() {
        // rest <- 2 rest + 1, the next bit of B^2n - 1.
        let mut below = 1;
        for limb in rest.iter_mut() {
            (*limb, below) = (*limb << 1 | below, *limb >> 63);
        }
        let fits = reduce_once(&mut rest, d);
        if place / 64 <= n {
            quotient[place / 64] |= fits << (place % 64);
        }
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use num_bigint::BigUint;

    #[test]
    fn reciprocals_are_exact() {
        let mut random = Random::new(19);
        for multiplier in Multiplier::detect(None) {
            for n in (1..40).chain([63, 64, 65, 159, 160, 161, 319, 320, 321, 322, 700]) {
                let mut low = vec![0; n];
                low[n - 1] = 1 << 63;
                let mut next = low.clone();
                next[0] |= 1;
                let mut half = vec![u64::MAX; n];
                half[n - 1] = u64::MAX >> 1 | 1 << 63;
                half[0] &= 1 << 63;
                let mut random = random.limbs(n);
                random[n - 1] |= 1 << 63;
                for d in [low, next, half, vec![u64::MAX; n], random] {
                    let all = (BigUint::from(1u8) << (128 * n)) - 1u8;
                    assert_eq!(big(&reciprocal(&multiplier, &d)), all / big(&d), "{n}");
                }
            }
        }
    }
}
