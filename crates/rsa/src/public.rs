//! The public operation: `x^e mod n`.

use crate::PublicKey;
use modmill::{Batch, Engine, Error, Modulus, Operand};
use modmill_core::limbs;

/// `x^e mod n` for numbers below the moduli, a key an item. Bases are treated as secrets, keys are
/// public.
pub(crate) fn public_operation(engine: &Engine, keys: &[&PublicKey], inputs: &Batch) -> Result<Batch, Error> {
    let moduli: Vec<&Modulus> = keys.iter().map(|key| key.modulus()).collect();
    let first = keys.first().map_or(&[][..], |key| key.exponent());
    if keys.iter().all(|key| key.exponent() == first) {
        let exponent = Operand::Shared { bits: limbs::bit_length(first).max(1), value: first };
        return engine.pow_vartime(inputs, exponent, moduli.as_slice());
    }
    let exponents = Batch::from_values(keys.iter().map(|key| key.exponent()));
    engine.pow_vartime(inputs, &exponents, moduli.as_slice())
}
