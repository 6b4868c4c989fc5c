//! Kernels of GPUs, compiled before columns come.

use crate::{Error, Paillier, PrivateKey, Randomness};
use modmill::Batch;
use modmill::warm;

impl Paillier<'_> {
    /// Compiles the kernels of GPUs for columns of `count` items and keys with an n of `bits` bits, and keeps
    /// them in the cache of kernels. It encrypts, adds, sums and decrypts a column with a key of its own.
    /// Returns whether the engine has GPUs; if it has none, there is nothing to compile.
    ///
    /// ```
    /// use modmill::{Backend, Engine};
    /// use modmill_paillier::{Paillier, Randomness};
    ///
    /// let cpu = Engine::builder().backend(Backend::Cpu).build()?;
    /// assert!(!Paillier::new(&cpu).warm(2048, Randomness::Short, 1 << 20)?);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn warm(&self, bits: usize, randomness: Randomness, count: usize) -> Result<bool, Error> {
        if self.engine.cuda().is_none() {
            return Ok(false);
        }
        let key = PrivateKey::generate(self.engine, bits, randomness)?;
        warm::by(self.engine, || {
            let column = self.encrypt(key.public_key(), &Batch::try_zeros(64, count)?)?;
            self.sum(&self.add(&column, &column)?)?;
            self.decrypt(&key, &column)
        })?;
        Ok(true)
    }
}
