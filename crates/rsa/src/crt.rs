//! The private operation: `c^d mod n` by the Chinese remainder theorem, checked before it is released.
//!
//! ```text
//!            c                      bases, twice
//!          /   \
//!  c^dp mod p   c^dq mod q          one batch of 2 k powers of half the length
//!          \   /
//!   (m1 + p 2^s - m2) qinv mod p    Garner: a difference that is not negative, one product modulo p
//!            |
//!       m2 + h q                    one full product
//!            |
//!       m^e mod n = c ?             or the answer is thrown away (Boneh, DeMillo, Lipton 1997)
//! ```
//!
//! All steps are batch operations of the engine. A backend that has the whole of it, such as a sequence
//! of kernels that leaves nothing but the answers on the host, takes the place of
//! [`private_operation`] as one: keys and inputs in, answers and faults out.

use crate::PrivateKey;
use crate::batch::Outcome;
use crate::blinding::Blinding;
use crate::public::public_operation;
use modmill::{Batch, Engine, Modulus};
use modmill_core::limbs;

/// What is on its way from the inputs to the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The inputs, once for each half.
    Bases,
    /// The private exponents modulo p - 1, then modulo q - 1.
    Exponents,
    /// The powers modulo p, then modulo q.
    Halves,
    /// `m1 + p 2^s - m2`.
    Difference,
    /// `q^-1 mod p`.
    Coefficients,
    /// `h`.
    Quotient,
    /// The second factors.
    Cofactors,
    /// What would be released.
    Outputs,
}

/// Looks at numbers on their way, and may change them: tests of faults do.
pub(crate) trait Witness {
    fn see(&mut self, stage: Stage, numbers: &mut Batch);
}

/// Nobody looks.
pub(crate) struct Nobody;

impl Witness for Nobody {
    fn see(&mut self, _: Stage, _: &mut Batch) {}
}

/// `c^d mod n` for numbers below the moduli, which have one length, a key an item. An answer that is not
/// the inverse of the public operation is zero, and named as a fault.
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

/// The two halves and their recombination, unchecked.
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

    let mut bases = Batch::zeros(inputs.bits(), 2 * count);
    let (front, back) = bases.as_limbs_mut().split_at_mut(inputs.as_limbs().len());
    front.copy_from_slice(inputs.as_limbs());
    back.copy_from_slice(inputs.as_limbs());
    witness.see(Stage::Bases, &mut bases);
    let mut exponents = gather(width, factors.iter().map(|factor| &factor.exponent[..]));
    witness.see(Stage::Exponents, &mut exponents);
    let mut halves = engine.pow(&bases, &exponents, moduli.as_slice())?;
    witness.see(Stage::Halves, &mut halves);

    // m1 < p and m2 < q <= p 2^s, so that the sum is positive and below 2^(bits of p 2^s + 1).
    let lift = keys.iter().map(|key| limbs::bit_length(key.lift())).max().unwrap_or(0);
    let mut difference = gather(lift + 1, keys.iter().map(|key| key.lift()));
    for index in 0..count {
        limbs::add_assign(difference.get_mut(index), halves.get(index));
        limbs::sub_assign(difference.get_mut(index), halves.get(count + index));
    }
    witness.see(Stage::Difference, &mut difference);
    let mut coefficients = gather(width, keys.iter().map(|key| key.coefficient()));
    witness.see(Stage::Coefficients, &mut coefficients);
    let mut quotient = engine.mul_mod(&difference, &coefficients, &moduli[..count])?;
    witness.see(Stage::Quotient, &mut quotient);
    let mut cofactors = gather(width, keys.iter().map(|key| key.q().prime.value()));
    witness.see(Stage::Cofactors, &mut cofactors);
    let products = engine.mul(&quotient, &cofactors)?;

    let mut outputs = gather(inputs.bits(), products.iter());
    for index in 0..count {
        limbs::add_assign(outputs.get_mut(index), halves.get(count + index));
    }
    witness.see(Stage::Outputs, &mut outputs);
    Ok(outputs)
}

/// Answers that give the inputs back under the public exponent; others become zero.
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

/// Numbers of at most `bits` bits as a batch; limbs beyond are zero, or those of a product below n.
fn gather<'a>(bits: usize, numbers: impl Iterator<Item = &'a [u64]>) -> Batch {
    let numbers: Vec<&[u64]> = numbers.collect();
    let mut batch = Batch::zeros(bits, numbers.len());
    for (index, number) in numbers.iter().enumerate() {
        let row = batch.get_mut(index);
        let len = row.len().min(number.len());
        row[..len].copy_from_slice(&number[..len]);
    }
    batch
}

#[cfg(test)]
mod tests;
