//! Work on the backends: planned once, run as planned, and finished by the CPU where a device could not.

use crate::backends::Backends;
use crate::callers::small::Turn;
use crate::work::Work;
use modmill_core::{Backend, Batch, Error, Resident};

impl Backends {
    /// Plans some work once and runs that plan. Where a device fails, the CPU plans and runs the work. Small
    /// work of several threads goes to a device together.
    pub(crate) fn compute(&self, work: Work<'_>) -> Result<Batch, Error> {
        let request = work.request();
        let call = self.small_job(&work);
        let plan = self.plan_under_load(&request, call.as_ref())?;
        let (Some(cuda), Backend::Cuda) = (&self.cuda, plan.backend()) else {
            return work.with_host_copies(|work| work.run_on_cpu(&self.cpu, &plan));
        };
        if work.is_regrouped(&plan) {
            return work.with_host_copies(|work| self.compute(work));
        }
        let _running = match self.turn_of_job(cuda, &plan, &work, call.as_ref()) {
            Turn::Joined(answer) => {
                let mut answers = Batch::try_zeros(work.answer_bits(), request.count)?;
                answer.write(answers.stride(), answers.as_limbs_mut());
                return Ok(answers);
            }
            Turn::Alone(running) => running,
        };
        let run = work.run_on_gpus(cuda, &plan).map(|run| (run.answers, run.kernel_seconds));
        match self.outcome(&request, run)? {
            Some(answers) => Ok(answers),
            None => {
                let plan = self.plan_on_cpu(&request)?;
                work.with_host_copies(|work| work.run_on_cpu(&self.cpu, &plan))
            }
        }
    }

    /// Computes a piece of work and leaves the answers on a device; `None` if the host has to compute them.
    pub(crate) fn compute_resident(&self, work: Work<'_>) -> Result<Option<Resident>, Error> {
        let request = work.request().resident_answers();
        let plan = self.plan(&request)?;
        match (&self.cuda, plan.backend()) {
            (Some(cuda), Backend::Cuda) if !work.is_regrouped(&plan) => {
                match work.run_resident(cuda, &plan) {
                    // The answers would not fit if the host computed them either.
                    Err(error @ crate::gpu::Error::OutOfMemory { .. }) => Err(error.into()),
                    run => self.outcome(&request, run),
                }
            }
            _ => Ok(None),
        }
    }

    /// Computes a piece of work into rows of the caller's, which are as wide as the answers.
    pub(crate) fn compute_into(&self, work: Work<'_>, answers: &mut [u64]) -> Result<(), Error> {
        let request = work.request();
        let call = self.small_job(&work);
        let mut plan = self.plan_under_load(&request, call.as_ref())?;
        if work.is_regrouped(&plan) {
            return work.with_host_copies(|work| self.compute_into(work, answers));
        }
        if let (Some(cuda), Backend::Cuda) = (&self.cuda, plan.backend()) {
            let _running = match self.turn_of_job(cuda, &plan, &work, call.as_ref()) {
                Turn::Joined(answer) => {
                    answer.write(work.answer_bits().div_ceil(64), answers);
                    return Ok(());
                }
                Turn::Alone(running) => running,
            };
            let run = work.run_on_gpus_into(cuda, &plan, answers).map(|seconds| ((), seconds));
            if self.outcome(&request, run)?.is_some() {
                return Ok(());
            }
            plan = self.plan_on_cpu(&request)?;
        }
        let computed = work.with_host_copies(|work| work.run_on_cpu(&self.cpu, &plan))?;
        answers.copy_from_slice(computed.as_limbs());
        Ok(())
    }
}
