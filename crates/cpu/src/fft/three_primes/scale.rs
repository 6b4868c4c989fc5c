//! The factors that turn residues of products into the terms of the Chinese remainder theorem.

use super::arithmetic::Arithmetic;
use crate::fft::primes::{self, COUNT, PRIMES};

/// `(P / p_i)^-1 mod p_i`, for the primes of products and those in which 2 has roots.
const INVERSES: [[u64; COUNT]; 2] = [primes::inverses_of_parts(0), primes::inverses_of_parts(COUNT)];

/// ReductionMethod what a residue is multiplied: `(P / p_i)^-1 mod p_i`, with the factor that products of a length of so many points
/// lack, in a field.
pub(super) fn factor_of<A: Arithmetic>(field: usize, points: usize) -> u64 {
    let inverse = INVERSES[field / COUNT][field % COUNT];
    primes::mul(inverse, correction::<A>(field, points as u64), PRIMES[field])
}

/// The factor by which products of blocks of `len` points have to be multiplied after the inverse transform.
fn correction<A: Arithmetic>(field: usize, len: u64) -> u64 {
    let p = PRIMES[field];
    primes::mul(primes::inverse_of_length(field, len), A::DIVIDED_BY % p, p)
}
