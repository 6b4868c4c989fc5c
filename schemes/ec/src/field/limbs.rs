//! Numbers of `L` limbs of 64 bits, least significant first. No function's time depends on a value.

use modmill_core::mask;

/// A product of two numbers: its low half and its high half.
pub(crate) type Wide<const L: usize> = [[u64; L]; 2];

/// The low limb and the carry of `a + b c + carry`, which is below `2^128`.
#[inline(always)]
pub(crate) const fn mul_add(a: u64, b: u64, c: u64, carry: u64) -> (u64, u64) {
    let sum = a as u128 + b as u128 * c as u128 + carry as u128;
    (sum as u64, (sum >> 64) as u64)
}

/// The sum and its carry.
#[inline(always)]
pub(crate) const fn add<const L: usize>(a: &[u64; L], b: &[u64; L]) -> ([u64; L], u64) {
    let (mut sum, mut carry, mut i) = ([0; L], 0, 0);
    while i < L {
        let (low, first) = a[i].overflowing_add(b[i]);
        let (low, second) = low.overflowing_add(carry);
        (sum[i], carry) = (low, (first | second) as u64);
        i += 1;
    }
    (sum, carry)
}

/// The difference and its borrow.
#[inline(always)]
pub(crate) const fn sub<const L: usize>(a: &[u64; L], b: &[u64; L]) -> ([u64; L], u64) {
    let (mut difference, mut borrow, mut i) = ([0; L], 0, 0);
    while i < L {
        let (low, first) = a[i].overflowing_sub(b[i]);
        let (low, second) = low.overflowing_sub(borrow);
        (difference[i], borrow) = (low, (first | second) as u64);
        i += 1;
    }
    (difference, borrow)
}

/// `a` if the mask is all ones, `b` if it is zero.
#[inline(always)]
pub(crate) fn select<const L: usize>(mask: u64, a: &[u64; L], b: &[u64; L]) -> [u64; L] {
    std::array::from_fn(|i| b[i] ^ (mask & (a[i] ^ b[i])))
}

/// `a + 2^(64 L) top` less the modulus, once, if it is not below the modulus. It is below twice the modulus.
#[inline(always)]
pub(crate) fn reduce_once<const L: usize>(a: &[u64; L], top: u64, modulus: &[u64; L]) -> [u64; L] {
    let (difference, borrow) = sub(a, modulus);
    // A borrow that `top` does not cover says that `a` is below the modulus.
    select(mask::from_bit(borrow & !top & 1), a, &difference)
}

/// The product of two numbers.
#[inline(always)]
pub(crate) fn mul<const L: usize>(a: &[u64; L], b: &[u64; L]) -> Wide<L> {
    let mut product = [[0; L]; 2];
    let limbs = product.as_flattened_mut();
    for i in 0..L {
        let mut carry = 0;
        for j in 0..L {
            (limbs[i + j], carry) = mul_add(limbs[i + j], a[i], b[j], carry);
        }
        limbs[i + L] = carry;
    }
    product
}

/// The square of a number: the products of different limbs once, doubled, and the squares of the limbs.
#[inline(always)]
pub(crate) fn square<const L: usize>(a: &[u64; L]) -> Wide<L> {
    let mut product = [[0; L]; 2];
    let limbs = product.as_flattened_mut();
    for i in 0..L {
        let mut carry = 0;
        for j in i + 1..L {
            (limbs[i + j], carry) = mul_add(limbs[i + j], a[i], a[j], carry);
        }
        limbs[i + L] = carry;
    }
    // Twice the sum and the squares are the whole square, which has 2 L limbs: nothing is carried out.
    let (mut shifted, mut carry) = (0, 0);
    for (i, &limb) in a.iter().enumerate() {
        let (low, high) = mul_add(0, limb, limb, 0);
        for (place, part) in [(2 * i, low), (2 * i + 1, high)] {
            let doubled = limbs[place] << 1 | shifted;
            shifted = limbs[place] >> 63;
            let sum = u128::from(doubled) + u128::from(part) + u128::from(carry);
            (limbs[place], carry) = (sum as u64, (sum >> 64) as u64);
        }
    }
    product
}

/// All ones if the number is zero, zero otherwise.
#[inline(always)]
pub(crate) fn is_zero<const L: usize>(a: &[u64; L]) -> u64 {
    mask::equal(a.iter().fold(0, |bits, limb| bits | limb), 0)
}

/// `2^count a` modulo an odd modulus above `a`, for constants.
pub(crate) const fn shift_mod<const L: usize>(a: [u64; L], count: usize, modulus: &[u64; L]) -> [u64; L] {
    let (mut number, mut i) = (a, 0);
    while i < count {
        let (doubled, carry) = add(&number, &number);
        let (reduced, borrow) = sub(&doubled, modulus);
        number = if carry == 1 || borrow == 0 { reduced } else { doubled };
        i += 1;
    }
    number
}

/// The limbs of a big-endian number in hexadecimal, for constants. Shorter numbers have zeros before them.
pub(crate) const fn from_hex<const L: usize>(text: &str) -> [u64; L] {
    let (digits, mut limbs, mut i) = (text.as_bytes(), [0; L], 0);
    while i < digits.len() {
        let digit = digits[digits.len() - 1 - i];
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => panic!("a hexadecimal digit"),
        };
        limbs[i / 16] |= (value as u64) << (4 * (i % 16));
        i += 1;
    }
    limbs
}

/// Reads a big-endian number of at most `8 L` bytes.
pub(crate) fn from_be_bytes<const L: usize>(bytes: &[u8]) -> [u64; L] {
    let mut limbs = [0; L];
    for (i, &byte) in bytes.iter().rev().enumerate() {
        limbs[i / 8] |= u64::from(byte) << (8 * (i % 8));
    }
    limbs
}

/// Writes a number that fits as big-endian bytes.
pub(crate) fn write_be_bytes(limbs: &[u64], bytes: &mut [u8]) {
    for (i, byte) in bytes.iter_mut().rev().enumerate() {
        *byte = (limbs[i / 8] >> (8 * (i % 8))) as u8;
    }
}
