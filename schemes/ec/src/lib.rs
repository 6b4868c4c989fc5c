//! Elliptic curves in batches, on [`modmill::Engine`]: ECDSA, Ed25519, ECDH and X25519.
//!
//! ```
//! use modmill::Engine;
//! use modmill_ec::{Curve, Ec, Ecdsa, Hash, PrivateKey};
//!
//! let engine = Engine::new()?;
//! let key = PrivateKey::generate(Curve::P256)?;
//! let (ec, scheme) = (Ec::new(&engine), Ecdsa::new(Hash::Sha256));
//! let messages = ["one", "two", "three"];
//! let signatures = ec.sign(&key, scheme, &messages)?.into_iter().collect::<Result<Vec<_>, _>>()?;
//! let verdicts = ec.verify(key.public_key(), scheme, &messages, &signatures)?;
//! assert!(verdicts.iter().all(Result::is_ok));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * The curves are P-256, P-384, P-521, secp256k1, Edwards25519 and Curve25519 ([`Curve`]).
//! * Keys are read from and written to PEM, DER, JSON Web Keys and raw bytes: [`AnyKey::read`],
//!   [`PrivateKey::to_pem`].
//! * A call takes one key for all items, or a key for each item ([`Keys`]).
//! * A call answers every item that it can. Every other item has an error that says why ([`ItemError`]).
//! * Every signature is checked before it is returned.
//!
//! `docs/use/ec.md` gives the reasons, `docs/algorithms/curves.md` the formulas.
#![forbid(unsafe_code)]

mod check;
mod curve;
mod derive;
mod ec;
mod ecdsa;
mod ed25519;
mod error;
mod field;
mod group;
mod key;
mod point;
mod scalar25519;
mod scheme;
mod sign;
mod verify;

pub use curve::Curve;
pub use ec::{Answers, Ec};
pub use error::{Error, ItemError, KeyError, PointError};
pub use key::{AnyKey, PrivateKey, PublicKey};
pub use modmill_rsa::{Digest, Hash, Hasher, Keys};
pub use scheme::{Ecdsa, Ed25519, Format, Nonce, Rules, SignatureScheme, Variant};
