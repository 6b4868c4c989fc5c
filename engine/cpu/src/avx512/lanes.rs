//! Conversion between limbs and digits of 52 bits in eight lanes, as in [`crate::lanes`]. Eight limbs of
//! eight numbers are transposed in registers.
#![allow(unsafe_code)]

use super::table::{Line, load, store, transpose_lines};
use crate::lanes::{Bits, limb_words};
use std::arch::x86_64::*;

const LANES: usize = 8;
const WIDTH: usize = 52;
const MASK: u64 = (1 << WIDTH) - 1;

/// Digits of a block. Their bits fill [`BLOCK_LIMBS`] limbs, so that all blocks have the same shifts.
const BLOCK_DIGITS: usize = 16;
const BLOCK_LIMBS: usize = BLOCK_DIGITS * WIDTH / 64;

/// Repeats a block with the constant `$i` for each of these places, so that shifts have constant counts.
macro_rules! each {
    ($i:ident in $($k:literal)*, $body:block) => {
        $({
            const $i: usize = $k;
            $body
        })*
    };
}

/// Extracts some bits of one number per lane as digits, as [`crate::lanes::split`] does.
#[target_feature(enable = "avx512f")]
pub(crate) fn split(numbers: &[&[u64]], bits: Bits, limbs: &mut [u64], rows: &mut [u64]) {
    let (first, count) = bits.limbs(numbers[0].len());
    let limbs = &mut limbs[..limb_words(LANES, count)];
    transpose_limbs(numbers, first, count, limbs);
    shift_down(limbs, bits.start % 64);
    clear_from(limbs, bits.end.saturating_sub(bits.start));
    for (block, rows) in rows.chunks_mut(BLOCK_DIGITS * LANES).enumerate() {
        let limbs = limbs.get(block * BLOCK_LIMBS * LANES..).unwrap_or_default();
        if limbs.len() >= BLOCK_LIMBS * LANES && rows.len() == BLOCK_DIGITS * LANES {
            split_block(&limbs[..BLOCK_LIMBS * LANES], rows);
        } else {
            split_block(limbs, rows);
        }
    }
}

/// Writes `count` limbs of each number, from `first` on, with the same limb of all lanes side by side, and
/// zeros above them.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_limbs(numbers: &[&[u64]], first: usize, count: usize, limbs: &mut [u64]) {
    let numbers: [&[u64]; LANES] =
        std::array::from_fn(|lane| &numbers[lane.min(numbers.len() - 1)][first..first + count]);
    for (block, limbs) in limbs[..count * LANES].chunks_mut(LANES * LANES).enumerate() {
        let some = limbs.len() / LANES;
        let mask = present(some);
        let lines = std::array::from_fn(|lane| {
            let number = &numbers[lane][block * LANES..][..some];
            fetch_next(number.as_ptr(), numbers[lane].len());
            // SAFETY: the mask leaves out what is beyond the number.
            unsafe { _mm512_maskz_loadu_epi64(mask, number.as_ptr().cast()) }
        });
        let lines = transpose_lines(lines);
        for (line, to) in lines.into_iter().zip(limbs.chunks_exact_mut(LANES)) {
            // SAFETY: a chunk has eight words.
            unsafe { store(to.as_mut_ptr().cast(), line) };
        }
    }
    limbs[count * LANES..].fill(0);
}

/// Shifts limbs down by less than 64 bits. The last limb is zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn shift_down(limbs: &mut [u64], shift: usize) {
    if shift == 0 {
        return;
    }
    let (down, up) = (places(shift), places(64 - shift));
    let (limbs, count): (*mut Line, _) = (limbs.as_mut_ptr().cast(), limbs.len() / LANES);
    for index in 1..count {
        // SAFETY: there are `count` lines.
        unsafe {
            let low = _mm512_srl_epi64(load(limbs.add(index - 1)), down);
            let high = _mm512_sll_epi64(load(limbs.add(index)), up);
            store(limbs.add(index - 1), _mm512_or_si512(low, high));
        }
    }
}

/// Clears all bits from bit `end` on.
fn clear_from(limbs: &mut [u64], end: usize) {
    let (whole, part) = (end / 64 * LANES, end % 64);
    if let Some(above) = limbs.get_mut(whole..) {
        let (last, above) = above.split_at_mut(above.len().min(LANES));
        last.iter_mut().for_each(|limb| *limb &= (1 << part) - 1);
        above.fill(0);
    }
}

/// The digits of a block, or the first of them. Missing limbs count as zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn split_block(limbs: &[u64], rows: &mut [u64]) {
    let mask = _mm512_set1_epi64(MASK as i64);
    each!(I in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15, {
        const LIMB: usize = I * WIDTH / 64;
        const SHIFT: u32 = (I * WIDTH % 64) as u32;
        if let Some(to) = rows.get_mut(I * LANES..(I + 1) * LANES) {
            let mut digit = _mm512_srli_epi64::<SHIFT>(line(limbs, LIMB));
            if SHIFT as usize + WIDTH > 64 {
                let above = _mm512_slli_epi64::<{ 64 - SHIFT }>(line(limbs, LIMB + 1));
                digit = _mm512_or_si512(digit, above);
            }
            // SAFETY: there are eight words.
            unsafe { store(to.as_mut_ptr().cast(), _mm512_and_si512(digit, mask)) };
        }
    });
}

/// A line of eight words, or zero if there is none.
#[inline]
#[target_feature(enable = "avx512f")]
fn line(words: &[u64], index: usize) -> Line {
    match words.get(index * LANES..(index + 1) * LANES) {
        // SAFETY: there are eight words.
        Some(words) => unsafe { load(words.as_ptr().cast()) },
        None => _mm512_setzero_si512(),
    }
}

/// Converts digits below 2^52 to numbers of `stride` limbs, as [`crate::lanes::join`] does.
#[target_feature(enable = "avx512f")]
pub(crate) fn join(rows: &[u64], limbs: &mut [u64], numbers: &mut [u64], stride: usize) {
    // Answers may be declared wider than the operands that `limbs` has room for.
    let used = stride.min(limbs.len() / LANES);
    let limbs = &mut limbs[..used * LANES];
    for (block, limbs) in limbs.chunks_mut(BLOCK_LIMBS * LANES).enumerate() {
        let rows = rows.get(block * BLOCK_DIGITS * LANES..).unwrap_or_default();
        if rows.len() >= BLOCK_DIGITS * LANES && limbs.len() == BLOCK_LIMBS * LANES {
            join_block(&rows[..BLOCK_DIGITS * LANES], limbs);
        } else {
            join_block(rows, limbs);
        }
    }
    for (block, limbs) in limbs.chunks(LANES * LANES).enumerate() {
        let some = limbs.len() / LANES;
        let lines = std::array::from_fn(|index| line(limbs, index));
        for (line, number) in transpose_lines(lines).into_iter().zip(numbers.chunks_exact_mut(stride)) {
            let to = &mut number[block * LANES..][..some];
            // SAFETY: the mask leaves out what is beyond the number.
            unsafe { _mm512_mask_storeu_epi64(to.as_mut_ptr().cast(), present(some), line) };
            fetch_next(to.as_ptr(), stride);
        }
    }
    for index in used..stride {
        let mut limb = [0; LANES];
        // SAFETY: there are eight words.
        unsafe { _mm512_storeu_epi64(limb.as_mut_ptr(), limb_of(rows, index)) };
        numbers.chunks_exact_mut(stride).zip(limb).for_each(|(number, limb)| number[index] = limb as u64);
    }
}

/// Limb `index` of the numbers with these digits.
#[target_feature(enable = "avx512f")]
fn limb_of(rows: &[u64], index: usize) -> Line {
    let (digit, down) = (64 * index / WIDTH, 64 * index % WIDTH);
    let low = _mm512_srl_epi64(line(rows, digit), places(down));
    let middle = _mm512_sll_epi64(line(rows, digit + 1), places(WIDTH - down));
    // A shift by 64 or more gives zero.
    let high = _mm512_sll_epi64(line(rows, digit + 2), places(2 * WIDTH - down));
    _mm512_or_si512(_mm512_or_si512(low, middle), high)
}

/// The limbs of a block, or the first of them. Missing digits count as zero.
#[inline]
#[target_feature(enable = "avx512f")]
fn join_block(rows: &[u64], limbs: &mut [u64]) {
    each!(I in 0 1 2 3 4 5 6 7 8 9 10 11 12, {
        // At most three digits overlap a limb; the first of them may start in the limb below.
        const DIGIT: usize = 64 * I / WIDTH;
        const DOWN: u32 = (64 * I % WIDTH) as u32;
        const UP: u32 = WIDTH as u32 - DOWN;
        if let Some(to) = limbs.get_mut(I * LANES..(I + 1) * LANES) {
            let low = _mm512_srli_epi64::<DOWN>(line(rows, DIGIT));
            let middle = _mm512_slli_epi64::<UP>(line(rows, DIGIT + 1));
            let mut limb = _mm512_or_si512(low, middle);
            if UP as usize + WIDTH < 64 {
                let high = _mm512_slli_epi64::<{ UP + WIDTH as u32 }>(line(rows, DIGIT + 2));
                limb = _mm512_or_si512(limb, high);
            }
            // SAFETY: there are eight words.
            unsafe { store(to.as_mut_ptr().cast(), limb) };
        }
    });
}

/// `x <- x - m` in the lanes where `x >= m`, as [`crate::lanes::reduce_once`] does. `space` is as long as x.
#[target_feature(enable = "avx512f")]
pub(crate) fn reduce_once(x: &mut [u64], m: &[u64], space: &mut [u64]) {
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

/// Asks for the words that the next eight numbers have in the same place, so that they arrive from memory
/// while these eight are computed. Numbers of a batch, of `len` limbs each, lie one after the other. There is
/// no access, so nothing needs to be there.
#[inline]
#[target_feature(enable = "avx512f")]
fn fetch_next(at: *const u64, len: usize) {
    _mm_prefetch::<_MM_HINT_T1>(at.wrapping_add(LANES * len).cast());
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
