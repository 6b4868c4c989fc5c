//! Blinding by random numbers r.
//!
//! * Of inputs: the private operation is applied to `c r^e`, and its result is multiplied by `r^-1`. The base
//!   of the power is then unrelated to the input (Kocher 1996).
//! * Of exponents: `d + r (p - 1)` gives the same powers modulo p as d.

use crate::key::Factor;
use crate::number::{self, Number};
use crate::public::public_operation;
use crate::{Error, PublicKey, random};
use modmill::{Batch, Engine, Moduli, Modulus};

/// One random factor per item.
pub(crate) struct Blinding<'a> {
    moduli: Vec<&'a Modulus>,
    /// `r^e mod n`.
    factors: Batch,
    /// `r^-1 mod n`.
    inverses: Batch,
}

impl<'a> Blinding<'a> {
    /// Draws a factor for each key. All moduli have the same length.
    pub(crate) fn new(engine: &Engine, keys: &[&'a PublicKey]) -> Result<Self, Error> {
        let moduli: Vec<&Modulus> = keys.iter().map(|key| key.modulus()).collect();
        let bits = moduli.iter().map(|modulus| modulus.bits()).max().unwrap_or(1);
        let mut random = Batch::try_zeros(bits, keys.len())?;
        (0..keys.len()).try_for_each(|index| draw(bits, random.get_mut(index)))?;
        let inverses = loop {
            let inverses = inverses(engine, &random, &moduli);
            // A random number has no inverse only if the modulus has a small factor. No honest key has one,
            // but such a key must not take the answers from the other items of the batch.
            let Err(modmill::Error::Items(partial)) = inverses else { break inverses? };
            partial.failed.iter().try_for_each(|item| draw(bits, random.get_mut(item.index)))?;
        };
        let factors = public_operation(engine, keys, &random)?;
        Ok(Self { moduli, factors, inverses })
    }

    pub(crate) fn blind(&self, engine: &Engine, inputs: &Batch) -> Result<Batch, modmill::Error> {
        engine.mul_mod(inputs, &self.factors, self.moduli.as_slice())
    }

    pub(crate) fn unblind(&self, engine: &Engine, outputs: &Batch) -> Result<Batch, modmill::Error> {
        engine.mul_mod(outputs, &self.inverses, self.moduli.as_slice())
    }
}

/// The inverse of each number modulo its modulus. If all moduli are one, the numbers share one inversion.
pub(crate) fn inverses(
    engine: &Engine,
    numbers: &Batch,
    moduli: &[&Modulus],
) -> Result<Batch, modmill::Error> {
    match moduli.split_first() {
        Some((&first, others)) if others.iter().all(|modulus| modulus.is_clone_of(first)) => {
            engine.inv(numbers, first)
        }
        _ => engine.inv(numbers, Moduli::Prepared(moduli)),
    }
}

/// Draws an odd number that is below every modulus of `bits` bits.
fn draw(bits: usize, number: &mut [u64]) -> Result<(), Error> {
    let mut drawn = random::number(bits - 1)?;
    drawn[0] |= 1;
    number[..drawn.len()].copy_from_slice(&drawn);
    Ok(())
}

/// `d + r (p - 1)` for the exponent `d` of a prime factor p and 64 random bits r. The sum is at most 64 bits
/// longer than p.
pub(crate) fn blinded_exponent(factor: &Factor) -> Result<Number, Error> {
    let mut bytes = zeroize::Zeroizing::new([0; 8]);
    random::fill(&mut *bytes)?;
    let order = number::minus_one(factor.prime.value());
    let mut exponent = number::mul(&order, &[u64::from_le_bytes(*bytes)]);
    // No carry leaves the product: the sum is below (r + 1) (p - 1), which has no more limbs.
    number::add_assign(&mut exponent, &factor.exponent);
    Ok(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PrivateKey, Sizes};
    use modmill_testing::oracle::number as big;
    use num_bigint::BigUint;

    #[test]
    fn blinded_exponents_differ_and_have_the_same_powers() {
        let engine = Engine::builder().threads(1).build().unwrap();
        let key = PrivateKey::generate(&engine, 512, Sizes::AllowSmall).unwrap();
        for factor in [key.p(), key.q()] {
            let prime = big(factor.prime.value());
            let drawn: Vec<BigUint> = (0..20).map(|_| big(&blinded_exponent(factor).unwrap())).collect();
            for (place, exponent) in drawn.iter().enumerate() {
                assert_eq!(exponent % (&prime - 1u8), big(&factor.exponent));
                assert!(exponent.bits() <= prime.bits() + 64);
                assert!(!drawn[..place].contains(exponent), "drawn twice");
                let base = BigUint::from(3u8);
                assert_eq!(base.modpow(exponent, &prime), base.modpow(&big(&factor.exponent), &prime));
            }
            // Nearly all of the 64 random bits are used.
            let least = drawn.iter().map(BigUint::bits).min().unwrap();
            assert!(least > prime.bits() + 40);
        }
    }
}
