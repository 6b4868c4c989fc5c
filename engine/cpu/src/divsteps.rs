//! Division steps on the numbers of several items side by side, one number a lane: inverses modulo odd
//! numbers in constant time, greatest common divisors and Jacobi symbols of public numbers.
//!
//! A number has digits of 30 bits in words of 64 bits; the last digit is signed. A batch of 60 steps runs on
//! the lowest two digits of each number and gives a matrix of entries of two digits. The kernels are written
//! once over a [`vector::Vector`]. docs/algorithms/inverse.md derives the bounds.

mod batch;
mod cofactors;
pub(crate) mod conversion;
pub(crate) mod gcd;
pub(crate) mod inverse;
pub(crate) mod jacobi;
pub(crate) mod kernels;
mod space;
mod update;
pub(crate) mod vector;

pub(crate) use inverse::{GROUPS, Inputs};
pub(crate) use space::Space;

/// Bits of a digit.
pub(crate) const DIGIT: u32 = 30;

/// The bits of a digit below the last one.
const MASK: i64 = (1 << DIGIT) - 1;

/// Division steps of a batch: two digits.
const BATCH: usize = 2 * DIGIT as usize;
