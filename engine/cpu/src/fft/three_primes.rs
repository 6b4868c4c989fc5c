//! Transforms over three primes in vector registers: everything except the arithmetic modulo a prime, which
//! each instruction set implements ([`Arithmetic`](arithmetic::Arithmetic)).

pub(crate) mod arithmetic;
mod butterfly;
mod columns;
mod crt;
pub(crate) mod doubles;
mod field;
mod odd_roots;
mod pointwise;
mod scale;
mod scheme;
#[cfg(test)]
mod tests;
mod weights;

pub(crate) use crt::OFFSET;
pub(crate) use scheme::{ThreePrimes, WeightedThreePrimes};
pub(crate) use weights::Weights;
