//! Paillier's encryption in batches, on [`modmill::Engine`]: whoever has the public key adds numbers that it
//! cannot read.
//!
//! ```
//! use modmill::Engine;
//! use modmill_paillier::{EncodedColumn, Paillier, PrivateKey, Randomness};
//!
//! let engine = Engine::new()?;
//! let key = PrivateKey::generate(&engine, 2048, Randomness::Short)?;
//! let paillier = Paillier::new(&engine);
//! let prices = EncodedColumn::from_f64(key.public_key(), &[1.5, -2.25, 100.0], None)?;
//! let encrypted = prices.encrypt(&paillier)?;
//! // Somebody else adds them up, and learns nothing but the number of items and their precision.
//! let sum = encrypted.sum(&paillier)?;
//! assert_eq!(sum.decrypt(&paillier, &key)?.to_f64()?, [99.25]);
//! # Ok::<(), modmill_paillier::Error>(())
//! ```
//!
//! - [`PrivateKey`], [`PublicKey`]: keys of 1024 to 8192 bits, with full or short randomness
//!   ([`Randomness`]).
//! - [`Paillier`]: encryption, decryption and arithmetic on columns of plain integers below n
//!   ([`Ciphertexts`]).
//! - [`EncodedColumn`], [`EncryptedColumn`]: signed and fixed-point numbers, as python-paillier encodes them.
//! - [`Packing`], [`PackedColumn`]: several short numbers in one ciphertext.
//!
//! Ciphertexts protect against whoever only reads them. They do not protect against whoever changes them:
//! anyone can add to a ciphertext. `docs/use/paillier.md` says what that means, and gives the formulas.
#![forbid(unsafe_code)]

mod arithmetic;
mod ciphertexts;
mod crt;
mod decrypt;
mod encoding;
mod encrypt;
mod encrypted;
mod error;
mod file;
mod fixed_point;
mod integers;
mod key;
mod limits;
mod masks;
mod packing;
mod paillier;
mod parts;
mod rows;
mod selection;
mod warm;

pub use ciphertexts::Ciphertexts;
pub use encoding::EncodedColumn;
pub use encrypted::EncryptedColumn;
pub use error::{Error, KeyError};
pub use fixed_point::{Exponents, nearest_f64};
pub use integers::Integers;
pub use key::{PrivateKey, PublicKey, Randomness};
pub use limits::{MAX_BITS, MIN_BITS};
pub use masks::Masks;
pub use packing::{PackedColumn, Packing};
pub use paillier::Paillier;
