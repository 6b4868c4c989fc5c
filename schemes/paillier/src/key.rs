//! Keys: generating, checking, reading and writing them.

mod base;
mod file;
mod generate;
mod json;
mod pair;
mod private;
mod public;
mod subgroup;
#[cfg(test)]
mod tests;

pub(crate) use base::ShortBase;
pub use generate::Randomness;
pub use private::PrivateKey;
pub(crate) use private::{Factor, Unmasking};
pub use public::PublicKey;
pub(crate) use public::fixed_base;
