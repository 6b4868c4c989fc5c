//! Calls on the backends: planned once, run as planned, and finished by the CPU where a device could not.

use crate::backends::Backends;
use crate::callers::small::Turn;
use crate::engine::finish;
use crate::near::with_host_copies;
use modmill_core::{Answers, Backend, Batch, Call, Error, Family, ItemError, ItemErrorKind, Location, Plan};

impl Backends {
    /// Plans a call once, runs that plan, and puts the answers in their place. Where a device fails, the CPU
    /// plans and runs the call. Small calls of several threads go to a device together.
    pub(crate) fn compute(&self, call: Call<'_>, mut answers: Answers<'_>) -> Result<(), Error> {
        let mut request = call.request()?;
        if let Answers::Plan(slot) = answers {
            *slot = Some(self.explain(&request)?);
            return Ok(());
        }
        if answers.is_device() {
            request = request.resident_answers();
            let plan = self.plan(&request)?;
            let is_here = plan.backend() == Backend::Cuda && !is_regrouped(&call, &plan);
            if is_here && self.run_on_gpus(&plan, call, answers.reborrow())? {
                return Ok(());
            }
            let mut found = Batch::zeros(0, 0);
            self.compute(call, Answers::New(&mut found))?;
            return self.put(Ok(found), answers);
        }
        let under_way = self.small_job(&call);
        let mut plan = self.plan_under_load(&request, under_way.as_ref())?;
        if is_regrouped(&call, &plan) {
            return with_host_copies(call, |call| self.compute(call, answers));
        }
        if let (Some(cuda), Backend::Cuda) = (&self.cuda, plan.backend()) {
            let _running = match self.turn_of_job(cuda, &plan, &call, under_way.as_ref()) {
                Turn::Joined(answer) => {
                    let mut found = Batch::try_zeros(call.answer_bits(), request.count)?;
                    answer.write(found.stride(), found.as_limbs_mut());
                    return self.put(Ok(found), answers);
                }
                Turn::Alone(running) => running,
            };
            if self.run_on_gpus(&plan, call, answers.reborrow())? {
                return Ok(());
            }
            plan = self.plan_on_cpu(&request)?;
        }
        self.run_on_cpu(&plan, call, answers)
    }

    /// Runs a plan of the GPUs. Returns whether the answers are in their place; otherwise GPUs failed, and
    /// the CPU may finish.
    pub(crate) fn run_on_gpus(
        &self,
        plan: &Plan,
        call: Call<'_>,
        mut answers: Answers<'_>,
    ) -> Result<bool, Error> {
        let Some(cuda) = &self.cuda else { return Ok(false) };
        match cuda.run(plan, call, answers.reborrow()) {
            // The answers would not fit if the host computed them either.
            Err(error @ crate::gpu::Error::OutOfMemory { .. }) if answers.is_device() => Err(error.into()),
            run => Ok(self.outcome(&plan.request, run.map(|seconds| ((), seconds)))?.is_some()),
        }
    }

    /// Runs a plan of the CPU, and puts the answers in their place.
    pub(crate) fn run_on_cpu(&self, plan: &Plan, call: Call<'_>, answers: Answers<'_>) -> Result<(), Error> {
        let found = with_host_copies(call, |call| self.cpu.run(plan, call))?;
        self.put(Ok(found), answers)
    }

    /// Puts answers that the host computed in their place. A failed item is an error with all other answers;
    /// a batch of the caller's has them too.
    pub(crate) fn put(&self, found: Result<Batch, Error>, answers: Answers<'_>) -> Result<(), Error> {
        match answers {
            Answers::New(batch) => *batch = found?,
            Answers::Device(slot, index) => *slot = Some(self.upload_answers(found?, index)?),
            Answers::Blocks(_) => {
                found?;
                return Err(Error::Unavailable("these answers are no blocks".to_owned()));
            }
            Answers::Plan(_) => {
                found?;
                return Err(Error::Unavailable("there is nothing to compute, and so no plan".to_owned()));
            }
            answers @ Answers::Into(_) => {
                let rows = match &found {
                    Ok(rows) => rows,
                    Err(Error::Items(partial)) => &partial.answers,
                    Err(_) => return found.map(|_| ()),
                };
                answers.check(rows.bits(), rows.len())?;
                if let Answers::Into(batch) = answers {
                    batch.as_limbs_mut().copy_from_slice(rows.as_limbs());
                }
                return found.map(|_| ());
            }
        }
        Ok(())
    }
}

/// The error of items that a backend found to have no answer, with all other answers, which are in their
/// place.
pub(crate) fn refuse(answers: Answers<'_>, mut items: Vec<usize>, kind: ItemErrorKind) -> Result<(), Error> {
    if items.is_empty() {
        return Ok(());
    }
    let found = match answers {
        Answers::New(batch) => std::mem::replace(batch, Batch::zeros(0, 0)),
        Answers::Into(batch) => batch.try_clone()?,
        Answers::Device(slot, _) => match slot.take() {
            Some(resident) => resident.download()?,
            None => return Err(Error::Device("the answers are on no device".to_owned())),
        },
        Answers::Blocks(_) | Answers::Plan(_) => return Ok(()),
    };
    items.sort_unstable();
    finish(found, items.into_iter().map(|index| ItemError { index, kind }).collect()).map(drop)
}

/// Whether a plan computes the items in another order than theirs, by transforms modulo numbers of several
/// lengths, and some numbers are on a device, where they are read in their order.
fn is_regrouped(call: &Call<'_>, plan: &Plan) -> bool {
    let Call::Modular(_, job) = call else { return false };
    let is_resident = call.is_resident() || plan.request.answers == Location::Device;
    let is_one_length = job.bits == job.shortest_bits && job.bits == job.moduli.bits();
    is_resident && plan.family() == Family::Fft && !is_one_length
}
