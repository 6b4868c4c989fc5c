//! The numbers of a key as limbs, least significant first. The time of an operation depends on lengths only.

pub(crate) use modmill::number::{
    add_assign, bit_length, copy_be_bytes, inv, mul, mul_mod, shift_left, sub_assign, write_be_bytes,
};
use zeroize::Zeroizing;

/// The limbs of a number that may be secret.
pub(crate) type Number = Zeroizing<Vec<u64>>;

/// Reads big-endian bytes into as many limbs as the value needs.
pub(crate) fn from_be_bytes(bytes: &[u8]) -> Number {
    let mut number = Number::new(vec![0; bytes.len().div_ceil(8)]);
    copy_be_bytes(bytes, &mut number);
    truncate(&mut number);
    number
}

/// Writes a number as big-endian bytes without leading zeros.
pub(crate) fn to_be_bytes(number: &[u64]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(modmill::number::to_be_bytes(number, bit_length(number).div_ceil(8)))
}

/// Drops leading zero limbs.
pub(crate) fn truncate(number: &mut Number) {
    let used = bit_length(number).div_ceil(64);
    number.truncate(used);
}

/// `a mod n`, as long as `n`, whose last limb is not zero.
pub(crate) fn remainder(a: &[u64], n: &[u64]) -> Number {
    mul_mod(a, &[1], n)
}

/// `a - 1` for an odd number.
pub(crate) fn minus_one(odd: &[u64]) -> Number {
    let mut even = Number::new(odd.to_vec());
    even[0] &= !1;
    even
}

/// Whether two numbers are equal. Either may have leading zero limbs.
pub(crate) fn equal(a: &[u64], b: &[u64]) -> bool {
    let limb = |number: &[u64], index: usize| number.get(index).copied().unwrap_or(0);
    let difference = (0..a.len().max(b.len())).fold(0, |sum, index| sum | (limb(a, index) ^ limb(b, index)));
    difference == 0
}
