//! A public key on an engine.

use super::ciphertext::Ciphertexts;
use super::keys::PublicKey;
use super::powers::Powers;
use super::recryption::Recryption;
use super::{Error, Setting};
use modmill::{Batch, Engine, Resident};
use modmill_core::sync::Mutex;
use std::sync::Arc;

/// The scheme with one public key: encrypts, computes with encrypted bits, recrypts. It keeps what several
/// calls need, such as powers of the root.
///
/// **The published parameters are broken** (M. S. Lee, eprint 2011/567): for study and measurement, not for
/// protection.
///
/// # Examples
///
/// ```
/// use modmill::Engine;
/// use modmill_fhe::gentry_halevi::{GentryHalevi, Setting, generate};
///
/// let engine = Engine::new()?;
/// let (public, secret) = generate(&engine, &Setting::custom(32, 128, 8)?, &mut |_| {})?;
/// let scheme = GentryHalevi::new(&engine, public)?;
/// let a = scheme.encrypt(&[false, false, true, true])?;
/// let b = scheme.encrypt(&[false, true, false, true])?;
/// assert_eq!(scheme.decrypt(&secret, &scheme.and(&a, &b)?)?, [false, false, false, true]);
/// assert_eq!(scheme.decrypt(&secret, &scheme.xor(&a, &b)?)?, [false, true, true, false]);
/// let fresh = scheme.recrypt(&scheme.not(&a)?)?;
/// assert_eq!(scheme.decrypt(&secret, &fresh)?, [true, true, false, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GentryHalevi<'e> {
    pub(super) engine: &'e Engine,
    pub(super) key: PublicKey,
    /// d, one number on the device.
    pub(super) d: Resident,
    /// The powers of the root that encryption used last.
    pub(super) powers: Mutex<Option<Arc<Powers<'e>>>>,
    recryption: Mutex<Option<Arc<Recryption<'e>>>>,
}

impl<'e> GentryHalevi<'e> {
    /// The scheme with a public key on an engine.
    pub fn new(engine: &'e Engine, key: PublicKey) -> Result<Self, Error> {
        let d = engine.upload(&Batch::from_values([key.modulus().value()]))?;
        Ok(Self { engine, key, d, powers: Mutex::default(), recryption: Mutex::default() })
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }

    /// The public key.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The parameters.
    #[must_use]
    pub fn setting(&self) -> &Setting {
        self.key.setting()
    }

    /// The values that recryption needs, made at its first use.
    pub(super) fn recryption(&self) -> Result<Arc<Recryption<'e>>, Error> {
        let mut kept = self.recryption.lock();
        if let Some(recryption) = &*kept {
            return Ok(recryption.clone());
        }
        Ok(kept.insert(Arc::new(Recryption::new(self.engine, &self.key)?)).clone())
    }

    /// Ciphertexts of this key from numbers and their noise.
    pub(super) fn ciphertexts(&self, numbers: Resident, noise: Vec<f64>) -> Ciphertexts {
        Ciphertexts::new(numbers, noise, *self.key.fingerprint())
    }

    /// It is an error if ciphertexts belong to another key.
    pub(super) fn check_key(&self, ciphertexts: &[&Ciphertexts]) -> Result<(), Error> {
        match ciphertexts.iter().all(|batch| batch.key() == self.key.fingerprint()) {
            true => Ok(()),
            false => Err(Error::AnotherKey("a ciphertext")),
        }
    }

    /// It is an error if any of some noise leaves less than `needed` bits of budget.
    pub(super) fn check_budget(&self, noise: &[f64], needed: f64) -> Result<(), Error> {
        let budgets = noise.iter().map(|noise| self.key.capacity() - noise);
        match budgets.enumerate().find(|(_, budget)| *budget < needed) {
            Some((item, budget)) => Err(Error::Budget { item, budget, needed }),
            None => Ok(()),
        }
    }
}
