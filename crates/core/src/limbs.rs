//! Small helpers on little-endian 64-bit limbs.

use crate::mask;

/// Length in bits of a number; zero has none. Used on public values and declared widths.
#[must_use]
pub fn bit_length(value: &[u64]) -> usize {
    match value.iter().rposition(|&limb| limb != 0) {
        Some(top) => 64 * top + 64 - value[top].leading_zeros() as usize,
        None => 0,
    }
}

/// How many times two divides a public number; `None` for zero.
#[must_use]
pub fn trailing_zeros(value: &[u64]) -> Option<usize> {
    let low = value.iter().position(|&limb| limb != 0)?;
    Some(64 * low + value[low].trailing_zeros() as usize)
}

/// Bit `index` of a number, zero beyond its end.
#[must_use]
pub fn bit(value: &[u64], index: usize) -> u64 {
    value.get(index / 64).map_or(0, |limb| limb >> (index % 64) & 1)
}

/// `count <= 64` bits of a number from bit `start` up, zeros beyond its end.
#[must_use]
#[inline]
pub fn bits_at(value: &[u64], start: usize, count: u32) -> u64 {
    let (word, shift) = (start / 64, start % 64);
    let low = value.get(word).copied().unwrap_or(0) >> shift;
    // A shift by 64 is split in two, so that shift = 0 gives no high part.
    let high = value.get(word + 1).copied().unwrap_or(0) << 1 << (63 - shift);
    (low | high) & (u64::MAX >> (64 - count))
}

/// `value >> shift`, into a number of `out.len()` limbs.
pub fn shift_right(value: &[u64], shift: usize, out: &mut [u64]) {
    for (index, limb) in out.iter_mut().enumerate() {
        *limb = bits_at(value, 64 * index + shift, 64);
    }
}

/// `value << shift`, truncated to `out.len()` limbs.
pub fn shift_left(value: &[u64], shift: usize, out: &mut [u64]) {
    let (words, bits) = ((shift / 64).min(out.len()), shift % 64);
    let (low, high) = out.split_at_mut(words);
    low.fill(0);
    let mut below = 0;
    for (index, limb) in high.iter_mut().enumerate() {
        let word = value.get(index).copied().unwrap_or(0);
        // Shifted in two steps, so that bits = 0 takes nothing from the limb below.
        *limb = word << bits | below >> 1 >> (63 - bits);
        below = word;
    }
}

/// `a <- 2^(64 len) - a`, which is zero for zero.
pub fn negate(a: &mut [u64]) {
    let mut carry = 1;
    for limb in a {
        let (negated, overflow) = (!*limb).overflowing_add(carry);
        (*limb, carry) = (negated, u64::from(overflow));
    }
}

/// `a += b`, returning the carry; `b` is no longer than `a`.
pub fn add_assign(a: &mut [u64], b: &[u64]) -> u64 {
    let mut carry = 0u64;
    for (index, limb) in a.iter_mut().enumerate() {
        let sum = u128::from(*limb) + u128::from(b.get(index).copied().unwrap_or(0)) + u128::from(carry);
        *limb = sum as u64;
        carry = (sum >> 64) as u64;
    }
    carry
}

/// `a -= b`, returning the borrow (0 or 1); `b` is no longer than `a`.
pub fn sub_assign(a: &mut [u64], b: &[u64]) -> u64 {
    let mut borrow = 0u64;
    for (index, limb) in a.iter_mut().enumerate() {
        let (difference, first) = limb.overflowing_sub(b.get(index).copied().unwrap_or(0));
        let (difference, second) = difference.overflowing_sub(borrow);
        *limb = difference;
        borrow = u64::from(first | second);
    }
    borrow
}

/// `a -= b & mask`, for a mask of all zeros or all ones; returns the borrow.
pub fn sub_assign_masked(a: &mut [u64], b: &[u64], mask: u64) -> u64 {
    let mut borrow = 0u64;
    for (index, limb) in a.iter_mut().enumerate() {
        let (difference, first) = limb.overflowing_sub(b.get(index).copied().unwrap_or(0) & mask);
        let (difference, second) = difference.overflowing_sub(borrow);
        *limb = difference;
        borrow = u64::from(first | second);
    }
    borrow
}

/// Subtracts `b` once when `a >= b`, without looking: `a` becomes `a mod b` if it was below `2b`. Returns how often
/// it did, 0 or 1.
pub fn reduce_once(a: &mut [u64], b: &[u64]) -> u64 {
    let mut borrow = 0u64;
    for (index, &limb) in a.iter().enumerate() {
        let (difference, first) = limb.overflowing_sub(b.get(index).copied().unwrap_or(0));
        borrow = u64::from(first | difference.overflowing_sub(borrow).1);
    }
    sub_assign_masked(a, b, mask::from_bit(1 - borrow));
    1 - borrow
}

/// Inverse of an odd word modulo 2^64, by Newton's iteration: each step doubles the correct bits.
#[must_use]
pub const fn inverse_of_odd(word: u64) -> u64 {
    // word^2 = 1 mod 8, so word itself is right to 3 bits: 3, 6, 12, 24, 48, 96.
    let mut inverse = word;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(word.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// Reads a big-endian octet string into limbs long enough to hold it.
pub fn copy_be_bytes(bytes: &[u8], out: &mut [u64]) {
    let (head, words) = bytes.as_rchunks::<8>();
    let top = head.iter().fold(0, |limb, &byte| limb << 8 | u64::from(byte));
    let words = words.iter().rev().map(|word| u64::from_be_bytes(*word));
    let mut limbs = words.chain(std::iter::once(top)).chain(std::iter::repeat(0));
    out.fill_with(|| limbs.next().unwrap_or(0));
}

/// Writes the low octets of a number, as many as there is room for, most significant first.
pub fn write_be_bytes(value: &[u64], out: &mut [u8]) {
    let (head, words) = out.as_rchunks_mut::<8>();
    let mut limbs = value.iter().copied().chain(std::iter::repeat(0));
    let mut next = || limbs.next().unwrap_or(0);
    for word in words.iter_mut().rev() {
        *word = next().to_be_bytes();
    }
    let top = next().to_be_bytes();
    head.copy_from_slice(&top[8 - head.len()..]);
}

/// The low `len` octets of a number, most significant first.
#[must_use]
pub fn to_be_bytes(value: &[u64], len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    write_be_bytes(value, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_cross_limbs() {
        let value = [0x8000_0000_0000_0001, 0xf];
        let mut out = [0; 3];
        shift_left(&value, 65, &mut out);
        assert_eq!(out, [0, 2, 0x1f]);
        let mut back = [0; 2];
        shift_right(&out, 65, &mut back);
        assert_eq!(back, value);
        shift_left(&value, 0, &mut out);
        assert_eq!(out, [value[0], value[1], 0]);
        assert_eq!(bits_at(&value, 60, 8), 0xf8);
        assert_eq!(bits_at(&value, 64, 64), 0xf);
    }

    #[test]
    fn reduction_happens_exactly_when_needed() {
        for (a, b, expected) in [(7, 7, 0), (6, 7, 6), (8, 7, 1), (u64::MAX, u64::MAX, 0)] {
            let mut value = [a, 0];
            assert_eq!(reduce_once(&mut value, &[b]), u64::from(a >= b));
            assert_eq!(value, [expected, 0]);
        }
        let mut value = [0, 1];
        reduce_once(&mut value, &[u64::MAX]);
        assert_eq!(value, [1, 0]);
    }

    #[test]
    fn negation_wraps() {
        for (a, expected) in [([0, 0], [0, 0]), ([1, 0], [u64::MAX, u64::MAX]), ([0, 1], [0, u64::MAX])] {
            let mut value = a;
            negate(&mut value);
            assert_eq!(value, expected);
        }
    }

    #[test]
    fn odd_words_have_inverses() {
        for word in [1u64, 3, 5, 0xffff_ffff_ffff_ffff, 0x1234_5678_9abc_def1] {
            assert_eq!(word.wrapping_mul(inverse_of_odd(word)), 1);
        }
    }

    #[test]
    fn lengths_and_zeros() {
        assert_eq!((bit_length(&[]), bit_length(&[0, 0]), bit_length(&[0, 1])), (0, 0, 65));
        assert_eq!((trailing_zeros(&[0, 4]), trailing_zeros(&[0])), (Some(66), None));
        assert_eq!(to_be_bytes(&[0x0102], 3), [0, 1, 2]);
    }

    #[test]
    fn octets_and_limbs_round_trip_at_every_length() {
        let bytes: Vec<u8> = (1..=40).collect();
        for len in 0..=40 {
            let mut limbs = [u64::MAX; 6];
            copy_be_bytes(&bytes[..len], &mut limbs);
            for place in 0..48 {
                let expected = if place < len { bytes[len - 1 - place] } else { 0 };
                assert_eq!(bits_at(&limbs, 8 * place, 8), u64::from(expected));
            }
            assert_eq!(to_be_bytes(&limbs, len), bytes[..len]);
            assert_eq!(to_be_bytes(&limbs, len + 11)[..11], [0; 11]);
        }
        // What does not fit is cut off on either side.
        let mut low = [0];
        copy_be_bytes(&bytes[..11], &mut low);
        assert_eq!(low, [0x0405_0607_0809_0a0b]);
        assert_eq!(to_be_bytes(&[0x0102_0304], 3), [2, 3, 4]);
    }
}
