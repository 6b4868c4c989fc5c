//! Modular powers (algorithm 7.2): square and multiply, with the transform of the base kept.

use super::{Form, ModularMultiplier};
use crate::error::Error;
use modmill_core::limbs;

/// A modular power.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModularPower {
    /// `base^exponent mod M`, limbs with the least significant first.
    pub limbs: Vec<u64>,
    /// The cycles of the loop of algorithm 7.2.
    pub loop_cycles: u64,
    /// The cycles of entering and leaving Montgomery's form.
    pub form_cycles: u64,
    /// The squares and products of the loop.
    pub products: u64,
}

impl ModularMultiplier {
    /// `base^exponent mod M` from the top bit of the exponent down. The time depends on the exponent's bits,
    /// as in the thesis.
    ///
    /// ```
    /// let mut machine = modmill_hardware::ModularMultiplier::new(16, &[1_000_003])?;
    /// let power = machine.pow_vartime(&[2], &[20])?;
    /// assert_eq!(power.limbs[0], (1 << 20) % 1_000_003);
    /// # Ok::<(), modmill_hardware::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`multiply`](Self::multiply).
    pub fn pow_vartime(&mut self, base: &[u64], exponent: &[u64]) -> Result<ModularPower, Error> {
        let r_squared = self.r_squared();
        let base = self.multiply(base, &r_squared, Form::Number)?;
        let one = self.multiply(&[1], &r_squared, Form::Number)?;
        let mut form_cycles = base.cycles() + one.cycles() + self.prepare(&base.limbs)?;
        let (mut current, mut loop_cycles, mut products) = (one.limbs, 0, 0);
        for index in (0..limbs::bit_length(exponent)).rev() {
            let forms = [Some(Form::Same), (limbs::bit(exponent, index) == 1).then_some(Form::Prepared)];
            for form in forms.into_iter().flatten() {
                let product = self.multiply(&current, &[], form)?;
                loop_cycles += product.cycles();
                products += 1;
                current = product.limbs;
            }
        }
        let result = self.multiply(&current, &[1], Form::Number)?;
        form_cycles += result.cycles();
        Ok(ModularPower { limbs: result.limbs, loop_cycles, form_cycles, products })
    }
}
