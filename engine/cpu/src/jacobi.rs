//! Jacobi symbols of public numbers.

use crate::inverse::divsteps::{BATCH, StepMatrix};
use crate::inverse::signed::{low_word, update};
use modmill_core::limbs::{bit_length, sub_assign, trailing_zeros};
use modmill_core::radix;
use std::cmp::Ordering;

/// Steps that are taken for each bit of the numbers before another algorithm finishes. Random numbers take
/// three; no bound is proven.
pub(crate) const MOST_STEPS: usize = 6;

/// The Jacobi symbol of a modulo an odd n: 0 if they share a factor, and otherwise 1 or -1.
///
/// ```
/// use modmill_cpu::jacobi::symbol;
///
/// assert_eq!((symbol(&[2], &[7]), symbol(&[3], &[7]), symbol(&[6], &[9])), (1, -1, 0));
/// ```
#[must_use]
pub fn symbol(a: &[u64], n: &[u64]) -> i8 {
    let bits = bit_length(a).max(bit_length(n)).max(1);
    let split = |number: &[u64]| {
        let mut digits = vec![0; bits.div_ceil(BATCH as usize)];
        radix::split(number, BATCH, 1, &mut digits);
        digits.into_iter().map(|digit| digit as i64).collect::<Vec<i64>>()
    };
    let (mut f, mut g) = (split(n), split(a));
    let (mut eta, mut flips, mut len) = (-1, 0, f.len());
    for _ in 0..MOST_STEPS * bits / BATCH as usize + 2 {
        let is_zero = |number: &[i64]| number.iter().all(|&digit| digit == 0);
        if f[..len] == g[..len] || is_zero(&g[..len]) {
            let is_one = f[0] == 1 && is_zero(&f[1..len]);
            return i8::from(is_one) * (1 - (flips & 2) as i8);
        }
        let matrix = batch(&mut eta, &mut flips, low_word(&f[..len]), low_word(&g[..len]));
        update(&mut f[..len], &mut g[..len], matrix);
        while len > 1 && f[len - 1] == 0 && g[len - 1] == 0 {
            len -= 1;
        }
    }
    by_shifts(a, n)
}

/// A batch of division steps with g + f instead of g - f, from the low 64 bits of f and g, which stay
/// positive. `eta` is `-delta`; bit 1 of `flips` changes with the sign of the symbol.
fn batch(eta: &mut i64, flips: &mut u64, mut f: u64, mut g: u64) -> StepMatrix {
    let (mut u, mut v, mut q, mut r) = (1u64, 0u64, 0u64, 1u64);
    let mut left = BATCH;
    loop {
        // A bit above those that are left ends the count.
        let zeros = (g | u64::MAX << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        *eta -= i64::from(zeros);
        left -= zeros;
        // The symbol of 2 modulo f is -1 if f is 3 or 5 modulo 8.
        *flips ^= u64::from(zeros & 1).wrapping_neg() & (f ^ f >> 1);
        if left == 0 {
            return StepMatrix { u: u as i64, v: v as i64, q: q as i64, r: r as i64 };
        }
        if *eta < 0 {
            *eta = -*eta;
            // Reciprocity: the sign changes if both numbers are 3 modulo 4.
            *flips ^= f & g;
            ((f, g), (u, q), (v, r)) = ((g, f), (q, u), (r, v));
        }
        // Delta changes its sign after eta + 1 more steps.
        let limit = u64::from(left).min(*eta as u64 + 1);
        let low = u64::MAX >> (64 - limit);
        // -g / f modulo 16.
        let inverse = f.wrapping_add((f.wrapping_add(1) & 4) << 1);
        let factor = inverse.wrapping_neg().wrapping_mul(g) & low & 15;
        g = g.wrapping_add(f.wrapping_mul(factor));
        q = q.wrapping_add(u.wrapping_mul(factor));
        r = r.wrapping_add(v.wrapping_mul(factor));
    }
}

/// The Jacobi symbol by subtractions and shifts, in quadratic time for any numbers.
pub(crate) fn by_shifts(a: &[u64], n: &[u64]) -> i8 {
    let len = a.len().max(n.len());
    let wide = |number: &[u64]| [number, &vec![0; len - number.len()]].concat();
    let (mut a, mut n) = (wide(a), wide(n));
    let mut is_negative = false;
    while let Some(zeros) = trailing_zeros(&a) {
        let whole = a.clone();
        modmill_core::limbs::shift_right(&whole, zeros, &mut a);
        is_negative ^= zeros % 2 == 1 && matches!(n[0] % 8, 3 | 5);
        if a.iter().rev().cmp(n.iter().rev()) == Ordering::Less {
            is_negative ^= a[0] & n[0] & 2 != 0;
            std::mem::swap(&mut a, &mut n);
        }
        sub_assign(&mut a, &n);
    }
    match (bit_length(&n), is_negative) {
        (1, false) => 1,
        (1, true) => -1,
        _ => 0,
    }
}
