//! The private operation: `c^d mod n` by the Chinese remainder theorem, checked before it is returned.
//!
//! ```text
//!              c                      the input, once for each prime
//!            /   \
//!  m1 = c^dp mod p   m2 = c^dq mod q  for k items, one batch of 2 k powers of half the length
//!            \   /
//!  h = (m1 + p 2^s - m2) qinv mod p   Garner's step: a difference that is not negative, one product modulo p
//!              |
//!         m = m2 + h q                one full product
//!              |
//!         m^e mod n = c ?             otherwise m is discarded (Boneh, DeMillo, Lipton 1997)
//! ```
//!
//! Every step is a batch operation of the engine. A GPU computes all of them as one sequence of kernels
//! ([`hazmat::crt_pow`]). An item that fails its check on the GPU is computed again by the steps above.

use crate::blinding::{Blinding, blinded_exponent};
use crate::keys::Keys;
use crate::public::public_operation;
use crate::steps::{Operation, Outcome};
use crate::{Error, PrivateKey, number};
use modmill::hazmat::{self, Blocks, CrtModulus, CrtPowers, PerItem};
use modmill::{Batch, Engine, Modulus};

/// The private operation, and how it is protected.
pub(crate) struct Private {
    /// Whether inputs are multiplied by random factors.
    pub(crate) blinding: bool,
    /// Whether a GPU with one key reads single table entries, by digits of a blinded exponent.
    pub(crate) blinded_direct_reads: bool,
}

impl Operation<PrivateKey> for Private {
    fn on_numbers(&self, engine: &Engine, keys: &[&PrivateKey], inputs: &Batch) -> Result<Outcome, Error> {
        let _under_way = hazmat::private_under_way(engine, inputs.bits(), keys.len());
        private_operation(engine, keys, inputs, self.blinding)
    }

    fn on_blocks(
        &self,
        engine: &Engine,
        keys: Keys<'_, PrivateKey>,
        count: usize,
        blocks: &mut (dyn Blocks + Send),
    ) -> Result<bool, Error> {
        let first = keys.get(0);
        let prime_limbs = first.p().prime.value().len();
        let serves = |key: &PrivateKey| {
            let lengths = [key.p(), key.q()].map(|factor| factor.prime.value().len());
            lengths == [prime_limbs; 2] && key.public_key().exponent() == first.public_key().exponent()
        };
        if self.blinding || !keys.all(engine, serves) {
            return Ok(false);
        }
        let job = CrtPowers {
            count,
            moduli: PerItem::One(parts(first, [&first.p().exponent, &first.q().exponent])),
            bits: first.bits(),
            prime_limbs,
            exponent_bits: 64 * prime_limbs,
            blinded: false,
            public_exponent: first.public_key().exponent(),
        };
        match keys {
            Keys::One(_) if !self.blinded_direct_reads => Ok(hazmat::crt_pow(engine, &job, blocks)?),
            Keys::One(key) => {
                let exponents = [blinded_exponent(key.p())?, blinded_exponent(key.q())?];
                let moduli = PerItem::One(parts(key, [&exponents[0], &exponents[1]]));
                let exponent_bits = job.exponent_bits + 64;
                Ok(hazmat::crt_pow(
                    engine,
                    &CrtPowers { moduli, exponent_bits, blinded: true, ..job },
                    blocks,
                )?)
            }
            Keys::Each(keys) => {
                let get = |item: usize| {
                    let key = keys[item];
                    parts(key, [&key.p().exponent, &key.q().exponent])
                };
                Ok(hazmat::crt_pow(engine, &CrtPowers { moduli: PerItem::Each(&get), ..job }, blocks)?)
            }
        }
    }
}

/// The parts of a key as the engine takes them. `exponents` are congruent to the private exponent modulo p -
/// 1 and q - 1.
fn parts<'a>(key: &'a PrivateKey, exponents: [&'a [u64]; 2]) -> CrtModulus<'a> {
    CrtModulus {
        modulus: key.public_key().modulus().value(),
        primes: [key.p().prime.value(), key.q().prime.value()],
        exponents,
        coefficient: key.coefficient(),
    }
}

/// An intermediate result of the private operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The inputs, first for p and then for q.
    Bases,
    /// The private exponents, first modulo p - 1 and then modulo q - 1.
    Exponents,
    /// The powers, first modulo p and then modulo q.
    Halves,
    /// `m1 + p 2^s - m2`.
    Difference,
    /// `q^-1 mod p`.
    Coefficients,
    /// `h` of Garner's step.
    Quotient,
    /// The factors q.
    Cofactors,
    /// The results before their check.
    Outputs,
}

/// An observer of intermediate results. It may change them: the tests inject faults this way.
pub(crate) trait Witness {
    fn see(&mut self, stage: Stage, numbers: &mut Batch);
}

/// The observer of a real call, which does nothing.
pub(crate) struct Nobody;

impl Witness for Nobody {
    fn see(&mut self, _: Stage, _: &mut Batch) {}
}

/// `c^d mod n` for one input per key, below the modulus of the key. All moduli have the same length. A result
/// that fails its check is replaced by zero and listed in [`Outcome::faults`].
pub(crate) fn private_operation(
    engine: &Engine,
    keys: &[&PrivateKey],
    inputs: &Batch,
    blinding: bool,
) -> Result<Outcome, crate::Error> {
    let publics: Vec<_> = keys.iter().map(|key| key.public_key()).collect();
    if !blinding {
        return Ok(checked(engine, &publics, inputs, powers(engine, keys, inputs, &mut Nobody)?)?);
    }
    let blinding = Blinding::new(engine, &publics)?;
    let outputs = powers(engine, keys, &blinding.blind(engine, inputs)?, &mut Nobody)?;
    Ok(checked(engine, &publics, inputs, blinding.unblind(engine, &outputs)?)?)
}

/// Computes both powers and recombines them, without a check.
fn powers(
    engine: &Engine,
    keys: &[&PrivateKey],
    inputs: &Batch,
    witness: &mut impl Witness,
) -> Result<Batch, modmill::Error> {
    let count = keys.len();
    let first = keys.iter().map(|key| key.p());
    let second = keys.iter().map(|key| key.q());
    let factors: Vec<_> = first.chain(second).collect();
    let moduli: Vec<&Modulus> = factors.iter().map(|factor| &factor.prime).collect();
    let width = moduli.iter().map(|prime| prime.bits()).max().unwrap_or(1);

    let mut bases = Batch::try_zeros(inputs.bits(), 2 * count)?;
    let (front, back) = bases.as_limbs_mut().split_at_mut(inputs.as_limbs().len());
    front.copy_from_slice(inputs.as_limbs());
    back.copy_from_slice(inputs.as_limbs());
    witness.see(Stage::Bases, &mut bases);
    let mut exponents = gather(width, factors.iter().map(|factor| &factor.exponent[..]))?;
    witness.see(Stage::Exponents, &mut exponents);
    let mut halves = engine.pow(&bases, &exponents, moduli.as_slice())?;
    witness.see(Stage::Halves, &mut halves);

    // m1 < p and m2 < q <= p 2^s, so that the sum is positive and at most one bit longer than p 2^s.
    let lift = keys.iter().map(|key| number::bit_length(key.lift())).max().unwrap_or(0);
    let mut difference = gather(lift + 1, keys.iter().map(|key| key.lift()))?;
    for index in 0..count {
        number::add_assign(difference.get_mut(index), halves.get(index));
        number::sub_assign(difference.get_mut(index), halves.get(count + index));
    }
    witness.see(Stage::Difference, &mut difference);
    let mut coefficients = gather(width, keys.iter().map(|key| key.coefficient()))?;
    witness.see(Stage::Coefficients, &mut coefficients);
    let mut quotient = engine.mul_mod(&difference, &coefficients, &moduli[..count])?;
    witness.see(Stage::Quotient, &mut quotient);
    let mut cofactors = gather(width, keys.iter().map(|key| key.q().prime.value()))?;
    witness.see(Stage::Cofactors, &mut cofactors);
    let products = engine.mul(&quotient, &cofactors)?;

    let mut outputs = gather(inputs.bits(), products.iter())?;
    for index in 0..count {
        number::add_assign(outputs.get_mut(index), halves.get(count + index));
    }
    witness.see(Stage::Outputs, &mut outputs);
    Ok(outputs)
}

/// Replaces every output by zero whose power to the public exponent is not the input.
fn checked(
    engine: &Engine,
    keys: &[&crate::PublicKey],
    inputs: &Batch,
    mut outputs: Batch,
) -> Result<Outcome, modmill::Error> {
    let back = public_operation(engine, keys, &outputs)?;
    let faults: Vec<usize> = (0..keys.len()).filter(|&index| back.get(index) != inputs.get(index)).collect();
    for &index in &faults {
        outputs.get_mut(index).fill(0);
    }
    Ok(Outcome { outputs, faults })
}

/// Copies numbers of at most `bits` bits into a batch. Limbs of a number that do not fit are zero.
fn gather<'a>(bits: usize, numbers: impl Iterator<Item = &'a [u64]>) -> Result<Batch, modmill::Error> {
    let numbers: Vec<&[u64]> = numbers.collect();
    let mut batch = Batch::try_zeros(bits, numbers.len())?;
    for (index, number) in numbers.iter().enumerate() {
        let row = batch.get_mut(index);
        let len = row.len().min(number.len());
        row[..len].copy_from_slice(&number[..len]);
    }
    Ok(batch)
}

#[cfg(test)]
mod tests;
