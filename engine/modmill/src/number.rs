//! Arithmetic on single numbers: for a key that has to be checked or completed before any batch exists.
//!
//! A number is a slice of 64-bit limbs, least significant first. The time of an operation depends on the
//! lengths of its operands and not on their values, unless its description says otherwise.
//!
//! ```
//! use modmill::number;
//!
//! let inverse = number::inv(&[3], &[7]).expect("3 and 7 are coprime");
//! assert_eq!(*number::mul_mod(&[3], &inverse, &[7]), [1]);
//! ```

pub use modmill_core::limbs::{
    add_assign, bit_length, copy_be_bytes, reduce_once, shift_left, shift_right, sub_assign, to_be_bytes,
    write_be_bytes,
};
pub use modmill_core::mask;

use modmill_cpu::remainder::{self, Scratch};
use modmill_cpu::{inverse, portable};
use zeroize::Zeroizing;

/// The limbs of a number that may be secret.
pub type Number = Zeroizing<Vec<u64>>;

/// Reads big-endian bytes into as many limbs as the value needs.
#[must_use]
pub fn from_be_bytes(bytes: &[u8]) -> Number {
    let mut number = Number::new(vec![0; bytes.len().div_ceil(8)]);
    copy_be_bytes(bytes, &mut number);
    truncate(&mut number);
    number
}

/// Writes a number as big-endian bytes without leading zeros.
#[must_use]
pub fn to_short_be_bytes(number: &[u64]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(to_be_bytes(number, bit_length(number).div_ceil(8)))
}

/// Drops leading zero limbs.
pub fn truncate(number: &mut Number) {
    let used = bit_length(number).div_ceil(64);
    number.truncate(used);
}

/// `a mod n`, as long as `n`, whose last limb is not zero.
#[must_use]
pub fn remainder(a: &[u64], n: &[u64]) -> Number {
    mul_mod(a, &[1], n)
}

/// `a - 1` for an odd number.
#[must_use]
pub fn minus_one(odd: &[u64]) -> Number {
    let mut even = Number::new(odd.to_vec());
    even[0] &= !1;
    even
}

/// Whether two numbers are equal. Either may have leading zero limbs.
#[must_use]
pub fn equal(a: &[u64], b: &[u64]) -> bool {
    let limb = |number: &[u64], index: usize| number.get(index).copied().unwrap_or(0);
    let difference = (0..a.len().max(b.len())).fold(0, |sum, index| sum | (limb(a, index) ^ limb(b, index)));
    difference == 0
}

/// `a b`, in `a.len() + b.len()` limbs.
#[must_use]
pub fn mul(a: &[u64], b: &[u64]) -> Number {
    let mut product = Zeroizing::new(vec![0; a.len() + b.len()]);
    portable::product(a, b, &mut product);
    product
}

/// `a b mod n`, in `n.len()` limbs. The last limb of `n` is not zero.
#[must_use]
pub fn mul_mod(a: &[u64], b: &[u64], n: &[u64]) -> Number {
    let mut residue = Zeroizing::new(vec![0; n.len()]);
    remainder::mul_mod(a, b, n, &mut residue, &mut Scratch::new(a.len() + b.len(), n.len()));
    residue
}

/// `a^-1 mod n`, in `n.len()` limbs, or `None` if `a` and `n` share a factor. The last limb of `n` is not
/// zero.
///
/// The time also depends on the power of two in `n` and on whether there is an inverse.
#[must_use]
pub fn inv(a: &[u64], n: &[u64]) -> Option<Number> {
    inverse::invert(a, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_comparisons_and_remainders() {
        assert_eq!(*from_be_bytes(&[0, 0, 1, 2]), [0x102]);
        assert!(from_be_bytes(&[0; 9]).is_empty() && to_short_be_bytes(&[0, 0]).is_empty());
        assert_eq!(*to_short_be_bytes(&[0x102, 0]), [1, 2]);
        assert!(equal(&[7, 0], &[7]) && equal(&[], &[0]) && !equal(&[7, 1], &[7]));
        assert_eq!((remainder(&[5, 1], &[6])[0], minus_one(&[7])[0]), (3, 6));
    }
}
