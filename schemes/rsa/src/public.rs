//! The public operation: `x^e mod n`.

use crate::keys::Keys;
use crate::steps::{Operation, Outcome};
use crate::{PublicKey, number};
use modmill::hazmat::{self, Blocks, PerItem, PublicPowers};
use modmill::{Batch, Engine, Error, Modulus, Operand};

/// The public operation.
pub(crate) struct Public {
    /// Whether the inputs are secret, as messages are, or public, as signatures are.
    pub(crate) secret: bool,
}

impl Operation<PublicKey> for Public {
    fn on_numbers(
        &self,
        engine: &Engine,
        keys: &[&PublicKey],
        inputs: &Batch,
    ) -> Result<Outcome, crate::Error> {
        Ok(Outcome { outputs: public_operation(engine, keys, inputs)?, faults: Vec::new() })
    }

    fn on_blocks(
        &self,
        engine: &Engine,
        keys: Keys<'_, PublicKey>,
        count: usize,
        blocks: &mut (dyn Blocks + Send),
    ) -> Result<bool, crate::Error> {
        let first = keys.get(0);
        let get = |item: usize| keys.get(item).modulus().value();
        let moduli = match keys {
            Keys::One(key) => PerItem::One(key.modulus().value()),
            Keys::Each(keys) if keys.iter().all(|key| key.exponent() == first.exponent()) => {
                PerItem::Each(&get)
            }
            Keys::Each(_) => return Ok(false),
        };
        let job = PublicPowers {
            count,
            moduli,
            bits: first.bits(),
            exponent: first.exponent(),
            secret: self.secret,
        };
        Ok(hazmat::public_pow(engine, &job, blocks)?)
    }
}

/// `x^e mod n` for one input per key, below the modulus of the key. The time does not depend on the inputs.
/// It depends on the exponents, which are public.
pub(crate) fn public_operation(engine: &Engine, keys: &[&PublicKey], inputs: &Batch) -> Result<Batch, Error> {
    let moduli: Vec<&Modulus> = keys.iter().map(|key| key.modulus()).collect();
    let first = keys.first().map_or(&[][..], |key| key.exponent());
    if keys.iter().all(|key| key.exponent() == first) {
        let exponent = Operand::Shared { bits: number::bit_length(first).max(1), value: first };
        return engine.pow(inputs, modmill::Public(exponent), moduli.as_slice());
    }
    let exponents = Batch::from_values(keys.iter().map(|key| key.exponent()));
    engine.pow(inputs, modmill::Public(&exponents), moduli.as_slice())
}
