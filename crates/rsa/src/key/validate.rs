//! Whether factors are prime.

use super::PrivateKey;
use crate::number::{self, Number};
use crate::{Error, KeyError, random};
use modmill::{Batch, Engine};
use modmill_core::limbs;

/// Rounds of Miller-Rabin for numbers that someone else chose: each lets a composite pass with
/// probability 1/4 at most.
const ROUNDS: usize = 32;

impl PrivateKey {
    /// Checks that both factors are prime, by Miller-Rabin to random bases. Reading a key does not:
    /// the check of every private operation keeps a key with other factors from doing harm.
    pub fn check_primes(&self, engine: &Engine) -> Result<(), Error> {
        for (name, factor) in [("p", self.p()), ("q", self.q())] {
            let prime = factor.prime.value();
            // One factor, with all the rounds side by side.
            let mut candidates = Batch::zeros(factor.prime.bits(), ROUNDS);
            for round in 0..ROUNDS {
                candidates.get_mut(round).copy_from_slice(prime);
            }
            let bases = random_bases(factor.prime.bits(), ROUNDS)?;
            if !engine.miller_rabin(&candidates, &bases)?.iter().all(|&passed| passed) {
                return Err(KeyError::NotPrime(name).into());
            }
        }
        Ok(())
    }
}

/// Random numbers of at most `bits` bits.
pub(super) fn random_bases(bits: usize, count: usize) -> Result<Batch, Error> {
    let mut bases = Batch::zeros(bits, count);
    for index in 0..count {
        bases.get_mut(index).copy_from_slice(&random_number(bits)?);
    }
    Ok(bases)
}

/// A random number of at most `bits` bits, in `bits.div_ceil(64)` limbs.
pub(super) fn random_number(bits: usize) -> Result<Number, Error> {
    let mut bytes = zeroize::Zeroizing::new(vec![0; bits.div_ceil(8)]);
    random::fill(&mut bytes)?;
    bytes[0] &= 0xff >> (8 * bytes.len() - bits);
    let mut number = number::widened(&[], bits.div_ceil(64));
    limbs::copy_be_bytes(&bytes, &mut number);
    Ok(number)
}
