//! Conversion between limbs and digits of 52 bits in eight lanes, as in [`crate::lanes`]. Eight limbs of eight numbers are transposed in
//! registers.
#![allow(unsafe_code)]

use super::table::{Line, load, store, transpose_lines};
use crate::lanes::{Bits, limb_words};
use std::arch::x86_64::*;

const LANES: usize = 8;
const WIDTH: usize = 52;
const MASK: u64 = (1 << WIDTH) - 1;

/// Extracts some bits of one number per lane as digits, as [`crate::lanes::split`] does.
#[target_feature(enable = "avx512f")]
pub(super) fn split(numbers: &[&[u64]], bits: Bits, limbs: &mut [u64], rows: &mut [u64]) {
    let Bits { start, end } = bits;
    let (first, count) = bits.limbs(numbers[0].len());
    let limbs = &mut limbs[..limb_words(LANES, count)];
    for block in (0..count).step_by(LANES) {
        let some = (count - block).min(LANES);
        let present = present(some);
        let lines = std::array::from_fn(|lane| {
            let number = &numbers[lane.min(numbers.len() - 1)][first + block..][..some];
            // SAFETY: the mask leaves out what is beyond the number.
            unsafe { _mm512_maskz_loadu_epi64(present, number.as_ptr().cast()) }
        });
        for (line, to) in
            transpose_lines(lines).into_iter().zip(limbs[block * LANES..].chunks_exact_mut(LANES)).take(some)
        {
            // SAFETY: a chunk has eight words.
            unsafe { store(to.as_mut_ptr().cast(), line) };
        }
    }
    limbs[count * LANES..].fill(0);
    for (index, digits) in rows.chunks_exact_mut(LANES).enumerate() {
        let from = start % 64 + index * WIDTH;
        let (word, shift) = ((from / 64).min(count) * LANES, from % 64);
        // There are no bits beyond `end`; a digit that crosses it keeps the bits below it.
        let keep = end.saturating_sub(start + index * WIDTH).min(WIDTH);
        let mask = _mm512_set1_epi64((MASK >> (WIDTH - keep)) as i64);
        let pair = limbs[word..][..2 * LANES].as_ptr().cast::<Line>();
        // SAFETY: there are two lines from `word` on, and a chunk has eight words. A shift by 64 gives zero.
        unsafe {
            let low = _mm512_srl_epi64(load(pair), places(shift));
            let high = _mm512_sll_epi64(load(pair.add(1)), places(64 - shift));
            let digit = _mm512_and_si512(_mm512_or_si512(low, high), mask);
            store(digits.as_mut_ptr().cast(), digit);
        }
    }
}

/// Converts digits below 2^52 to numbers of `stride` limbs, as [`crate::lanes::join`] does.
#[target_feature(enable = "avx512f")]
pub(super) fn join(rows: &[u64], numbers: &mut [u64], stride: usize) {
    let digit = |index: usize| match rows.get(index * LANES..(index + 1) * LANES) {
        // SAFETY: there are eight words.
        Some(row) => unsafe { load(row.as_ptr().cast()) },
        None => _mm512_setzero_si512(),
    };
    for block in (0..stride).step_by(LANES) {
        let some = (stride - block).min(LANES);
        let lines = std::array::from_fn(|place| {
            // At most three digits overlap this limb; the first of them may start in the limb below. A shift by 64 or more gives zero.
            let from = 64 * (block + place);
            let (first, down) = (from / WIDTH, from % WIDTH);
            let low = _mm512_srl_epi64(digit(first), places(down));
            let middle = _mm512_sll_epi64(digit(first + 1), places(WIDTH - down));
            let high = _mm512_sll_epi64(digit(first + 2), places(2 * WIDTH - down));
            _mm512_or_si512(_mm512_or_si512(low, middle), high)
        });
        for (line, number) in transpose_lines(lines).into_iter().zip(numbers.chunks_exact_mut(stride)) {
            let to = &mut number[block..][..some];
            // SAFETY: the mask leaves out what is beyond the number.
            unsafe { _mm512_mask_storeu_epi64(to.as_mut_ptr().cast(), present(some), line) };
        }
    }
}

/// `x <- x - m` in the lanes where `x >= m`, as [`crate::lanes::reduce_once`] does. `space` is as long as x.
#[target_feature(enable = "avx512f")]
pub(super) fn reduce_once(x: &mut [u64], m: &[u64], space: &mut [u64]) {
    let lines = x.len() / LANES;
    assert!(x.len() == lines * LANES && m.len() == x.len() && space.len() >= x.len());
    let (x, m, space): (*mut Line, *const Line, *mut Line) =
        (x.as_mut_ptr().cast(), m.as_ptr().cast(), space.as_mut_ptr().cast());
    let mask = _mm512_set1_epi64(MASK as i64);
    let mut borrow = _mm512_setzero_si512();
    // SAFETY: x, m and space have `lines` lines each, as asserted above.
    unsafe {
        for index in 0..lines {
            // Digits are below 2^52, so that the sign is the borrow.
            let difference = _mm512_sub_epi64(load(x.add(index)), load(m.add(index)));
            let difference = _mm512_add_epi64(difference, borrow);
            store(space.add(index), _mm512_and_si512(difference, mask));
            borrow = _mm512_srai_epi64::<63>(difference);
        }
        let taken = _mm512_testn_epi64_mask(borrow, borrow);
        for index in 0..lines {
            _mm512_mask_storeu_epi64(x.add(index).cast(), taken, load(space.add(index)));
        }
    }
}

/// The mask of the first `count` words of a line.
fn present(count: usize) -> __mmask8 {
    (u32::from(u8::MAX) >> (LANES - count)) as __mmask8
}

/// The count of a shift.
#[inline]
#[target_feature(enable = "avx512f")]
fn places(count: usize) -> __m128i {
    _mm_cvtsi64_si128(count as i64)
}
