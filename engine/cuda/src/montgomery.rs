//! Numbers that stay in Montgomery form on a device between products.

use crate::backend::Cuda;
use crate::error::Result;
use crate::modular::{KernelPlan, chunk_items};
use crate::staging::Answers;
use crate::task::Task;
use crate::variant::Variant;
use modmill_core::{Family, Job, Modulus, Op, Operand, Resident};
use std::sync::Arc;

/// A Montgomery form: `a R mod N` stands for a, for the radix R of a layout of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MontgomeryForm {
    variant: Variant,
}

impl MontgomeryForm {
    /// log2 of the radix R.
    #[must_use]
    pub fn radix_bits(&self) -> usize {
        self.variant.radix_bits() as usize
    }
}

impl Cuda {
    /// The form in which about `count` numbers modulo a number of `bits` bits are multiplied fastest; `None`
    /// if no kernels hold such numbers whole.
    #[must_use]
    pub fn montgomery_form(&self, bits: usize, count: usize) -> Option<MontgomeryForm> {
        let choices = self.choices(Op::MulMod, bits, count, 0);
        let variant =
            choices.iter().map(|choice| choice.variant).find(|variant| variant.family != Family::Rns)?;
        Some(MontgomeryForm { variant })
    }

    /// `a b / R mod N` for N odd, a below R and b below N, on the device that holds operands if any does.
    pub fn montgomery_product(
        &self,
        form: MontgomeryForm,
        a: Operand<'_>,
        b: Operand<'_>,
        modulus: &Modulus,
    ) -> Result<(Resident, f64)> {
        let count = a.len().or(b.len()).unwrap_or(1);
        let job = Job::new(0..count, modulus.bits(), a, b, modulus.into());
        let home = self.home(&[a, b], None, None)?;
        let rows = self.rows(home, modulus.bits().div_ceil(64), count)?;
        let (task, chunk) = (Task::MontgomeryProduct, chunk_items(a.bits() + b.bits()));
        let plan = KernelPlan { variant: form.variant, task, chunk };
        let seconds = self.run_kernels(plan, &job, Answers::Device(&rows))?;
        Ok((Resident::new(modulus.bits(), count, Arc::new(rows)), seconds))
    }
}
