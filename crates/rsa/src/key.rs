//! Keys: public and private, read, written, checked and generated.

mod encode;
mod generate;
mod jwk;
mod password;
mod private;
mod public;
mod read;
mod validate;

pub(crate) use private::Factor;
pub use private::{PrivateKey, PrivateParts};
pub use public::PublicKey;
pub use read::AnyKey;

/// Which lengths of keys are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sizes {
    /// 2048 to 16384 bits.
    #[default]
    Standard,
    /// 512 to 16384 bits. Keys below 2048 bits protect nothing for long; some below 1024 have been
    /// factored for fun.
    AllowSmall,
}

impl Sizes {
    /// The longest modulus, in bits.
    pub const MAX_BITS: usize = 16_384;

    /// The shortest modulus, in bits.
    #[must_use]
    pub fn min_bits(self) -> usize {
        match self {
            Self::Standard => 2048,
            Self::AllowSmall => 512,
        }
    }
}
