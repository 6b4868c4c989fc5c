//! Karatsuba's product of long numbers, in time that does not depend on their values.

use super::band;
use modmill_core::limbs::{add_assign, sub_assign};
use modmill_core::mask;
use zeroize::Zeroizing;

/// The number of limbs from which three half products are faster than rows; measured.
pub(super) const THRESHOLD: usize = 48;

/// `out <- x y`. The length of `out` is the sum of the lengths of the factors.
pub(super) fn product(x: &[u64], y: &[u64], out: &mut [u64]) {
    if x.len() == y.len() {
        recurse(x, y, out, &mut Zeroizing::new(vec![0; scratch_limbs(x.len())]));
    } else {
        band::product(out, x, y);
    }
}

/// Scratch limbs for factors of `n` limbs.
fn scratch_limbs(n: usize) -> usize {
    let half = n.div_ceil(2);
    if n < THRESHOLD { 0 } else { 4 * half + 1 + scratch_limbs(half) }
}

/// With `x = x_h B + x_l` and `y = y_h B + y_l`, the product is `x y = h B^2 + (h + l - d) B + l`, where
/// `h = x_h y_h`, `l = x_l y_l` and `d = (x_h - x_l)(y_h - y_l)`.
fn recurse(x: &[u64], y: &[u64], out: &mut [u64], scratch: &mut [u64]) {
    if x.len() < THRESHOLD {
        return band::product(out, x, y);
    }
    let half = x.len().div_ceil(2);
    let ((x_low, x_high), (y_low, y_high)) = (x.split_at(half), y.split_at(half));
    let (middle, scratch) = scratch.split_at_mut(2 * half + 1);
    let (difference, scratch) = scratch.split_at_mut(2 * half);
    let (x_distance, y_distance) = middle[..2 * half].split_at_mut(half);
    let sign = distance(x_high, x_low, x_distance) ^ distance(y_high, y_low, y_distance);
    recurse(x_distance, y_distance, difference, scratch);
    let (low, high) = out.split_at_mut(2 * half);
    recurse(x_low, y_low, low, scratch);
    recurse(x_high, y_high, high, scratch);
    // The middle term is x_h y_l + x_l y_h, which is non-negative and below 2 B^2.
    middle[..2 * half].copy_from_slice(low);
    middle[2 * half] = 0;
    add_assign(middle, high);
    add_signed(middle, difference, !sign);
    add_assign(&mut out[half..], middle);
}

/// `out <- |a - b|`. Returns a mask of all ones if a is less than b. `a` may be one limb shorter than `b`.
fn distance(a: &[u64], b: &[u64], out: &mut [u64]) -> u64 {
    out[..a.len()].copy_from_slice(a);
    out[a.len()..].fill(0);
    let less = mask::from_bit(sub_assign(out, b));
    let mut carry = less & 1;
    for limb in out {
        let (negated, overflow) = (*limb ^ less).overflowing_add(carry);
        (*limb, carry) = (negated, u64::from(overflow));
    }
    less
}

/// `sum <- sum + term`, or `sum - term` if the mask `minus` is all ones, modulo the length of `sum`. `sum` is
/// one limb longer than `term`.
fn add_signed(sum: &mut [u64], term: &[u64], minus: u64) {
    let mut carry = u128::from(minus & 1);
    for (limb, term) in sum.iter_mut().zip(term.iter().chain([&0])) {
        carry += u128::from(*limb) + u128::from(term ^ minus);
        *limb = carry as u64;
        carry >>= 64;
    }
}
