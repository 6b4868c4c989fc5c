//! Montgomery reduction in bands of rows.

use super::band::{BAND, finish_band, step};

/// Adds multiples of an odd modulus of n limbs to the 2n limbs of `t` until the low n limbs are zero. Returns
/// the carry (0 or 1) out of the top. The high n limbs and the carry are congruent to `t / R` modulo N.
///
/// For `t < R^2` this value is below `(R^2 + R N) / R = R + N`.
///
/// For the usual lengths the compiler knows the loop bounds.
pub(super) fn reduce(t: &mut [u64], modulus: &[u64], negated_inverse: u64) -> u64 {
    match modulus.len() {
        8 => reduce_bands(&mut t[..16], &modulus[..8], negated_inverse),
        16 => reduce_bands(&mut t[..32], &modulus[..16], negated_inverse),
        32 => reduce_bands(&mut t[..64], &modulus[..32], negated_inverse),
        _ => reduce_bands(t, modulus, negated_inverse),
    }
}

#[inline(always)]
fn reduce_bands(t: &mut [u64], modulus: &[u64], negated_inverse: u64) -> u64 {
    let mut top = 0;
    let mut t = t;
    while t.len() >= modulus.len() + BAND && modulus.len() >= BAND {
        top = reduce_band::<BAND>(t, modulus, negated_inverse, top);
        t = &mut t[BAND..];
    }
    while t.len() > modulus.len() {
        top = reduce_band::<1>(t, modulus, negated_inverse, top);
        t = &mut t[1..];
    }
    top
}

/// Clears the low R limbs of `t`. The quotient digit of row k clears column k; it is known once the rows
/// before it have been added to that column.
#[inline(always)]
fn reduce_band<const R: usize>(t: &mut [u64], modulus: &[u64], negated_inverse: u64, top: u64) -> u64 {
    let mut quotients = [0; R];
    let mut carries = [0; R];
    for place in 0..R {
        let mut limb = t[place];
        for k in 0..place {
            limb = step(limb, quotients[k], modulus[place - k], &mut carries[k]);
        }
        quotients[place] = limb.wrapping_mul(negated_inverse);
        step(limb, quotients[place], modulus[0], &mut carries[place]);
    }
    finish_band(&mut t[R..], &quotients, &modulus[1..], carries, top)
}

/// `out <- a - (b & mask)` for a mask of all zeros or all ones. All slices have the same length. The final
/// borrow is dropped.
pub(super) fn subtract_masked(a: &[u64], b: &[u64], mask: u64, out: &mut [u64]) {
    let (a_blocks, a_single) = a.as_chunks::<BAND>();
    let (b_blocks, b_single) = b.as_chunks::<BAND>();
    let (out_blocks, out_single) = out.as_chunks_mut::<BAND>();
    let mut borrow = false;
    for ((a, b), out) in a_blocks.iter().zip(b_blocks).zip(out_blocks) {
        // The limbs are masked first, so that the borrow stays in the processor's carry flag.
        let b = b.map(|limb| limb & mask);
        for place in 0..BAND {
            (out[place], borrow) = subtract_borrowing(a[place], b[place], borrow);
        }
    }
    for ((a, b), out) in a_single.iter().zip(b_single).zip(out_single) {
        (*out, borrow) = subtract_borrowing(*a, b & mask, borrow);
    }
}

/// `a - b - borrow` as a limb and a borrow.
#[inline(always)]
fn subtract_borrowing(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
    (difference, first | second)
}
