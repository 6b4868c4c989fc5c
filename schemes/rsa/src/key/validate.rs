//! Checks of keys that take longer than reading them.

use super::{PrivateKey, PublicKey};
use crate::{Error, KeyError, ModulusFlaw};
use modmill::Engine;
use modmill_primes::is_probable_prime;

/// The number of Miller-Rabin rounds for a factor that someone else chose. A composite number passes a round
/// with a probability of at most 1/4.
const FACTOR_ROUNDS: usize = 32;

/// The number of rounds for a modulus: the lanes of one vector. A modulus is composite as a rule, and a
/// random one passes a single round with negligible probability.
const MODULUS_ROUNDS: usize = 8;

impl PublicKey {
    /// Looks for flaws that make the modulus easy to factor: a prime factor below 2^16, a modulus that is a
    /// power of another number, and a modulus that is prime itself. A modulus without these flaws is called
    /// well-formed; that does not prove that it is the product of two large primes.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{Error, KeyError, ModulusFlaw, PublicKey, Sizes};
    ///
    /// // 2^2048 - 1 is divisible by 3.
    /// let key = PublicKey::new(&[0xff; 256], &[1, 0, 1], Sizes::Standard)?;
    /// let flaw = key.check_modulus(&Engine::new()?);
    /// assert_eq!(flaw, Err(Error::Key(KeyError::Modulus(ModulusFlaw::SmallFactor(3)))));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn check_modulus(&self, engine: &Engine) -> Result<(), Error> {
        let flaw = match ModulusFlaw::find(self.modulus().value()) {
            None if is_probable_prime(engine, self.modulus(), MODULUS_ROUNDS)? => Some(ModulusFlaw::Prime),
            flaw => flaw,
        };
        flaw.map_or(Ok(()), |flaw| Err(KeyError::Modulus(flaw).into()))
    }
}

impl PrivateKey {
    /// Checks that both factors are prime, by Miller-Rabin tests to random bases. Reading a key does not
    /// check this. A key with another factor does no harm: its results do not pass the check of the private
    /// operation.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{PrivateKey, Sizes};
    ///
    /// let engine = Engine::new()?;
    /// PrivateKey::generate(&engine, 512, Sizes::AllowSmall)?.check_primes(&engine)?;
    /// # Ok::<(), modmill_rsa::Error>(())
    /// ```
    pub fn check_primes(&self, engine: &Engine) -> Result<(), Error> {
        for (name, factor) in [("p", self.p()), ("q", self.q())] {
            if !is_probable_prime(engine, &factor.prime, FACTOR_ROUNDS)? {
                return Err(KeyError::NotPrime(name).into());
            }
        }
        Ok(())
    }
}
