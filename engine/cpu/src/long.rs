//! Arithmetic on long numbers, built on the transforms of the `fft` module.
//!
//! [`Multiplier`] multiplies. [`gcd`] finds common divisors and inverses. [`MersenneRing`] computes modulo
//! `2^n - 1` and `2^n + 1`. `PreparedModulus` computes modulo any number, by Barrett's or Montgomery's
//! reduction.

mod barrett;
mod basecase;
mod batch;
#[cfg(test)]
mod counts;
mod cyclic;
pub mod gcd;
mod memory;
mod mersenne;
mod modular;
mod montgomery;
mod multiplier;
mod powers;
mod reciprocal;
mod shared;
mod siblings;
mod sums;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod thread_tests;
#[cfg(test)]
mod threshold_tests;
mod weighted;
mod weighted_sums;

pub(crate) use barrett::BarrettDivisor;
pub(crate) use batch::{products, products_prepared, run, squares};
pub use mersenne::{MersenneLike, MersenneRing};
pub(crate) use modular::{ReductionMethod, reduction_method};
pub use multiplier::{Multiplier, PreparedFactor};
pub(crate) use powers::window;
pub use reciprocal::reciprocal;
pub(crate) use siblings::{middle_products, sums_of_two_products};
pub use sums::{ModularSums, SumFactors};
