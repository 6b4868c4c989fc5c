//! The factors that turn residues of products into the terms of the Chinese remainder theorem.

use super::arithmetic::Arithmetic;
use crate::fft::primes::{self, COUNT, PRIMES};

/// `(P / p_i)^-1 mod p_i`, for the primes of plain transforms and of weighted transforms.
const INVERSES: [[u64; COUNT]; 2] = [primes::inverses_of_parts(0), primes::inverses_of_parts(COUNT)];

/// The factor of a residue in a field: `(P / p_i)^-1 mod p_i`, times the correction of products of blocks of
/// `points` points.
pub(super) fn factor_of<A: Arithmetic>(field: usize, points: usize) -> u64 {
    let inverse = INVERSES[field / COUNT][field % COUNT];
    primes::mul(inverse, correction::<A>(field, points as u64), PRIMES[field])
}

/// The factor that is missing from products of blocks of `len` points after the inverse transform.
fn correction<A: Arithmetic>(field: usize, len: u64) -> u64 {
    let p = PRIMES[field];
    primes::mul(primes::inverse_of_length(field, len), A::DIVIDED_BY % p, p)
}
