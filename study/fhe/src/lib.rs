//! Homomorphic encryption on long integers: a server computes with bits that it cannot read.
//!
//! - [`gentry_halevi`]: the scheme of Gentry and Halevi (2011), whose ciphertexts are integers modulo one of
//!   785 thousand to 12.6 million bits.
//! - [`lwe`]: a leveled scheme from learning with errors, with vectors modulo a number of about 1024 bits.
//! - [`circuit`]: circuits of gates, and their evaluation by a scheme in batches, with recryption where noise
//!   asks for it.
//!
//! Keys and ciphertexts are written in the container of `modmill-container`.
//!
//! **For study and measurement, not for protection.** The published parameters of Gentry and Halevi's scheme
//! are broken (M. S. Lee, eprint 2011/567).
#![forbid(unsafe_code)]

pub mod circuit;
pub mod gentry_halevi;
pub mod lwe;
