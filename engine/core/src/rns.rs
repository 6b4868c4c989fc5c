//! Residue number systems: the bases, constants and bounds that every backend of the `rns` family shares.
//!
//! A number is stored as its residues modulo n primes of base A. Montgomery reduction divides by the
//! product of a second base B. A base extension, from one base to the other, is a product with a
//! constant matrix of bytes. `docs/algorithms/rns.md` has the derivation.

pub mod bases;
pub mod bounds;
pub mod channel;
pub mod constants;
pub mod matrix;
pub mod merged;
pub mod mixed_radix;
pub mod primes;
pub mod quotient;
#[cfg(test)]
mod tests;
mod words;

pub use bases::Bases;
pub use bounds::Bounds;
pub use channel::Channel;
pub use constants::ModulusConstants;
pub use matrix::Matrix;
pub use merged::Merged;
pub use mixed_radix::MixedRadix;
pub use quotient::Quotient;
