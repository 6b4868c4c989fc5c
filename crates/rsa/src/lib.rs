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
//! Keys come from and go to PEM, DER and JSON Web Keys ([`PrivateKey::read`], [`AnyKey`]). A call takes
//! one key for all items or a key each ([`Keys`]), answers every item it can, and says of each other
//! what was wrong ([`ItemError`]). Every private operation is checked with the public exponent before
//! its result is returned. `docs/rsa.md` has the reasons.
#![forbid(unsafe_code)]

mod batch;
mod blinding;
mod crt;
mod decrypt;
mod encrypt;
mod error;
mod hash;
#[cfg(feature = "hazmat")]
pub mod hazmat;
mod key;
mod number;
mod padding;
mod public;
mod random;
mod scheme;
mod sign;
mod stream;
pub mod traits;
mod verify;

pub use batch::{Answers, Keys};
pub use error::{Error, ItemError, KeyError};
pub use hash::{Digest, Hash};
pub use key::{AnyKey, PrivateKey, PrivateParts, PublicKey, Sizes};
pub use padding::oaep::Oaep;
pub use padding::pss::{Pss, SaltLength};
pub use scheme::{EncryptionScheme, SignatureScheme};

use crt::Private;
use modmill::Engine;

/// RSA on an engine.
#[derive(Clone, Copy)]
pub struct Rsa<'a> {
    engine: &'a Engine,
    blinding: bool,
    direct_tables: bool,
}

impl<'a> Rsa<'a> {
    /// RSA on this engine, without blinding: the arithmetic is constant-time.
    #[must_use]
    pub fn new(engine: &'a Engine) -> Self {
        Self { engine, blinding: false, direct_tables: false }
    }

    /// Whether inputs of private operations are blinded by random factors, so that what the arithmetic
    /// sees cannot be chosen. It costs about a tenth more time for one key, and more where every item
    /// has its own.
    #[must_use]
    pub fn blinding(self, blinding: bool) -> Self {
        Self { blinding, ..self }
    }

    /// Whether GPUs read only those entries of tables of powers that they need, where one key serves all items; its
    /// exponents are then blinded by random numbers for every call. It is 8 % faster, and hides less: SECURITY.md says
    /// what. Otherwise tables are read whole, and no address depends on a secret. CPUs always do that.
    #[must_use]
    pub fn direct_tables(self, direct_tables: bool) -> Self {
        Self { direct_tables, ..self }
    }

    fn private(&self) -> Private {
        Private { blinding: self.blinding, direct_tables: self.direct_tables }
    }
}
