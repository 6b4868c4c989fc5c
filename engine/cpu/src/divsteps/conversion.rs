//! Conversion between numbers, limbs side by side, and digits side by side.

use super::DIGIT;
use super::vector::Vector;

/// The lanes of the widest vector.
const MAX_LANES: usize = 8;

/// Puts limbs of one number in each lane side by side. Missing numbers repeat the last one, and missing limbs
/// are zero.
#[inline(always)]
pub(crate) fn gather<V: Vector>(numbers: &[&[u64]], limbs: &mut [V]) {
    let zero = limbs[0].with(0);
    let mut block = [zero; MAX_LANES];
    let block = &mut block[..V::LANES];
    for (index, limbs) in limbs.chunks_mut(V::LANES).enumerate() {
        for lane in 0..V::LANES {
            let number = numbers[lane.min(numbers.len() - 1)];
            block[lane] = zero.load(number.get(index * V::LANES..).unwrap_or_default());
        }
        V::transpose(block);
        limbs.copy_from_slice(&block[..limbs.len()]);
    }
}

/// Writes the numbers whose limbs are side by side to rows of `stride` limbs, for as many lanes as there are
/// rows. Limbs beyond a row are left out.
#[inline(always)]
pub(crate) fn scatter<V: Vector>(limbs: &[V], rows: &mut [u64], stride: usize) {
    let mut block = [limbs[0].with(0); MAX_LANES];
    let block = &mut block[..V::LANES];
    let limbs = &limbs[..limbs.len().min(stride)];
    for (index, some) in limbs.chunks(V::LANES).enumerate() {
        block[..some.len()].copy_from_slice(some);
        V::transpose(block);
        for (lane, row) in rows.chunks_exact_mut(stride).enumerate().take(V::LANES) {
            block[lane].store(&mut row[index * V::LANES..][..some.len()]);
        }
    }
}

/// The digits of the numbers in `limbs`, times `2^offset` for an offset below 64. Digits beyond `out` are
/// left out.
#[inline(always)]
pub(crate) fn split<V: Vector>(limbs: &[V], offset: usize, out: &mut [V]) {
    let zero = limbs[0].with(0);
    for (index, digit) in out.iter_mut().enumerate() {
        // The place in the limbs, with a limb of zeros below them.
        let place = index * DIGIT as usize + 64 - offset;
        let (limb, shift) = (place / 64, place % 64);
        let mut word = match limbs.get(limb.wrapping_sub(1)) {
            Some(limb) => limb.down_by(shift),
            None => zero,
        };
        if shift + DIGIT as usize > 64
            && let Some(above) = limbs.get(limb)
        {
            word = word.or(above.up_by(64 - shift));
        }
        *digit = word.digit();
    }
}

/// Joins digits to limbs, of which `limbs` has room for as many as wanted, without the lowest `offset` bits.
#[inline(always)]
pub(crate) fn join<V: Vector>(digits: &[V], offset: usize, limbs: &mut [V]) {
    let (width, zero) = (DIGIT as usize, digits[0].with(0));
    for (index, limb) in limbs.iter_mut().enumerate() {
        // At most four digits overlap a limb; the first of them may start in the limb below.
        let place = 64 * index + offset;
        let (first, down) = (place / width, place % width);
        let mut joined = zero;
        if let Some(digit) = digits.get(first) {
            joined = digit.down_by(down);
        }
        for next in 1..(down + 63) / width + 1 {
            if let Some(digit) = digits.get(first + next) {
                joined = joined.or(digit.up_by(next * width - down));
            }
        }
        *limb = joined;
    }
}
