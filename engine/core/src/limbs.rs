//! Arithmetic and conversions on numbers of little-endian 64-bit limbs.

use crate::mask;

/// The length of `value` in bits; 0 for zero. The time depends on leading zero limbs, so lengths must be
/// public.
#[must_use]
pub fn bit_length(value: &[u64]) -> usize {
    match value.iter().rposition(|&limb| limb != 0) {
        Some(top) => 64 * top + 64 - value[top].leading_zeros() as usize,
        None => 0,
    }
}

/// The number of trailing zero bits of a public number; `None` for zero.
#[must_use]
pub fn trailing_zeros(value: &[u64]) -> Option<usize> {
    let low = value.iter().position(|&limb| limb != 0)?;
    Some(64 * low + value[low].trailing_zeros() as usize)
}

/// Bit `index` of `value`; 0 beyond its end.
#[must_use]
pub fn bit(value: &[u64], index: usize) -> u64 {
    value.get(index / 64).map_or(0, |limb| limb >> (index % 64) & 1)
}

/// The `count` bits (1 to 64) of `value` from bit `start` upwards; bits beyond its end are 0.
#[must_use]
#[inline]
pub fn bits_at(value: &[u64], start: usize, count: u32) -> u64 {
    let (word, shift) = (start / 64, start % 64);
    let low = value.get(word).copied().unwrap_or(0) >> shift;
    // Two shifts: for shift = 0 a single one would be by 64 bits, which overflows.
    let high = value.get(word + 1).copied().unwrap_or(0) << 1 << (63 - shift);
    (low | high) & (u64::MAX >> (64 - count))
}

/// `out <- value >> shift`, truncated to the limbs of `out`.
pub fn shift_right(value: &[u64], shift: usize, out: &mut [u64]) {
    let (words, bits) = ((shift / 64).min(value.len()), shift % 64);
    let limbs = value[words..].iter().copied();
    let mut above = limbs.clone().skip(1).chain(std::iter::repeat(0));
    let mut limbs = limbs.chain(std::iter::repeat(0));
    out.fill_with(|| {
        let (limb, above) = (limbs.next().unwrap_or(0), above.next().unwrap_or(0));
        // Two shifts: for bits = 0 a single one would be by 64 bits, which overflows.
        limb >> bits | above << 1 << (63 - bits)
    });
}

/// `out <- value << shift`, truncated to the limbs of `out`.
pub fn shift_left(value: &[u64], shift: usize, out: &mut [u64]) {
    let (words, bits) = ((shift / 64).min(out.len()), shift % 64);
    let (low, high) = out.split_at_mut(words);
    low.fill(0);
    let mut below = 0;
    for (index, limb) in high.iter_mut().enumerate() {
        let word = value.get(index).copied().unwrap_or(0);
        // Two shifts: for bits = 0 a single one would be by 64 bits, which overflows.
        *limb = word << bits | below >> 1 >> (63 - bits);
        below = word;
    }
}

/// Overwrites limbs with zeros, as fast as memory takes them. The compiler does not leave it out.
///
/// `Zeroize` writes limb by limb, which takes a processor several times as long for large memory.
pub fn clear(limbs: &mut [u64]) {
    limbs.fill(0);
    zeroize::optimization_barrier(limbs);
}

/// `a <- -a mod 2^(64 len)`, where `len` is the number of limbs of `a`.
pub fn negate(a: &mut [u64]) {
    let mut carry = 1;
    for limb in a {
        let (negated, overflow) = (!*limb).overflowing_add(carry);
        (*limb, carry) = (negated, u64::from(overflow));
    }
}

/// The low limb of `a + b + carry`, and the carry out.
#[inline(always)]
#[must_use]
pub fn add_carrying(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(u64::from(carry));
    (sum, first | second)
}

/// The low limb of `a - b - borrow`, and the borrow out.
#[inline(always)]
#[must_use]
pub fn sub_borrowing(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(u64::from(borrow));
    (difference, first | second)
}

/// The number of limbs of an unrolled loop with a carry. Within it the carry stays in the processor's flag.
const TOGETHER: usize = 8;

/// `a <- a + b + carry` limb by limb, and the carry out. The function `add` adds or subtracts one limb. `b`
/// has at least as many limbs as `a`; `None` stands for `constant` in every limb.
#[inline(always)]
fn ripple(
    a: &mut [u64],
    b: Option<&[u64]>,
    constant: u64,
    mut carry: bool,
    add: impl Fn(u64, u64, bool) -> (u64, bool),
) -> bool {
    let b = b.map(|b| &b[..a.len()]);
    let (chunks, rest) = a.as_chunks_mut::<TOGETHER>();
    let done = chunks.len() * TOGETHER;
    for (index, chunk) in chunks.iter_mut().enumerate() {
        let others = b.map_or([constant; TOGETHER], |b| b.as_chunks().0[index]);
        for (limb, other) in chunk.iter_mut().zip(others) {
            (*limb, carry) = add(*limb, other, carry);
        }
    }
    for (index, limb) in rest.iter_mut().enumerate() {
        (*limb, carry) = add(*limb, b.map_or(constant, |b| b[done + index]), carry);
    }
    carry
}

/// `a += b`, where `b` is no longer than `a`. Returns the carry, 0 or 1.
pub fn add_assign(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let carry = ripple(low, Some(b), 0, false, add_carrying);
    u64::from(ripple(high, None, 0, carry, add_carrying))
}

/// `a += b & mask`, where `b` is no longer than `a` and the mask is all zeros or all ones. Returns the carry,
/// 0 or 1.
pub fn add_assign_masked(a: &mut [u64], b: &[u64], mask: u64) -> u64 {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let carry = ripple(low, Some(b), 0, false, |a, b, carry| add_carrying(a, b & mask, carry));
    u64::from(ripple(high, None, 0, carry, add_carrying))
}

/// `a += value`, where `|value|` is below `2^120`. Returns the signed carry out.
pub fn add_signed(a: &mut [u64], value: i128) -> i128 {
    let (low, high) = a.split_at_mut(a.len().min(2));
    let mut carry = value;
    for limb in low {
        let sum = carry + i128::from(*limb);
        (*limb, carry) = (sum as u64, sum >> 64);
    }
    // The carry is -1, 0 or 1 now. -1 is all ones in every limb.
    if high.is_empty() {
        return carry;
    }
    let is_negative = carry < 0;
    let extension = mask::from_bit(u64::from(is_negative));
    let carry = ripple(high, None, extension, carry == 1, add_carrying);
    i128::from(carry) - i128::from(is_negative)
}

/// `a -= b`, where `b` is no longer than `a`. Returns the borrow, 0 or 1.
pub fn sub_assign(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let borrow = ripple(low, Some(b), 0, false, sub_borrowing);
    u64::from(ripple(high, None, 0, borrow, sub_borrowing))
}

/// `a <- b - a`, where `b` is no longer than `a`. Returns the borrow, 0 or 1.
pub fn sub_from(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let borrow = ripple(low, Some(b), 0, false, |a, b, borrow| sub_borrowing(b, a, borrow));
    u64::from(ripple(high, None, 0, borrow, |a, b, borrow| sub_borrowing(b, a, borrow)))
}

/// `a -= b & mask`, for a mask of all zeros or all ones. Returns the borrow, 0 or 1.
pub fn sub_assign_masked(a: &mut [u64], b: &[u64], mask: u64) -> u64 {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let borrow = ripple(low, Some(b), 0, false, |a, b, borrow| sub_borrowing(a, b & mask, borrow));
    u64::from(ripple(high, None, 0, borrow, sub_borrowing))
}

/// `a -= b times`. Returns the limb that is still to be subtracted above `a`.
pub fn sub_assign_times(a: &mut [u64], b: &[u64], times: u64) -> u64 {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let mut owed = 0;
    for (limb, &b) in low.iter_mut().zip(b) {
        let product = u128::from(b) * u128::from(times) + u128::from(owed);
        let (difference, borrow) = limb.overflowing_sub(product as u64);
        (*limb, owed) = (difference, (product >> 64) as u64 + u64::from(borrow));
    }
    for limb in high {
        let (difference, borrow) = limb.overflowing_sub(owed);
        (*limb, owed) = (difference, u64::from(borrow));
    }
    owed
}

/// Subtracts `b` from `a` if `a >= b`, in constant time. So an `a` below `2b` becomes `a mod b`. Returns 1 if
/// it subtracted, 0 otherwise.
pub fn reduce_once(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at(b.len().min(a.len()));
    let mut borrow = false;
    let (chunks, rest) = low.as_chunks::<TOGETHER>();
    for (chunk, others) in chunks.iter().zip(b.as_chunks::<TOGETHER>().0) {
        for (&limb, &other) in chunk.iter().zip(others) {
            borrow = sub_borrowing(limb, other, borrow).1;
        }
    }
    for (&limb, &other) in rest.iter().zip(&b[chunks.len() * TOGETHER..]) {
        borrow = sub_borrowing(limb, other, borrow).1;
    }
    for limb in high {
        borrow = limb.overflowing_sub(u64::from(borrow)).1;
    }
    let fits = 1 - u64::from(borrow);
    sub_assign_masked(a, b, mask::from_bit(fits));
    fits
}

/// The inverse of an odd word modulo 2^64 by Newton's iteration. Each step doubles the number of correct
/// bits.
#[must_use]
pub const fn inverse_of_odd(word: u64) -> u64 {
    // word^2 = 1 mod 8, so word is its own inverse to 3 bits. Five steps give 6, 12, 24, 48, 96 bits.
    let mut inverse = word;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(word.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

/// Writes a big-endian byte string to the limbs of `out`. Bytes beyond the end of `out` are dropped.
pub fn copy_be_bytes(bytes: &[u8], out: &mut [u64]) {
    let (head, words) = bytes.as_rchunks::<8>();
    let top = head.iter().fold(0, |limb, &byte| limb << 8 | u64::from(byte));
    let words = words.iter().rev().map(|word| u64::from_be_bytes(*word));
    let mut limbs = words.chain(std::iter::once(top)).chain(std::iter::repeat(0));
    out.fill_with(|| limbs.next().unwrap_or(0));
}

/// Writes the low bytes of `value` to `out`, most significant first. The length of `out` decides their
/// number.
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

/// The low `len` bytes of `value`, most significant first.
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

    /// Compares sums and differences of every length around the unrolled loop with sums limb by limb.
    #[test]
    fn carries_ripple_through_any_length() {
        for len in 0..40 {
            for short in [0, 1, len / 2, len] {
                let short = short.min(len);
                let patterns = [0, 1, u64::MAX, 0x8000_0000_0000_0001, 0xdead_beef_0bad_cafe];
                for x in patterns {
                    for y in patterns {
                        let (a, b) = (vec![x; len], vec![y; short]);
                        let limb = |b: &[u64], index: usize| i128::from(b.get(index).copied().unwrap_or(0));
                        let check = |found: (Vec<u64>, i128), start: i128, factor: i128| {
                            let (mut carry, mut expected) = (start, vec![]);
                            for index in 0..len {
                                carry += limb(&a, index) + factor * limb(&b, index);
                                expected.push(carry as u64);
                                carry >>= 64;
                            }
                            assert_eq!(found, (expected, carry), "{len} {short}");
                        };
                        let run = |work: &dyn Fn(&mut [u64]) -> i128| {
                            let mut a = a.clone();
                            let out = work(&mut a);
                            (a, out)
                        };
                        check(run(&|a| i128::from(add_assign(a, &b))), 0, 1);
                        check(run(&|a| -i128::from(sub_assign(a, &b))), 0, -1);
                        check(run(&|a| -i128::from(sub_assign_masked(a, &b, u64::MAX))), 0, -1);
                        check(run(&|a| -i128::from(sub_assign_masked(a, &b, 0))), 0, 0);
                        check(run(&|a| i128::from(add_assign_masked(a, &b, u64::MAX))), 0, 1);
                        check(run(&|a| i128::from(add_assign_masked(a, &b, 0))), 0, 0);
                        check(run(&|a| -i128::from(sub_assign_times(a, &b, 5))), 0, -5);
                        // b - a, and a added again.
                        let (mut difference, borrow) = run(&|a| i128::from(sub_from(a, &b)));
                        assert_eq!(i128::from(add_assign(&mut difference, &a)), borrow, "{len} {short}");
                        let padded: Vec<u64> = (0..len).map(|index| limb(&b, index) as u64).collect();
                        assert_eq!(difference, padded, "{len} {short}");
                        if short == 0 {
                            let (wide, sign) = (i128::from(y) << 40 | 3, if x == 1 { -1 } else { 1 });
                            check(run(&|a| add_signed(a, sign * wide)), sign * wide, 0);
                            check(run(&|a| add_signed(a, -1)), -1, 0);
                            check(run(&|a| add_signed(a, 0)), 0, 0);
                        }
                    }
                }
            }
        }
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
        // Bytes and limbs that do not fit are dropped in both directions.
        let mut low = [0];
        copy_be_bytes(&bytes[..11], &mut low);
        assert_eq!(low, [0x0405_0607_0809_0a0b]);
        assert_eq!(to_be_bytes(&[0x0102_0304], 3), [2, 3, 4]);
    }
}
