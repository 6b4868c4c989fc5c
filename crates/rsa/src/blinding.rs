//! Base blinding: the private operation is done on `c r^e`, and its result multiplied by `r^-1`, so that
//! what the arithmetic sees is unrelated to the input (Kocher 1996). And blinding of exponents: `d + r (p - 1)`
//! has the same powers modulo p as d.

use crate::key::Factor;
use crate::number::{self, Number};
use crate::public::public_operation;
use crate::{Error, PublicKey, random};
use modmill::{Batch, Engine, Moduli, Modulus};
use modmill_core::limbs;

/// A random factor an item.
pub(crate) struct Blinding<'a> {
    moduli: Vec<&'a Modulus>,
    /// `r^e mod n`.
    factors: Batch,
    /// `r^-1 mod n`.
    inverses: Batch,
}

impl<'a> Blinding<'a> {
    /// Draws factors for keys whose moduli have one length.
    pub(crate) fn new(engine: &Engine, keys: &[&'a PublicKey]) -> Result<Self, Error> {
        let moduli: Vec<&Modulus> = keys.iter().map(|key| key.modulus()).collect();
        let bits = moduli.iter().map(|modulus| modulus.bits()).max().unwrap_or(1);
        let mut bytes = zeroize::Zeroizing::new(vec![0; bits.div_ceil(8)]);
        let mut random = Batch::zeros(bits, keys.len());
        for index in 0..keys.len() {
            random::fill(&mut bytes)?;
            // A bit shorter than the modulus, and not zero.
            bytes[0] &= 0xff >> (8 * bytes.len() - bits) >> 1;
            if let Some(last) = bytes.last_mut() {
                *last |= 1;
            }
            limbs::copy_be_bytes(&bytes, random.get_mut(index));
        }
        // A factor without inverse shares a prime with the modulus: it would be easier to guess the key.
        let inverses = match moduli.split_first() {
            Some((&first, others)) if others.iter().all(|modulus| modulus.is_clone_of(first)) => {
                engine.inv(&random, first)?
            }
            _ => engine.inv(&random, Moduli::Prepared(&moduli))?,
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

/// An exponent modulo p - 1, made longer by a random multiple of that: 64 bits longer than p at most.
pub(crate) fn blinded_exponent(factor: &Factor) -> Result<Number, Error> {
    let mut bytes = zeroize::Zeroizing::new([0; 8]);
    random::fill(&mut *bytes)?;
    let order = number::minus_one(factor.prime.value());
    let mut exponent = number::product(&order, &[u64::from_le_bytes(*bytes)]);
    // (r + 1) (p - 1) is above the sum and fits as well.
    limbs::add_assign(&mut exponent, &factor.exponent);
    Ok(exponent)
}
