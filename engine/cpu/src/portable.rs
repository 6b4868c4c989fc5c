//! Portable kernels in plain Rust.

mod band;
pub(crate) mod fft;
mod montgomery;
pub(crate) mod row;
mod shared_table;
mod square;
mod table;

use crate::karatsuba;

pub(crate) use shared_table::read as read_shared_table;

/// Scalar arithmetic in plain Rust, which every processor has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

/// `sum += limb b` in one limb more than b has. Returns the carry (0 or 1) above them.
#[inline(always)]
pub(crate) fn add_row(sum: &mut [u64], limb: u64, b: &[u64]) -> u64 {
    band::add_band(sum, &[limb], b, 0)
}

/// `out <- a b`. The length of `out` is the sum of the lengths of the factors.
///
/// The time depends on the lengths only.
///
/// # Panics
/// If `out` is shorter than both factors together.
pub fn product(a: &[u64], b: &[u64], out: &mut [u64]) {
    karatsuba::product(Portable, a, b, out);
}
