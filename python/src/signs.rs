//! Negative numbers. The engine computes with absolute values; signs are put in and out here, as Python's
//! operators do.

use crate::column::{Column, Moduli, is_zero};
use modmill::{Batch, Engine, Error, ItemError};
use modmill_core::limbs;

/// The bases of powers: those of `base`, with the inverse wherever the exponent is negative. The items whose
/// base has no inverse come with their errors.
pub(crate) fn inverted(
    engine: &Engine,
    base: &Column,
    exp: &Column,
    moduli: &Moduli<'_>,
    count: usize,
) -> Result<(Batch, Vec<ItemError>), Error> {
    let moduli = moduli.of_engine();
    let items: Vec<usize> = (0..count).filter(|&item| exp.is_negative(item)).collect();
    let mut bases = Batch::try_zeros(base.bits().max(moduli.bits()), count)?;
    (0..count).for_each(|item| copy(base.get(item), bases.get_mut(item)));
    let mut picked = Batch::try_zeros(base.bits(), items.len())?;
    let mut picked_moduli = Batch::try_zeros(moduli.bits(), items.len())?;
    for (place, &item) in items.iter().enumerate() {
        copy(base.get(item), picked.get_mut(place));
        copy(moduli.get(item), picked_moduli.get_mut(place));
    }
    let (inverses, mut failed) = match engine.inv(&picked, &picked_moduli) {
        Ok(inverses) => (inverses, Vec::new()),
        Err(Error::Items(partial)) => (partial.answers.clone(), partial.failed.clone()),
        Err(error) => return Err(error),
    };
    for (&item, inverse) in items.iter().zip(inverses.iter()) {
        let out = bases.get_mut(item);
        out.fill(0);
        copy(inverse, out);
    }
    failed.iter_mut().for_each(|error| error.index = items[error.index]);
    Ok((bases, failed))
}

fn copy(number: &[u64], out: &mut [u64]) {
    out[..number.len()].copy_from_slice(number);
}

/// Replaces the answers of the items for which `is_negative` by their negatives modulo N.
pub(crate) fn negate(answers: &mut Batch, moduli: &Moduli<'_>, mut is_negative: impl FnMut(usize) -> bool) {
    let moduli = moduli.of_engine();
    for item in 0..answers.len() {
        if is_negative(item) && !is_zero(answers.get(item)) {
            // The answer is below the modulus.
            limbs::sub_from(answers.get_mut(item), moduli.get(item));
        }
    }
}
