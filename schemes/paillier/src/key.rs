//! Keys: generating, checking, reading and writing them.

mod file;
mod generate;
mod json;
mod private;
mod public;
mod subgroup;
#[cfg(test)]
mod tests;

pub use generate::Randomness;
pub(crate) use generate::half as halved;
pub use private::PrivateKey;
pub(crate) use private::{Factor, Unmasking};
pub use public::PublicKey;
pub(crate) use public::{ShortBase, fixed_base};

/// The length of the shortest n, in bits. Keys of fewer than 2048 bits do not protect data for long.
pub const MIN_BITS: usize = 1024;

/// The length of the longest n, in bits.
pub const MAX_BITS: usize = 8192;
