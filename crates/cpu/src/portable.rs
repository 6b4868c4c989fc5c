//! Plain Rust, any architecture.

mod band;
pub(crate) mod fft;
mod karatsuba;
mod montgomery;
pub mod row;
mod square;

/// `sum += rows b`, for a `b` no shorter than the rows and a sum that does not overflow.
#[inline(always)]
pub(crate) fn add_rows<const R: usize>(sum: &mut [u64], rows: &[u64; R], b: &[u64]) {
    band::add_band(sum, rows, b, 0);
}

/// Limbs from which equally long factors are multiplied by Karatsuba's way.
pub(crate) const KARATSUBA: usize = karatsuba::THRESHOLD;

/// `out <- a b`, as long as both factors together.
pub fn product(a: &[u64], b: &[u64], out: &mut [u64]) {
    karatsuba::product(a, b, out);
}

/// `out <- x^2`, twice as long as x.
pub(crate) fn square(x: &[u64], out: &mut [u64]) {
    square::square(x, out);
}
