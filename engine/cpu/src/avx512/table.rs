//! Table reads at secret indices, with registers as the tables: one permutation looks up a digit for eight
//! windows of an exponent.
//!
//! Eight numbers of n digits are 8 n lines of eight words. Line `i n + j` holds digit j of number i, one lane
//! per word. In a *transposed* table, line `i n + j` holds digit j of lane i, one number per word. The table
//! is transposed eight entries at a time when it is built. Then for one lane and digit, two lines hold
//! sixteen entries. `vpermi2q` looks up the digits at eight indices of this lane in these two lines. The
//! result is again a transposed line, of eight numbers. Transposed back, these numbers are ready for the
//! multiplier.
//!
//! All lines are loaded once, in the same order for all indices. An index is seen only by permutations,
//! shuffles, comparisons into a mask and masked moves between registers. Each of them runs on one port in a
//! fixed number of clock cycles. The timing tests check this claim.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ops::Range;

/// The number of entries read at once per lane: two for every word. A table that does not fit in the
/// first-level cache together with the operands of a square is then read half as often.
pub(crate) const AT_ONCE: usize = 2 * LANES;

/// Words of a line: one per lane, or one per number after a transposition.
const LANES: usize = 8;

/// Digits that are looked up together and share the comparisons of their indices.
const DIGITS: usize = 4;

pub(crate) type Line = __m512i;

/// Transposes numbers of `digits` digits, eight at a time. Two transpositions cancel.
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose(numbers: &mut [u64], digits: usize) {
    transpose_digits(numbers, digits, 0..digits);
}

/// Transposes a range of the digits.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_digits(numbers: &mut [u64], digits: usize, some: Range<usize>) {
    assert!(numbers.len().is_multiple_of(LANES * digits * LANES) && some.end <= digits);
    for eight in numbers.chunks_exact_mut(LANES * digits * LANES) {
        for digit in some.clone() {
            let first = eight[digit * LANES..].as_mut_ptr().cast::<Line>();
            // SAFETY: eight numbers have these lines, and all are read before any is written.
            unsafe {
                for (number, line) in transposed(first, digits).into_iter().enumerate() {
                    store(first.add(number * digits), line);
                }
            }
        }
    }
}

/// Reads [`AT_ONCE`] entries for each lane. The table and the indices are transposed, the output is not.
#[target_feature(enable = "avx512f")]
pub(crate) fn read(table: &[u64], indices: &[u64], out: &mut [u64]) {
    let digits = out.len() / (AT_ONCE * LANES);
    assert!(indices.len() == AT_ONCE * LANES && out.len() == AT_ONCE * digits * LANES);
    assert!(table.len().is_multiple_of(out.len()) && !table.is_empty());
    let mut done = 0;
    while done < digits {
        let some = if digits - done < DIGITS { 1 } else { DIGITS };
        for lane in 0..LANES {
            // SAFETY: the lengths were checked, and there are `some` more digits.
            unsafe {
                match some {
                    DIGITS => look_up::<DIGITS>(table, indices, lane, digits, done, out),
                    _ => look_up::<1>(table, indices, lane, digits, done, out),
                }
            }
        }
        transpose_digits(out, digits, done..done + some);
        done += some;
    }
}

/// Looks up D digits of one lane, starting with `digit`.
///
/// # Safety
/// Numbers have `digits` digits. The table holds a multiple of sixteen numbers; `indices` and `out`
/// hold sixteen. There are D digits from `digit` on.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn look_up<const D: usize>(
    table: &[u64],
    indices: &[u64],
    lane: usize,
    digits: usize,
    digit: usize,
    out: &mut [u64],
) {
    // Lines of eight numbers.
    let eight = LANES * digits;
    // SAFETY: required of the caller.
    unsafe {
        let indices: *const Line = indices.as_ptr().cast::<Line>().add(lane);
        let indices = [load(indices), load(indices.add(LANES))];
        let first: *const Line = table.as_ptr().cast::<Line>().add(lane * digits + digit);
        // A permutation uses the low four bits of an index.
        let look_up = |sixteen: usize, digit: usize| {
            let line = first.add(sixteen * 2 * eight + digit);
            let [low, high] = [load(line), load(line.add(eight))];
            indices.map(|indices| _mm512_permutex2var_epi64(low, indices, high))
        };
        let mut found = [[_mm512_setzero_si512(); 2]; D];
        for (digit, found) in found.iter_mut().enumerate() {
            *found = look_up(0, digit);
        }
        let sixteens = table.len() / (2 * eight * LANES);
        for sixteen in 1..sixteens {
            let this = _mm512_set1_epi64(sixteen as i64);
            let here = indices.map(|indices| _mm512_cmpeq_epi64_mask(_mm512_srli_epi64::<4>(indices), this));
            for (digit, found) in found.iter_mut().enumerate() {
                for (k, value) in look_up(sixteen, digit).into_iter().enumerate() {
                    found[k] = _mm512_mask_mov_epi64(found[k], here[k], value);
                }
            }
        }
        let out: *mut Line = out.as_mut_ptr().cast::<Line>().add(lane * digits + digit);
        for (digit, found) in found.into_iter().enumerate() {
            store(out.add(digit), found[0]);
            store(out.add(eight + digit), found[1]);
        }
    }
}

/// Transposes eight lines of eight words that are `stride` lines apart.
///
/// # Safety
/// These lines are valid for reading.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn transposed(lines: *const Line, stride: usize) -> [Line; 8] {
    // Halves of lines i and j. They are inserted from memory, because an insertion from memory can use either
    // vector port, whereas all shuffles use the same port.
    // SAFETY: required of the caller; a line has two halves.
    let halves = |i: usize, j: usize| unsafe {
        let [i, j] = [i, j].map(|line| lines.add(line * stride));
        let low = _mm512_inserti64x4::<1>(load(i), _mm256_loadu_si256(j.cast()));
        let high = _mm512_inserti64x4::<0>(load(j), _mm256_loadu_si256(i.cast::<__m256i>().add(1)));
        [low, high]
    };
    let even_or_odd = |i: usize| quarters(halves(i, i + 2), halves(i + 4, i + 6));
    interleaved(even_or_odd(0), even_or_odd(1))
}

/// Transposes eight lines of eight words in registers.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose_lines(lines: [Line; 8]) -> [Line; 8] {
    let halves = |i: usize, j: usize| {
        [
            _mm512_shuffle_i64x2::<0b01_00_01_00>(lines[i], lines[j]),
            _mm512_shuffle_i64x2::<0b11_10_11_10>(lines[i], lines[j]),
        ]
    };
    let even_or_odd = |i: usize| quarters(halves(i, i + 2), halves(i + 4, i + 6));
    interleaved(even_or_odd(0), even_or_odd(1))
}

/// Words 2 k and 2 k + 1 of four lines, for k = 0 to 3, from the low and high halves of the first two lines
/// and of the last two.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarters([a, b]: [Line; 2], [c, d]: [Line; 2]) -> [Line; 4] {
    [
        _mm512_shuffle_i64x2::<0b10_00_10_00>(a, c),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(a, c),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(b, d),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(b, d),
    ]
}

/// The words of eight lines in their places, from pairs of words of the even lines and of the odd lines.
#[inline]
#[target_feature(enable = "avx512f")]
fn interleaved(even: [Line; 4], odd: [Line; 4]) -> [Line; 8] {
    std::array::from_fn(|word| match (word / 2, word % 2) {
        (k, 0) => _mm512_unpacklo_epi64(even[k], odd[k]),
        (k, _) => _mm512_unpackhi_epi64(even[k], odd[k]),
    })
}

/// # Safety
/// `from` is valid for reading one line.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn load(from: *const Line) -> Line {
    // SAFETY: required of the caller.
    unsafe { _mm512_loadu_si512(from) }
}

/// # Safety
/// `to` is valid for writing one line.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn store(to: *mut Line, value: Line) {
    // SAFETY: required of the caller.
    unsafe { _mm512_storeu_si512(to, value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::detect_avx512;
    use crate::test_support::Random;
    use crate::working_memory::Rows;

    /// Windows of one to eight bits, and digits in groups of four, single digits, or both.
    #[test]
    fn entries_are_those_of_a_plain_index() {
        if detect_avx512().is_none() {
            return;
        }
        let mut random = Random::new(7);
        for window in 1..=8 {
            for digits in [1, 2, 3, 4, 5, 8, 11] {
                let entries = 1 << window;
                let mut table = Rows::zeros(usize::max(entries, AT_ONCE) * digits * LANES);
                table.iter_mut().for_each(|word| *word = random.word());
                let plain = table.clone();
                // SAFETY: the instruction set was detected.
                unsafe { transpose(&mut table, digits) };
                // Every entry in every lane and place, then random entries.
                for round in 0..entries + 8 {
                    let mut indices = Rows::zeros(AT_ONCE * LANES);
                    for (place, index) in indices.iter_mut().enumerate() {
                        *index =
                            if round < entries { (round + place) % entries } else { random.below(entries) }
                                as u64;
                    }
                    let asked = indices.clone();
                    let mut out = Rows::zeros(AT_ONCE * digits * LANES);
                    out.fill(u64::MAX);
                    // SAFETY: as above.
                    unsafe {
                        transpose(&mut indices, 1);
                        read(&table, &indices, &mut out);
                    }
                    for (number, (found, asked)) in
                        out.chunks(digits * LANES).zip(asked.chunks(LANES)).enumerate()
                    {
                        for (place, word) in found.iter().enumerate() {
                            let entry = asked[place % LANES] as usize;
                            assert_eq!(
                                *word,
                                plain[entry * found.len() + place],
                                "number {number} of {entries}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn transposing_exchanges_lanes_and_numbers() {
        if detect_avx512().is_none() {
            return;
        }
        let digits = 3;
        let mut table = Rows::zeros(2 * LANES * digits * LANES);
        table.iter_mut().enumerate().for_each(|(place, word)| *word = place as u64);
        let plain = table.clone();
        // SAFETY: the instruction set was detected.
        unsafe { transpose(&mut table, digits) };
        for (place, &word) in table.iter().enumerate() {
            let (line, lane) = (place / LANES, place % LANES);
            let (number, digit) = (line / digits, line % digits);
            let from = (number / LANES * LANES + lane) * digits + digit;
            assert_eq!(word, plain[from * LANES + number % LANES]);
        }
        // SAFETY: as above.
        unsafe { transpose(&mut table, digits) };
        assert_eq!(table[..], plain[..]);
    }
}
