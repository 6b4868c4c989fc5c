//! Number-theoretic transforms: fields, passes, convolutions and exact products. The derivation of the bounds
//! is in `docs/algorithms/fft.md`.

pub(crate) mod carry;
mod convolution;
mod grid;
pub(crate) mod memory;
pub(crate) mod point;
pub(crate) mod primes;
pub(crate) mod product;
pub(crate) mod roots;
pub(crate) mod scheme;
pub(crate) mod shape;
pub(crate) mod shares;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
pub(crate) mod three_primes;
pub(crate) mod transform;
