//! Residue number systems: the bases, the constants and the proofs that every backend of the `rns`
//! family shares.
//!
//! A number is its residues modulo n primes of base A. Montgomery reduction is by the product of a
//! second base B, and moving residues from one base to the other is a product with a constant
//! matrix of bytes. `docs/algorithms/rns.md` derives all of it.

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
