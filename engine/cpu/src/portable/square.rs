//! Squares, in which each product of two different limbs is computed once.

use super::band::{BAND, add_band};
use modmill_core::{limbs::add_carrying, mask};

/// `out <- x^2`. `out` is twice as long as x.
///
/// x is cut into blocks of [`BAND`] limbs. If BAND does not divide its length, single limbs come first. The
/// squares of the blocks fill `out` without overlap. Then the product of each block and all limbs above it is
/// added, in bands whose rows are the limbs of 2x.
///
/// Doubling carries one bit from each block into the next. That bit belongs to the lower block. The rows of
/// the upper block multiply it by everything above, but not by the upper block itself. So the upper block is
/// added to its own square when the bit is set.
pub(super) fn square(x: &[u64], out: &mut [u64]) {
    let (single, blocks) = x.as_rchunks::<BAND>();
    let (single_out, blocks_out) = out.split_at_mut(2 * single.len());
    let mut below = 0;
    for (&limb, out) in single.iter().zip(single_out.as_chunks_mut::<2>().0) {
        *out = square_limb(limb, &mut below);
    }
    for (block, out) in blocks.iter().zip(blocks_out.as_chunks_mut().0) {
        *out = square_block(block, &mut below);
    }
    let mut carry = add_bands(x, out, single.len());
    let last = if blocks.is_empty() { 1 } else { BAND };
    for limb in &mut out[2 * x.len() - last..] {
        let (sum, overflow) = limb.overflowing_add(carry);
        (*limb, carry) = (sum, u64::from(overflow));
    }
}

/// Adds the products of different blocks, of which the first `single` are single limbs. Returns the carry
/// into the limbs of the last block. For the usual lengths the compiler knows the loop bounds.
fn add_bands(x: &[u64], out: &mut [u64], single: usize) -> u64 {
    match x.len() {
        8 => add_doubled_band::<BAND>(&mut out[..16], &x[..8], 0, 0),
        16 => {
            let (x, out) = (&x[..16], &mut out[..32]);
            let top = add_doubled_band::<BAND>(out, x, 0, 0);
            let top = add_doubled_band::<BAND>(&mut out[8..], &x[4..], x[3], top);
            add_doubled_band::<BAND>(&mut out[16..], &x[8..], x[7], top)
        }
        n => {
            let (mut below, mut top) = (0, 0);
            for place in 0..single.min(n - 1) {
                top = add_doubled_band_apart::<1>(&mut out[2 * place..], &x[place..], below, top);
                below = x[place];
            }
            for place in (single..n.saturating_sub(BAND)).step_by(BAND) {
                top = add_doubled_band_apart::<BAND>(&mut out[2 * place..], &x[place..], below, top);
                below = x[place + BAND - 1];
            }
            top
        }
    }
}

/// Adds twice the product of the first R limbs of x and the limbs above them. `below` is the limb below the
/// first one. `top` is the carry into the column above the end of the first row; the returned carry is that
/// of the next band.
#[inline(always)]
fn add_doubled_band<const R: usize>(sum: &mut [u64], x: &[u64], below: u64, top: u64) -> u64 {
    let (block, above) = x.split_first_chunk::<R>().expect("a block's limbs are the number's");
    let mut rows = *block;
    let mut below = below;
    for (row, &limb) in rows.iter_mut().zip(block) {
        *row = limb << 1 | below >> 63;
        below = limb;
    }
    add_band(&mut sum[R..], &rows, above, top)
}

/// [`add_doubled_band`] as a separate function, which gets a better register allocation for variable lengths.
#[inline(never)]
fn add_doubled_band_apart<const R: usize>(sum: &mut [u64], x: &[u64], below: u64, top: u64) -> u64 {
    add_doubled_band::<R>(sum, x, below, top)
}

#[inline(always)]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

/// The halves of a double word, the low half first.
#[inline(always)]
fn halves(double: u128) -> [u64; 2] {
    [double as u64, (double >> 64) as u64]
}

/// `limb^2`, plus `limb` if `below` is set; at most `2^128 - 2^64`. `below` becomes the top bit of the limb.
#[inline(always)]
fn square_limb(limb: u64, below: &mut u64) -> [u64; 2] {
    let extra = limb & mask::from_bit(*below);
    *below = limb >> 63;
    halves(wide(limb, limb) + u128::from(extra))
}

/// `x^2`, plus x if `below` is set; below 2^512. `below` becomes the top bit of x.
#[inline(always)]
fn square_block(x: &[u64; BAND], below: &mut u64) -> [u64; 2 * BAND] {
    let mask = mask::from_bit(*below);
    let extra = x.map(|limb| limb & mask);
    *below = x[BAND - 1] >> 63;
    // The products of different limbs, row by row.
    let [c1, carry] = halves(wide(x[0], x[1]));
    let [c2, carry] = halves(wide(x[0], x[2]) + u128::from(carry));
    let [c3, c4] = halves(wide(x[0], x[3]) + u128::from(carry));
    let [c3, carry] = halves(wide(x[1], x[2]) + u128::from(c3));
    let [c4, carry] = halves(wide(x[1], x[3]) + u128::from(c4) + u128::from(carry));
    let [c5, c6] = halves(wide(x[2], x[3]) + u128::from(carry));
    let cross = [0, c1, c2, c3, c4, c5, c6, 0];
    let squares = x.map(|limb| halves(wide(limb, limb)));
    let mut out = [0; 2 * BAND];
    let mut carry = false;
    for place in 0..2 * BAND {
        let shifted = if place == 0 { 0 } else { cross[place] << 1 | cross[place - 1] >> 63 };
        (out[place], carry) = add_carrying(shifted, squares[place / 2][place % 2], carry);
    }
    carry = false;
    for (limb, extra) in out.iter_mut().zip(extra.into_iter().chain([0; BAND])) {
        (*limb, carry) = add_carrying(*limb, extra, carry);
    }
    out
}
