#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod files;
pub mod hex;
mod sealer;
pub mod secret;
mod stretch;

pub use sealer::{KEY, SealError, Sealer};
pub use secret::SecretBytes;
pub use stretch::{Cost, Stretch};
