//! Arithmetic on single numbers: for a key that has to be checked or completed before any batch exists.
//!
//! A number is a slice of 64-bit limbs, least significant first. The time of an operation depends on the lengths
//! of its operands and not on their values, unless its description says otherwise.
//!
//! ```
//! use modmill::number;
//!
//! let inverse = number::inv(&[3], &[7]).expect("3 and 7 are coprime");
//! assert_eq!(*number::mul_mod(&[3], &inverse, &[7]), [1]);
//! ```

pub use modmill_core::limbs::{
    add_assign, bit_length, copy_be_bytes, shift_left, sub_assign, to_be_bytes, write_be_bytes,
};
pub use modmill_core::mask;

use modmill_cpu::remainder::{self, Scratch};
use modmill_cpu::{inverse, portable};
use zeroize::Zeroizing;

/// `a b`, in `a.len() + b.len()` limbs.
#[must_use]
pub fn mul(a: &[u64], b: &[u64]) -> Zeroizing<Vec<u64>> {
    let mut product = Zeroizing::new(vec![0; a.len() + b.len()]);
    portable::product(a, b, &mut product);
    product
}

/// `a b mod n`, in `n.len()` limbs. The last limb of `n` is not zero.
#[must_use]
pub fn mul_mod(a: &[u64], b: &[u64], n: &[u64]) -> Zeroizing<Vec<u64>> {
    let mut residue = Zeroizing::new(vec![0; n.len()]);
    remainder::mul_mod(a, b, n, &mut residue, &mut Scratch::new(a.len() + b.len(), n.len()));
    residue
}

/// `a^-1 mod n`, in `n.len()` limbs, or `None` if `a` and `n` share a factor. The last limb of `n` is not zero.
///
/// The time also depends on the power of two in `n` and on whether there is an inverse.
#[must_use]
pub fn inv(a: &[u64], n: &[u64]) -> Option<Zeroizing<Vec<u64>>> {
    inverse::invert(a, n)
}
