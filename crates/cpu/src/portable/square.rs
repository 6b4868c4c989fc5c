//! Squares: each product of two different limbs once.

use super::band::{BAND, finish_band, step};

/// `out <- x^2`, twice as long as x: the products of different limbs in bands, then one pass that
/// doubles their sum and adds the squares.
pub(super) fn square(x: &[u64], out: &mut [u64]) {
    out.fill(0);
    let (mut rest, mut sum) = (x, &mut out[..]);
    while rest.len() >= 2 * BAND {
        add_cross_band::<BAND>(sum, rest);
        (rest, sum) = (&rest[BAND..], &mut sum[2 * BAND..]);
    }
    while rest.len() >= 4 {
        add_cross_band::<2>(sum, rest);
        (rest, sum) = (&rest[2..], &mut sum[4..]);
    }
    while rest.len() >= 2 {
        add_cross_band::<1>(sum, rest);
        (rest, sum) = (&rest[1..], &mut sum[2..]);
    }
    double_and_add_squares(out, x);
}

/// Adds the products `x_i x_j`, `i < R`, `j > i`: row i begins at column `2i + 1`.
#[inline(always)]
fn add_cross_band<const R: usize>(sum: &mut [u64], x: &[u64]) {
    let (rows, rest) = x.split_first_chunk::<R>().expect("a band's rows are limbs of the number");
    let mut carries = [0; R];
    for place in 1..2 * R - 1 {
        for k in 0..place.div_ceil(2).min(R) {
            sum[place] = step(sum[place], rows[k], x[place - k], &mut carries[k]);
        }
    }
    finish_band(&mut sum[2 * R - 1..], rows, rest, carries, 0);
}

/// `sum <- 2 sum + x_0^2 + x_1^2 2^128 + ...`, which is a square and does not overflow.
fn double_and_add_squares(sum: &mut [u64], x: &[u64]) {
    let (pairs, _) = sum.as_chunks_mut::<2>();
    let (mut shifted, mut carry) = (0, 0);
    for ([low, high], &limb) in pairs.iter_mut().zip(x) {
        let square = u128::from(limb) * u128::from(limb);
        // A doubled limb with the bit from below, half of the square, and a carry of 0 or 1.
        let first = u128::from(*low << 1 | shifted) + u128::from(square as u64) + carry;
        let second = u128::from(*high << 1 | *low >> 63) + (square >> 64) + (first >> 64);
        shifted = *high >> 63;
        (*low, *high, carry) = (first as u64, second as u64, second >> 64);
    }
}
