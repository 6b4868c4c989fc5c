//! Divisors of short numbers by division steps, in time that depends on the numbers.
//!
//! They are faster than Lehmer's steps up to the threshold of half-gcd: these update the numbers half as
//! often, but their matrices cost more.

use crate::inverse::divsteps::{BATCH, batch_vartime};
use crate::inverse::signed::{negate_and_add, sign, update};
use modmill_core::limbs::{bit_length, bits_at, trailing_zeros};

/// Memory that divisors of short numbers are computed in, one after the other.
#[derive(Default)]
pub struct Scratch {
    f: Vec<i64>,
    g: Vec<i64>,
}

/// Writes the greatest common divisor of two numbers, which are not zero, to `out`, which is.
pub(super) fn gcd(a: &[u64], b: &[u64], out: &mut [u64], Scratch { f, g }: &mut Scratch) {
    let [twos_a, twos_b] = [a, b].map(|number| trailing_zeros(number).unwrap_or(0));
    let bits = (bit_length(a) - twos_a).max(bit_length(b) - twos_b);
    split(a, twos_a, bits, f);
    split(b, twos_b, bits, g);
    let (mut eta, mut len) = (-1, f.len());
    while g[..len].iter().any(|&digit| digit != 0) {
        let step = batch_vartime(&mut eta, f[0] as u64, g[0] as u64);
        update(&mut f[..len], &mut g[..len], step);
        // A top digit that holds nothing but the sign of the digit below goes.
        let (top_f, top_g) = (f[len - 1], g[len - 1]);
        if len > 1 && matches!((top_f, top_g), (0 | -1, 0 | -1)) {
            len -= 1;
            f[len - 1] |= top_f << BATCH;
            g[len - 1] |= top_g << BATCH;
        }
    }
    // Now f is the divisor of the odd parts or its negative.
    let f = &mut f[..len];
    negate_and_add(f, sign(f), &g[..len], 0);
    join(f, twos_a.min(twos_b), out);
}

/// The digits of `number / 2^shift`, as a number of `bits` bits.
fn split(number: &[u64], shift: usize, bits: usize, digits: &mut Vec<i64>) {
    let place = |digit: usize| shift + digit * BATCH as usize;
    digits.clear();
    digits
        .extend((0..bits.div_ceil(BATCH as usize)).map(|digit| bits_at(number, place(digit), BATCH) as i64));
}

/// Writes `number 2^shift`, which is not negative, to `out`, which is zero.
fn join(number: &[i64], shift: usize, out: &mut [u64]) {
    for (index, &digit) in number.iter().enumerate().filter(|(_, digit)| **digit != 0) {
        let place = shift + index * BATCH as usize;
        let wide = u128::from(digit as u64) << (place % 64);
        out[place / 64] |= wide as u64;
        let high = (wide >> 64) as u64;
        if high != 0 {
            out[place / 64 + 1] |= high;
        }
    }
}
