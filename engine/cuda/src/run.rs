//! Running plans of the GPUs on calls, with answers in any place.

use crate::backend::{Cuda, Run, new_batch};
use crate::checks::check_rows;
use crate::error::{Error, Result};
use crate::fixed_base::FixedBase;
use crate::planning::Recipe;
use crate::staging::Answers as Rows;
use modmill_core::{
    Answers, Batch, Call, Divisors, Family, FixedPowers, Inverses, Job, Moduli, Operand, Plan, Product,
    Quotients, Resident, Step,
};
use std::sync::Arc;

/// The width and the number of some answers, and the operands that say on which device they are computed.
struct Shape<'a> {
    bits: usize,
    count: usize,
    operands: &'a [Operand<'a>],
    moduli: Option<Moduli<'a>>,
}

impl Cuda {
    /// Runs a plan of this backend on a call that it was made for, and puts the answers in their place:
    /// `answers` on a device are on the one that holds operands, if any does. Returns the kernels' seconds.
    pub fn run(&self, plan: &Plan, call: Call<'_>, answers: Answers<'_>) -> Result<f64> {
        match call {
            Call::Modular(_, job) => self.run_job(plan, job, answers),
            Call::Product(product) => self.run_product(plan, product, answers),
            Call::Step(step) => self.run_step(plan, step, answers),
            Call::FixedPow(powers) => self.run_fixed_pow(plan, powers, answers),
            Call::Inverses(inverses) => self.run_inverses(plan, inverses, answers),
            Call::Divisors(divisors) => self.run_divisors(plan, divisors, answers),
            Call::Quotients(quotients) => self.run_quotients(plan, quotients, answers),
            Call::CrtPow(powers) => match (plan.recipe.get(), answers) {
                (Some(recipe), Answers::Blocks(blocks)) => self.crt_pow(recipe, powers, blocks),
                _ => Err(no_kernel(plan)),
            },
            Call::PublicPow(powers) => match (plan.recipe.get(), answers) {
                (Some(recipe), Answers::Blocks(blocks)) => self.public_pow(recipe, powers, blocks),
                _ => Err(no_kernel(plan)),
            },
            Call::MultiPow(_) | Call::Products(_) => Err(no_kernel(plan)),
        }
    }

    /// Runs a plan of this backend on a call, with the answers in a new batch.
    pub fn run_new(&self, plan: &Plan, call: Call<'_>) -> Result<Run> {
        let mut answers = Batch::zeros(0, 0);
        let kernel_seconds = self.run(plan, call, Answers::New(&mut answers))?;
        Ok(Run { answers, kernel_seconds })
    }

    fn run_job(&self, plan: &Plan, job: &Job<'_>, answers: Answers<'_>) -> Result<f64> {
        // Rows on a device are no wider than the longest modulus needs.
        let bits = match answers.is_device() {
            true => job.moduli.bits().min(64 * job.bits.div_ceil(64)),
            false => job.moduli.bits(),
        };
        let operands = &[job.a, job.b];
        let shape = Shape { bits, count: job.items.len(), operands, moduli: Some(job.moduli) };
        self.answer(plan, &shape, answers, |answers| self.run_job_to(plan, job, answers))
    }

    fn run_job_to(&self, plan: &Plan, job: &Job<'_>, answers: Rows<'_>) -> Result<f64> {
        match plan.recipe.get() {
            Some(Recipe::Kernels(plan, passed_over)) => {
                if let Some(passed_over) = passed_over {
                    self.patience.note(passed_over);
                }
                self.run_kernels(*plan, job, answers)
            }
            Some(Recipe::Transforms(choice)) => self.run_job_long(job, choice, answers),
            Some(Recipe::Digits(digits)) => self.remainders(digits, job, answers),
            Some(Recipe::FixedBase | Recipe::Step) | None => Err(no_kernel(plan)),
        }
    }

    fn run_product(&self, plan: &Plan, product: &Product<'_>, answers: Answers<'_>) -> Result<f64> {
        let Some(Recipe::Transforms(choice)) = plan.recipe.get() else { return Err(no_kernel(plan)) };
        let operands = &[product.a, product.b.unwrap_or(product.a)];
        let shape = Shape { bits: product.bits(), count: product.count, operands, moduli: None };
        self.answer(plan, &shape, answers, |answers| self.multiply_long(product, choice, answers))
    }

    fn run_fixed_pow(&self, plan: &Plan, powers: &FixedPowers<'_>, answers: Answers<'_>) -> Result<f64> {
        let (count, bits) = (powers.count(), powers.modulus.bits());
        let moduli = Moduli::Shared(powers.modulus);
        let Some(Recipe::FixedBase) = plan.recipe.get() else {
            let job = Job::new(0..count, bits, powers.base, powers.exponents, moduli);
            return self.run_job(plan, &job.watched_by(powers.watch), answers);
        };
        let tables = powers.tables.and_then(|tables| tables.downcast_ref::<FixedBase>());
        let base = tables.ok_or_else(|| no_kernel(plan))?;
        let shape = Shape { bits, count, operands: &[], moduli: None };
        self.answer(plan, &shape, answers, |answers| self.pow_fixed_base(base, powers, answers))
    }

    fn run_inverses(&self, plan: &Plan, inverses: &Inverses<'_>, answers: Answers<'_>) -> Result<f64> {
        let Some(Recipe::Digits(steps)) = plan.recipe.get() else { return Err(no_kernel(plan)) };
        let Job { items, a, moduli, .. } = inverses.job;
        let shape = Shape { bits: moduli.bits(), count: items.len(), operands: &[a], moduli: Some(moduli) };
        self.answer(plan, &shape, answers, |answers| self.invert(steps, inverses, answers))
    }

    fn run_divisors(&self, plan: &Plan, divisors: &Divisors<'_>, answers: Answers<'_>) -> Result<f64> {
        let Some(Recipe::Digits(steps)) = plan.recipe.get() else { return Err(no_kernel(plan)) };
        let &Divisors { a, b, count, .. } = divisors;
        let shape = Shape { bits: divisors.bits(), count, operands: &[a, b], moduli: None };
        self.answer(plan, &shape, answers, |answers| self.divide(steps, divisors, answers))
    }

    fn run_quotients(&self, plan: &Plan, quotients: &Quotients<'_>, answers: Answers<'_>) -> Result<f64> {
        let Some(Recipe::Digits(digits)) = plan.recipe.get() else { return Err(no_kernel(plan)) };
        let &Quotients { a, divisors, count, .. } = quotients;
        let shape = Shape { bits: quotients.answer_bits(), count, operands: &[a], moduli: Some(divisors) };
        self.answer(plan, &shape, answers, |answers| self.quotients(digits, quotients, answers))
    }

    fn run_step(&self, plan: &Plan, step: &Step<'_>, answers: Answers<'_>) -> Result<f64> {
        let count =
            step.count().map_err(|error| Error::Call { call: "Cuda::run", reason: error.to_string() })?;
        let shape = Shape { bits: step.bits(), count, operands: &step.operands(), moduli: None };
        self.answer(plan, &shape, answers, |answers| self.step(step, count, answers))
    }

    /// Makes room for answers in their place, and computes them there.
    fn answer(
        &self,
        plan: &Plan,
        shape: &Shape<'_>,
        answers: Answers<'_>,
        compute: impl FnOnce(Rows<'_>) -> Result<f64>,
    ) -> Result<f64> {
        let &Shape { bits, count, .. } = shape;
        match answers {
            Answers::Blocks(_) | Answers::Plan(_) => Err(no_place()),
            Answers::New(batch) => {
                let mut made = new_batch(bits, count)?;
                let seconds = compute(Rows::Host(made.as_limbs_mut()))?;
                *batch = made;
                Ok(seconds)
            }
            Answers::Into(batch) => {
                check_rows(batch.as_limbs(), bits, count)?;
                compute(Rows::Host(batch.as_limbs_mut()))
            }
            Answers::Device(slot, index) => {
                let home = self.home(shape.operands, shape.moduli, None)?.or_else(|| self.at(index));
                let limbs = bits.div_ceil(64);
                // Transforms write whole quads of words.
                let stride = if plan.family() == Family::Fft { limbs.next_multiple_of(2) } else { limbs };
                let rows = self.rows(home, stride, count)?;
                let seconds = compute(Rows::Device(&rows))?;
                *slot = Some(Resident::new(bits, count, Arc::new(rows)));
                Ok(seconds)
            }
        }
    }
}

fn no_kernel(plan: &Plan) -> Error {
    Error::NoKernel { name: format!("for this call by a plan for {} on {}", plan.op(), plan.path) }
}

fn no_place() -> Error {
    Error::Call { call: "Cuda::run", reason: "this is no place for these answers".to_owned() }
}
