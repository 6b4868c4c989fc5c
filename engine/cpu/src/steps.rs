//! Small steps between products, on all threads.

use crate::backend::Cpu;
use modmill_core::{Batch, Error, Plan, Step};

/// Limbs of answers that one thread computes, at least.
const GRAIN: usize = 1 << 14;

impl Cpu {
    /// A step by a plan of this backend. Its time depends on declared widths alone.
    pub(crate) fn step(&self, plan: &Plan, step: &Step<'_>) -> Result<Batch, Error> {
        self.record(plan.path, plan.variant.clone(), None);
        let mut answers = Batch::try_zeros(step.bits(), step.count()?)?;
        let stride = answers.stride().max(1);
        let compute = |_: &mut (), item: usize, out: &mut [u64]| step.compute(item, out);
        self.each_chunk(answers.as_limbs_mut(), (stride, GRAIN / stride + 1), &|| (), &compute);
        Ok(answers)
    }
}
