//! The leveled scheme from learning with errors: bits in vectors modulo a number of about 1024 bits, all in
//! residues.
//!
//! [`Parameters`] fix dimension, samples and moduli. [`SecretKey`] decrypts, [`PublicKey`] with an
//! [`Encryptor`] encrypts batches of bits, and [`EvaluationKey`] with an [`Evaluator`] adds and multiplies
//! them. A bound of the noise is computed before every operation; what would not decrypt is an error, and
//! nothing is computed.
//!
//! ```
//! use modmill::Engine;
//! use modmill::matrix::Placement;
//! use modmill_fhe::lwe::{EvaluationKey, Evaluator, Parameters, PublicKey, SecretKey};
//!
//! let engine = Engine::new()?;
//! let parameters = Parameters::leveled(8, 3)?; // dimension 8, a modulus of 96 bits: a toy
//! let secret = SecretKey::generate(&parameters)?;
//! let public = PublicKey::generate(&engine, &secret)?;
//! let encryptor = public.encryptor(&engine, Placement::Held)?;
//! let a = encryptor.encrypt(&[false, false, true, true])?;
//! let b = encryptor.encrypt(&[false, true, false, true])?;
//!
//! let key = EvaluationKey::generate(&engine, &secret)?;
//! let evaluator = Evaluator::new(&engine, &key, Placement::Held)?;
//! assert_eq!(secret.decrypt(&evaluator.add(&a, &b)?)?, [false, true, true, false]);
//! assert_eq!(secret.decrypt(&evaluator.multiply(&a, &b)?)?, [false, false, false, true]);
//! # Ok::<(), modmill_fhe::lwe::Error>(())
//! ```
//!
//! `docs/algorithms/lwe.md` has the derivations, and says which parameters are secure.

mod ciphertexts;
mod encryptor;
mod error;
mod evaluation_key;
mod evaluator;
mod growth;
mod level;
mod noise;
mod parameters;
mod public_key;
mod random;
mod secret_key;
mod switch;

pub use ciphertexts::Ciphertexts;
pub use encryptor::Encryptor;
pub use error::Error;
pub use evaluation_key::EvaluationKey;
pub use evaluator::Evaluator;
pub use parameters::Parameters;
pub use public_key::PublicKey;
pub use secret_key::SecretKey;
