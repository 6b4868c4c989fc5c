//! The operations of an engine on Paillier's ciphertexts.

use modmill::Engine;

/// Paillier's operations on an engine. Every call takes whole columns, and the engine computes their items
/// together.
///
/// ```
/// use modmill::{Batch, Engine};
/// use modmill_paillier::{Paillier, PrivateKey, Randomness};
///
/// let engine = Engine::new()?;
/// let key = PrivateKey::generate(&engine, 1024, Randomness::Short)?;
/// let paillier = Paillier::new(&engine);
/// let a = paillier.encrypt(key.public_key(), &Batch::from_values([[3u64], [5]]))?;
/// let b = paillier.encrypt(key.public_key(), &Batch::from_values([[10u64], [20]]))?;
/// let sums = paillier.decrypt(&key, &paillier.add(&a, &b)?)?;
/// assert_eq!((sums.get(0)[0], sums.get(1)[0]), (13, 25));
/// # Ok::<(), modmill_paillier::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Paillier<'e> {
    pub(crate) engine: &'e Engine,
    listener: Option<&'e dyn Fn(&'static str)>,
}

impl<'e> Paillier<'e> {
    /// Operations on `engine`.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine, listener: None }
    }

    /// These operations with a `listener`, which is told the name of each step of an encryption or decryption
    /// when it is done. That shows where the time goes.
    ///
    /// ```
    /// use modmill::{Batch, Engine};
    /// use modmill_paillier::{Paillier, PrivateKey, Randomness};
    /// use std::cell::RefCell;
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Randomness::Short)?;
    /// let steps = RefCell::new(Vec::new());
    /// let listener = |step| steps.borrow_mut().push(step);
    /// let paillier = Paillier::new(&engine).heard_by(&listener);
    /// paillier.encrypt(key.public_key(), &Batch::from_values([[3u64]]))?;
    /// assert_eq!(steps.borrow().last(), Some(&"ciphertexts"));
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    #[must_use]
    pub fn heard_by(self, listener: &'e dyn Fn(&'static str)) -> Self {
        Self { listener: Some(listener), ..self }
    }

    /// Tells the listener, if there is one, that a step is done.
    pub(crate) fn tell(&self, step: &'static str) {
        if let Some(listener) = self.listener {
            listener(step);
        }
    }

    /// Whether somebody listens. Steps are then done one after the other.
    pub(crate) fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }
}
