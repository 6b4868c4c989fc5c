//! Keys: reading, writing, checking and generating them.

mod any;
mod encode;
mod generate;
mod jwk;
mod password;
pub mod pem;
mod private;
mod public;
mod read;
mod recover;
mod stack;
mod validate;

pub use any::AnyKey;
pub(crate) use private::Factor;
pub use private::{PrivateKey, PrivateParts};
pub use public::PublicKey;

/// The lengths of keys that a call accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sizes {
    /// 2048 to 16384 bits.
    #[default]
    Standard,
    /// 512 to 16384 bits. A key of fewer than 2048 bits does not protect data for long, and a key of 512 bits
    /// can be factored in hours.
    AllowSmall,
}

impl Sizes {
    /// The length of the longest modulus, in bits.
    pub const MAX_BITS: usize = 16_384;

    /// The length of the shortest modulus, in bits.
    #[must_use]
    pub fn min_bits(self) -> usize {
        match self {
            Self::Standard => 2048,
            Self::AllowSmall => 512,
        }
    }
}
