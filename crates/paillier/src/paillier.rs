//! The operations of an engine on Paillier's ciphertexts.

use modmill::Engine;

/// Paillier's operations on an engine. Every call takes whole columns, and the engine computes their items together.
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
}

impl<'e> Paillier<'e> {
    /// Operations on `engine`.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine }
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }
}
