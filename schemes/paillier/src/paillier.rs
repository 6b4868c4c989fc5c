//! The operations of an engine on Paillier's ciphertexts.

use modmill::{Engine, Request, Stream};

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
    listener: Option<&'e (dyn Fn(&'static str) + Sync)>,
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
    /// use std::sync::Mutex;
    ///
    /// let engine = Engine::new()?;
    /// let key = PrivateKey::generate(&engine, 1024, Randomness::Short)?;
    /// let steps = Mutex::new(Vec::new());
    /// let listener = |step| steps.lock().unwrap().push(step);
    /// let paillier = Paillier::new(&engine).heard_by(&listener);
    /// paillier.encrypt(key.public_key(), &Batch::from_values([[3u64]]))?;
    /// assert_eq!(steps.lock().unwrap().last(), Some(&"ciphertexts"));
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    #[must_use]
    pub fn heard_by(self, listener: &'e (dyn Fn(&'static str) + Sync)) -> Self {
        Self { listener: Some(listener), ..self }
    }

    /// Tells the listener, if there is one, that a step is done.
    pub(crate) fn tell(&self, step: &'static str) {
        if let Some(listener) = self.listener {
            listener(step);
        }
    }

    /// The way in which a column is computed, of which the powers that `request` tells take most of the time.
    /// Steps that somebody listens to come one after the other.
    pub(crate) fn stream<'r>(&self, request: &'r Request, lanes: usize, parts: usize) -> Stream<'e, 'r> {
        let stream = self.engine.stream(request).lanes(lanes, parts);
        if self.listener.is_some() { stream.in_turn() } else { stream }
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }
}
