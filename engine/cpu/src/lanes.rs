//! Conversion between numbers as limbs and numbers as plain digits side by side in vector lanes.
//!
//! The limbs are first interleaved unchanged. Then the digits of all lanes are extracted together, with the
//! same shifts, which the compiler turns into vector instructions.

use modmill_core::mask;

/// The largest number of lanes of any kernel.
pub(crate) const MAX_LANES: usize = 8;

/// The order of the digits of numbers that are computed side by side. Digit `i` of lane `l` is word
/// `i * LANES + l`.
pub(crate) trait Lanes {
    /// The number of residues computed side by side.
    const LANES: usize;
    /// Bits per digit.
    const WIDTH: u32;
}

/// The length of the `limbs` buffer that [`split`] and [`join`] need for numbers of `count` limbs in `lanes`
/// lanes.
#[must_use]
pub(crate) fn limb_words(lanes: usize, count: usize) -> usize {
    (count + 2) * lanes
}

/// The bits of a number from `start` to below `end`.
#[derive(Clone, Copy)]
pub(crate) struct Bits {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Bits {
    /// All bits of a number of a declared width.
    pub(crate) fn below(end: usize) -> Self {
        Self { start: 0, end }
    }

    /// The first limb that has some of them, and how many limbs have, in a number of `len` limbs.
    pub(crate) fn limbs(self, len: usize) -> (usize, usize) {
        let first = (self.start / 64).min(len);
        (first, self.end.div_ceil(64).min(len).saturating_sub(first))
    }
}

/// Extracts some bits of one number per lane as plain digits and fills `rows` with them. All numbers
/// have the same length. Missing lanes repeat the last number.
pub(crate) fn split<K: Lanes>(numbers: &[&[u64]], bits: Bits, limbs: &mut [u64], rows: &mut [u64]) {
    let Bits { start, end } = bits;
    let width = K::WIDTH as usize;
    let (first, count) = bits.limbs(numbers[0].len());
    let limbs = &mut limbs[..limb_words(K::LANES, count)];
    let mut source: [&[u64]; MAX_LANES] = [&[]; MAX_LANES];
    for (lane, source) in source[..K::LANES].iter_mut().enumerate() {
        *source = &numbers[lane.min(numbers.len() - 1)][first..first + count];
    }
    let (used, above) = limbs.split_at_mut(count * K::LANES);
    for (index, row) in used.chunks_exact_mut(K::LANES).enumerate() {
        for (lane, to) in row.iter_mut().enumerate() {
            *to = source[lane][index];
        }
    }
    above.fill(0);
    for (index, digits) in rows.chunks_exact_mut(K::LANES).enumerate() {
        let from = start % 64 + index * width;
        let (word, shift) = ((from / 64).min(count) * K::LANES, from % 64);
        // There are no bits beyond `end`; a digit that crosses it keeps the bits below it.
        let keep = end.saturating_sub(start + index * width).min(width);
        let mask = u64::MAX.checked_shr(64 - keep as u32).unwrap_or(0);
        let (low, high) = limbs[word..][..2 * K::LANES].split_at(K::LANES);
        for lane in 0..K::LANES {
            // The shift has two steps, so that shift = 0 takes nothing from the limb above.
            digits[lane] = (low[lane] >> shift | high[lane] << 1 << (63 - shift)) & mask;
        }
    }
}

/// Converts plain digits, each below `2^WIDTH`, to numbers of `stride` limbs, lane after lane, for as many
/// lanes as `numbers` holds.
pub(crate) fn join<K: Lanes>(rows: &[u64], limbs: &mut [u64], numbers: &mut [u64], stride: usize) {
    let width = K::WIDTH as usize;
    let digits = rows.len() / K::LANES;
    for (index, row) in limbs.chunks_exact_mut(K::LANES).take(stride).enumerate() {
        // At most three digits overlap this limb; the first of them may start in the limb below.
        const { assert!(K::WIDTH > 32) };
        let first = 64 * index / width;
        let down = 64 * index - first * width;
        let mut limb = [0; MAX_LANES];
        if let Some(digit) = rows.get(first * K::LANES..(first + 1) * K::LANES) {
            for lane in 0..K::LANES {
                limb[lane] = digit[lane] >> down;
            }
        }
        for next in first + 1..digits.min((64 * index + 63) / width + 1) {
            let (digit, up) = (&rows[next * K::LANES..][..K::LANES], next * width - 64 * index);
            for lane in 0..K::LANES {
                limb[lane] |= digit[lane] << up;
            }
        }
        row.copy_from_slice(&limb[..K::LANES]);
    }
    for (lane, number) in numbers.chunks_exact_mut(stride).enumerate() {
        for (to, row) in number.iter_mut().zip(limbs.chunks_exact(K::LANES)) {
            *to = row[lane];
        }
    }
}

/// `twice <- 2 x` for plain digits. Returns the carry out of each lane.
pub(crate) fn double<K: Lanes>(x: &[u64], twice: &mut [u64]) -> [u64; MAX_LANES] {
    let mut below = [0; MAX_LANES];
    for (twice, x) in twice.chunks_exact_mut(K::LANES).zip(x.chunks_exact(K::LANES)) {
        for lane in 0..K::LANES {
            twice[lane] = (x[lane] << 1 | below[lane]) & (u64::MAX >> (64 - K::WIDTH));
            below[lane] = x[lane] >> (K::WIDTH - 1);
        }
    }
    below
}

/// Keeps the digits of the lanes whose bit is one, and clears those of the others. Missing lanes repeat the
/// last bit.
pub(crate) fn keep<K: Lanes>(x: &mut [u64], bits: &[&[u64]]) {
    let kept: [u64; MAX_LANES] =
        std::array::from_fn(|lane| mask::from_bit(bits[lane.min(bits.len() - 1)][0]));
    for row in x.chunks_exact_mut(K::LANES) {
        row.iter_mut().zip(kept).for_each(|(digit, kept)| *digit &= kept);
    }
}

/// `x <- x - m` in the lanes where `x >= m`, in constant time. Both are plain digits.
pub(crate) fn reduce_once<K: Lanes>(x: &mut [u64], m: &[u64]) {
    let mut borrow = [0u64; MAX_LANES];
    for (x, m) in x.chunks_exact(K::LANES).zip(m.chunks_exact(K::LANES)) {
        for lane in 0..K::LANES {
            borrow[lane] = subtract_digit::<K>(x[lane], m[lane], borrow[lane]).1;
        }
    }
    // All ones in the lanes without a borrow.
    let take = borrow.map(|borrow| mask::from_bit(1 - borrow));
    let mut borrow = [0u64; MAX_LANES];
    for (x, m) in x.chunks_exact_mut(K::LANES).zip(m.chunks_exact(K::LANES)) {
        for lane in 0..K::LANES {
            (x[lane], borrow[lane]) = subtract_digit::<K>(x[lane], m[lane] & take[lane], borrow[lane]);
        }
    }
}

/// `x - m - borrow` as a digit, and the borrow (0 or 1) from the next digit.
#[inline(always)]
fn subtract_digit<K: Lanes>(x: u64, m: u64, borrow: u64) -> (u64, u64) {
    if K::WIDTH == 64 {
        let (difference, first) = x.overflowing_sub(m);
        let (difference, second) = difference.overflowing_sub(borrow);
        (difference, u64::from(first | second))
    } else {
        // Digits are below 2^63, so the sign bit is the borrow.
        let difference = x.wrapping_sub(m).wrapping_sub(borrow);
        (difference & (u64::MAX >> (64 - K::WIDTH)), difference >> 63)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::portable::Portable;
    use crate::portable::row::Row;
    use crate::working_memory::Rows;
    use modmill_core::radix;

    fn numbers(count: usize, limbs: usize) -> Vec<Vec<u64>> {
        let word = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32);
        let mut numbers: Vec<Vec<u64>> =
            (0..count).map(|lane| (0..limbs).map(|i| word(lane * limbs + i)).collect()).collect();
        numbers[0].fill(u64::MAX);
        numbers
    }

    fn check<K: Kernel>(token: K::Token) {
        for limbs in [1, 2, 3, 7, 12, 13, 14, 16, 26, 33, 64] {
            let numbers = numbers(K::LANES, limbs);
            let views: Vec<&[u64]> = numbers.iter().map(Vec::as_slice).collect();
            let digits = radix::digits_for(64 * limbs, K::WIDTH);
            let mut space = Rows::zeros(limb_words(K::LANES, limbs));
            let mut rows = Rows::zeros(digits * K::LANES);
            K::split(token, &views, Bits::below(64 * limbs), &mut space, &mut rows);
            for (lane, number) in numbers.iter().enumerate() {
                let mut expected = vec![0; digits];
                radix::split(number, K::WIDTH, 1, &mut expected);
                let found: Vec<u64> = rows[lane..].iter().copied().step_by(K::LANES).collect();
                assert_eq!(found, expected);
            }
            let mut back = vec![1; K::LANES * limbs];
            K::join(token, &rows, &mut space, &mut back, limbs);
            assert_eq!(back, numbers.concat());

            // Answers that are wider than the space for limbs.
            let stride = limbs + 15;
            let mut wide = vec![0; K::LANES * stride];
            K::join(token, &rows, &mut space, &mut wide, stride);
            for (number, found) in numbers.iter().zip(wide.chunks(stride)) {
                assert_eq!((&found[..limbs], &found[limbs..]), (&number[..], &[0; 15][..]));
            }

            // Ranges of bits that start and end within a digit, with limbs and digits before and after them.
            let end = 64 * limbs - 9;
            for start in [17, 64, 70, 832].into_iter().filter(|&start| start < end) {
                K::split(token, &views, Bits { start, end }, &mut space, &mut rows);
                K::join(token, &rows, &mut space, &mut back, limbs);
                for (number, found) in numbers.iter().zip(back.chunks(limbs)) {
                    let mut expected = vec![0; limbs];
                    modmill_core::limbs::shift_right(number, start, &mut expected);
                    for bit in end - start..64 * limbs {
                        expected[bit / 64] &= !(1 << (bit % 64));
                    }
                    assert_eq!(found, expected);
                }
            }
        }
    }

    fn check_reduction<K: Kernel>(token: K::Token) {
        let digit = u64::MAX >> (64 - K::WIDTH);
        for (x, m, expected) in [
            ([5, 7, 9], [5, 7, 9], [0, 0, 0]),
            ([4, 7, 9], [5, 7, 9], [4, 7, 9]),
            ([0, 0, 1], [1, 0, 0], [digit, digit, 0]),
            ([digit; 3], [digit, digit, 0], [0, 0, digit]),
            ([0, 0, 1], [1, 0, 1], [0, 0, 1]),
        ] {
            let spread =
                |digits: [u64; 3]| digits.iter().flat_map(|&d| vec![d; K::LANES]).collect::<Vec<_>>();
            let mut value = spread(x);
            K::reduce_once(token, &mut value, &spread(m), &mut spread([0; 3]));
            assert_eq!(value, spread(expected));
        }
    }

    #[test]
    fn numbers_and_lanes_round_trip() {
        check::<Row>(Portable);
        check_reduction::<Row>(Portable);
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(token) = crate::isa::detect_avx2() {
                check::<crate::avx2::wide::Wide>(token);
                check_reduction::<crate::avx2::wide::Wide>(token);
            }
            if let Some(token) = crate::isa::detect_avx512() {
                check::<crate::avx512::wide::Wide>(token);
                check_reduction::<crate::avx512::wide::Wide>(token);
            }
            if let Some(token) = crate::isa::detect_ifma() {
                check::<crate::avx512ifma::ifma::Ifma>(token);
                check_reduction::<crate::avx512ifma::ifma::Ifma>(token);
            }
        }
    }
}
