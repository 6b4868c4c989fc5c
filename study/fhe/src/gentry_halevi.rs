//! The scheme of Gentry and Halevi ("Implementing Gentry's fully-homomorphic encryption scheme", 2011).
//!
//! **Its published parameters are broken** (M. S. Lee, eprint 2011/567: even the large setting falls within
//! days). It is here for study and measurement, not for protection.
//!
//! A ciphertext is an integer modulo d, of 785 thousand to 12.6 million bits, that encrypts one bit. Sums and
//! products modulo d are XOR and AND of the bits, and each adds to a noise that must stay below a bound.
//! [`GentryHalevi::recrypt`] takes the noise back.
//!
//! ```
//! use modmill::Engine;
//! use modmill_fhe::gentry_halevi::{GentryHalevi, Setting, generate};
//!
//! let engine = Engine::new()?;
//! // A setting of no use but for quick trials; `Setting::small()` is the smallest published one.
//! let (public, secret) = generate(&engine, &Setting::custom(32, 128, 8)?, &mut |_| {})?;
//! let scheme = GentryHalevi::new(&engine, public)?;
//! let bits = scheme.encrypt(&[true, false])?;
//! let both = scheme.and(&bits.select(&engine, &[0])?, &bits.select(&engine, &[1])?)?;
//! assert_eq!(scheme.decrypt(&secret, &both)?, [false]);
//! println!("{:.0} bits of {:.0} are left", scheme.budget(&both)[0], scheme.key().capacity());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ciphertext;
mod column_sums;
mod decrypt;
mod embedding;
mod encrypt;
mod error;
mod eval;
mod gates;
mod keygen;
mod keys;
mod kronecker;
mod lattice;
mod parts;
mod powers;
mod progress;
mod random;
mod recrypt;
mod recrypted_noise;
mod recryption;
mod residue;
mod resultant;
mod sampling;
mod scheme;
mod selectors;
mod setting;
mod squash;
mod stored;
mod sums;
#[cfg(test)]
mod tests;
mod windows;

pub use ciphertext::Ciphertexts;
pub use encrypt::{Encryption, Evaluation};
pub use error::Error;
pub use keygen::generate;
pub use keys::{Fingerprint, PublicKey, SecretKey};
pub use parts::Section;
pub use progress::{Progress, Stage};
pub use sampling::Noise;
pub use scheme::GentryHalevi;
pub use setting::Setting;
pub use stored::{Decryptor, Description, SCHEME, StoredError};
