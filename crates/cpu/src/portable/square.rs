//! Squares: each product of two different limbs once.

use super::band::{BAND, finish_band, step};

/// Limbs squared per turn of the last pass.
const BLOCK: usize = 4;

/// `out <- x^2`, twice as long as x: the products of different limbs in bands, then one pass that
/// doubles their sum and adds the squares.
pub(super) fn square(x: &[u64], out: &mut [u64]) {
    out.fill(0);
    let (mut rest, mut sum) = (x, &mut out[..]);
    while rest.len() >= 2 * BAND {
        add_cross_band::<BAND>(sum, rest);
        (rest, sum) = (&rest[BAND..], &mut sum[2 * BAND..]);
    }
    while rest.len() >= 2 {
        add_cross_band::<1>(sum, rest);
        (rest, sum) = (&rest[1..], &mut sum[2..]);
    }
    double_and_add_squares(out, x);
}

/// Adds the products `x_i x_j`, `i < R`, `j > i`: row i begins at column `2i + 1`.
#[inline(never)] // Registers are allotted better on its own; measured at 8 limbs.
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
    let (x_blocks, x_single) = x.as_chunks::<BLOCK>();
    let (blocks, single) = sum.split_at_mut(2 * BLOCK * x_blocks.len());
    let mut state = (0, false);
    for (x, block) in x_blocks.iter().zip(blocks.chunks_exact_mut(2 * BLOCK)) {
        double_and_add_block(block, x, &mut state);
    }
    for (x, pair) in x_single.iter().zip(single.chunks_exact_mut(2)) {
        double_and_add_block(pair, &[*x], &mut state);
    }
}

/// The same for some limbs of x; the bit shifted out of the limb below and the carry go along.
#[inline(always)]
fn double_and_add_block<const B: usize>(sum: &mut [u64], x: &[u64; B], state: &mut (u64, bool)) {
    let squares = x.map(|limb| u128::from(limb) * u128::from(limb));
    let (mut shifted, mut carry) = *state;
    for (place, limb) in sum[..2 * B].iter_mut().enumerate() {
        let half = (squares[place / 2] >> (64 * (place % 2))) as u64;
        let (doubled, above) = (*limb << 1 | shifted, *limb >> 63);
        (*limb, carry) = add_carrying(doubled, half, carry);
        shifted = above;
    }
    *state = (shifted, carry);
}

/// `a + b + carry` as a limb and a carry.
#[inline(always)]
fn add_carrying(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}
