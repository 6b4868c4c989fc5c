//! RSA in batches, on [`modmill::Engine`].
//!
//! ```
//! use modmill::Engine;
//! use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
//!
//! let engine = Engine::new()?;
//! let key = PrivateKey::generate(&engine, 2048, Sizes::Standard)?;
//! let rsa = Rsa::new(&engine);
//! let scheme = SignatureScheme::pss(Hash::Sha256);
//! let messages = ["one", "two", "three"];
//! let signatures = rsa.sign(&key, scheme, &messages)?.into_iter().collect::<Result<Vec<_>, _>>()?;
//! let verdicts = rsa.verify(key.public_key(), scheme, &messages, &signatures)?;
//! assert!(verdicts.iter().all(Result::is_ok));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * Keys are read from and written to PEM, DER and JSON Web Keys: [`AnyKey::read`], [`PrivateKey::to_pem`].
//! * A call takes one key for all items, or a key for each item ([`Keys`]).
//! * A call answers every item that it can. Every other item has an error that says why ([`ItemError`]).
//! * A call may mix tasks of all kinds and schemes ([`Rsa::private_tasks`]).
//! * Blind signatures follow RFC 9474 ([`BlindScheme`]).
//! * The result of every private operation is checked with the public exponent before it is returned.
//!
//! `docs/use/rsa.md` gives the reasons.
#![forbid(unsafe_code)]

mod batch;
mod blind;
mod blinding;
mod crt;
mod decrypt;
mod encrypt;
mod error;
mod groups;
mod hash;
#[cfg(feature = "hazmat")]
pub mod hazmat;
mod key;
mod keys;
mod number;
mod padding;
mod public;
mod random;
mod rows;
mod rsa;
mod scheme;
mod sign;
mod steps;
mod stream;
mod strings;
mod tasks;
pub mod traits;
mod verify;

pub use blind::BlindScheme;
pub use blind::client::Blinded;
pub use error::{Error, ItemError, KeyError};
pub use hash::{Digest, Hash, Hasher};
pub use key::{AnyKey, PrivateKey, PrivateParts, PublicKey, Sizes, pem};
pub use keys::Keys;
pub use modmill_primes::ModulusFlaw;
pub use padding::oaep::Oaep;
pub use padding::pss::{Pss, SaltLength};
pub use rows::{Answers, Rows};
pub use rsa::Rsa;
pub use scheme::{EncryptionScheme, SignatureScheme};
pub use tasks::{Encryption, PrivateTask, PublicTask};
