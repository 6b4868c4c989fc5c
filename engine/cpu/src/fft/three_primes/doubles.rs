//! Arithmetic modulo the three primes in doubles, for every instruction set that has [`Vector`].
//!
//! A word holds the bits of a double that is an integer of either sign. A fused multiply-add rounds once, so
//! `a b - fl(a b)` is exact. Adding `1.5 * 2^52` rounds to an integer; FLINT's `fft_small` uses a rounding
//! instruction instead. The bounds are in `docs/algorithms/fft.md`: *any* number is within 4p, *reduced*
//! numbers are within `p / 2` plus a rounding error, and *products* are within 5/4 p. All sums stay below
//! `2^53`, so there are no unintended roundings.

mod arithmetic;
mod field;
mod join;
mod vector;

pub(crate) use field::Doubles;
pub(crate) use vector::Vector;
