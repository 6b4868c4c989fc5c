//! Portable kernels in plain Rust.

mod band;
pub(crate) mod fft;
mod karatsuba;
mod montgomery;
pub mod row;
mod shared_table;
mod square;

/// `sum += rows b`. The factor `b` is at least as long as the rows, and the sum must not overflow.
#[inline(always)]
pub(crate) fn add_rows<const R: usize>(sum: &mut [u64], rows: &[u64; R], b: &[u64]) {
    band::add_band(sum, rows, b, 0);
}

/// The number of limbs from which two factors of equal length are multiplied by Karatsuba's algorithm.
pub(crate) const KARATSUBA: usize = karatsuba::THRESHOLD;

/// `out <- a b`. The length of `out` is the sum of the lengths of the factors.
///
/// The time depends on the lengths only.
///
/// # Panics
/// If `out` is shorter than both factors together.
pub fn product(a: &[u64], b: &[u64], out: &mut [u64]) {
    karatsuba::product(a, b, out);
}

/// `out <- x^2`. `out` is twice as long as x.
pub(crate) fn square(x: &[u64], out: &mut [u64]) {
    square::square(x, out);
}
