//! The few numbers of a key: what it takes to check one and to complete it. Constant-time in values.

use modmill_core::limbs;
use modmill_cpu::remainder::{self, Scratch};
use modmill_cpu::{inverse, portable};
use zeroize::Zeroizing;

/// Little-endian limbs of a number that may be secret.
pub(crate) type Number = Zeroizing<Vec<u64>>;

/// A number from big-endian bytes, in as many limbs as its value needs.
pub(crate) fn from_be_bytes(bytes: &[u8]) -> Number {
    let mut number = Number::new(vec![0; bytes.len().div_ceil(8)]);
    limbs::copy_be_bytes(bytes, &mut number);
    let used = limbs::bit_length(&number).div_ceil(64);
    number.truncate(used);
    number
}

/// Big-endian bytes without leading zeros.
pub(crate) fn to_be_bytes(number: &[u64]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(limbs::to_be_bytes(number, limbs::bit_length(number).div_ceil(8)))
}

/// The same number in `len` limbs, which hold it.
pub(crate) fn widened(number: &[u64], len: usize) -> Number {
    let mut wide = Number::new(vec![0; len]);
    let used = number.len().min(len);
    wide[..used].copy_from_slice(&number[..used]);
    wide
}

/// `a b`, as long as both together.
pub(crate) fn product(a: &[u64], b: &[u64]) -> Number {
    let mut product = Number::new(vec![0; a.len() + b.len()]);
    portable::product(a, b, &mut product);
    product
}

/// `a b mod n` for a modulus without leading zero limbs, as long as it.
pub(crate) fn mul_mod(a: &[u64], b: &[u64], n: &[u64]) -> Number {
    let mut out = Number::new(vec![0; n.len()]);
    remainder::mul_mod(a, b, n, &mut out, &mut Scratch::new(a.len() + b.len(), n.len()));
    out
}

/// `a mod n`, likewise.
pub(crate) fn remainder(a: &[u64], n: &[u64]) -> Number {
    mul_mod(a, &[1], n)
}

/// `a^-1 mod n`, likewise; `None` if they share a factor.
pub(crate) fn invert(a: &[u64], n: &[u64]) -> Option<Number> {
    inverse::invert(a, n)
}

/// `a - 1` for an odd number.
pub(crate) fn minus_one(odd: &[u64]) -> Number {
    let mut even = Number::new(odd.to_vec());
    even[0] &= !1;
    even
}

/// Whether two numbers are equal, whatever their limbs.
pub(crate) fn equal(a: &[u64], b: &[u64]) -> bool {
    let limb = |number: &[u64], index: usize| number.get(index).copied().unwrap_or(0);
    let difference = (0..a.len().max(b.len())).fold(0, |sum, index| sum | (limb(a, index) ^ limb(b, index)));
    difference == 0
}
