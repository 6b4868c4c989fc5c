//! Key generation.

use super::base::{ShortBase, random_base};
use super::pair::pair;
use super::{PrivateKey, subgroup};
use crate::{Error, KeyError, MAX_BITS, MIN_BITS};
use modmill::{Engine, number};
use modmill_primes::find;

/// The randomness that a key's ciphertexts are masked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Randomness {
    /// `r^n mod n^2` for a random r below n, as Paillier wrote it. Its security rests on the decisional
    /// composite residuosity assumption alone.
    #[default]
    Full,
    /// `hs^a mod n^2` for a random a of half the length of n, with `hs = h^n mod n^2` and `h = -y^2 mod n`
    /// (Damgård, Jurik, Nielsen 2010). Encryption is much faster. Its security also rests on the assumption
    /// that such powers of h cannot be told from random elements of the group that h generates.
    Short,
    /// `hs^a mod n^2` for a random a of 320 to 832 bits, four times the strength of n in bits, with an h of
    /// the order `2 u v` for primes u of `p - 1` and v of `q - 1` that are half as long as a (Ma, Han,
    /// Lei 2021). Encryption is faster again, and so is decryption of what was encrypted in this way, by
    /// exponents of half that length. Its security also rests on the assumption that elements of this
    /// subgroup cannot be told from others.
    Subgroup,
}

impl PrivateKey {
    /// Generates a key with an n of `bits` bits, which is even. Both primes have half the length and are 3
    /// modulo 4.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_paillier::{PrivateKey, Randomness};
    ///
    /// let key = PrivateKey::generate(&Engine::new()?, 2048, Randomness::Full)?;
    /// assert_eq!(key.bits(), 2048);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn generate(engine: &Engine, bits: usize, randomness: Randomness) -> Result<Self, Error> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(KeyError::Length { bits }.into());
        }
        if bits % 2 == 1 {
            return Err(KeyError::OddLength(bits).into());
        }
        if randomness == Randomness::Subgroup {
            return subgroup::generate(engine, bits);
        }
        let primes = || find(engine, bits / 2, |candidate| candidate[0] & 3 == 3);
        let [p, q] = pair(primes, |prime| prime)?;
        let base = match randomness {
            Randomness::Short => {
                Some(ShortBase { hs: random_base(engine, &number::mul(&p, &q))?, exponent_bits: None })
            }
            Randomness::Full | Randomness::Subgroup => None,
        };
        Ok(Self::of_numbers(&p, &q, base, None)?)
    }
}
