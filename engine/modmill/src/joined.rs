//! Small calls that reach GPUs: planned for all that is under way, and joined where several threads make
//! them.

use crate::backends::Backends;
use crate::callers::Running;
use crate::callers::blocks::{CrtAnswer, CrtPart, CrtShape};
use crate::callers::jobs::{JobAnswer, JobPart, JobShape};
use crate::callers::load::UnderWay;
use crate::callers::small::Turn;
use crate::gpu::Cuda;
use modmill_core::{Answers, Backend, Batch, Blocks, Call, CrtPowers, Error, Plan, Request};
use std::sync::Arc;

/// Whether this thread may wait for others. A thread of a pool takes up other calls while it waits for the
/// pool, and one of those would wait for what the thread itself has begun.
fn may_wait() -> bool {
    rayon::current_thread_index().is_none()
}

impl Backends {
    /// Counts a call as under way if it is a small job that GPUs may compute.
    pub(crate) fn small_job(&self, call: &Call<'_>) -> Option<UnderWay<'_, JobShape>> {
        match call {
            Call::Modular(op, job) if self.cuda.is_some() && may_wait() => {
                let shape = JobShape::of(*op, job)?;
                Some(self.small.job_load.add(shape, job.items.len()))
            }
            _ => None,
        }
    }

    /// The plan of a request. GPUs are chosen, and their kernels, by the items that all callers have under
    /// way.
    pub(crate) fn plan_under_load(
        &self,
        request: &Request,
        call: Option<&UnderWay<'_, JobShape>>,
    ) -> Result<Plan, Error> {
        let count = call.map_or(0, UnderWay::of_all);
        if count <= request.count {
            return self.plan(request);
        }
        let plan = self.plan(&Request { count, ..request.clone() })?;
        match self.cuda.as_ref().and_then(|cuda| cuda.variant_of(&plan)) {
            Some(_) => Ok(plan),
            None if plan.backend() == Backend::Cpu => self.plan_on_cpu(request),
            // Transforms are planned for the very items that they compute.
            None => self.plan(request),
        }
    }

    /// Joins a call with others, or lets it start alone.
    pub(crate) fn turn_of_job(
        &self,
        cuda: &Cuda,
        plan: &Plan,
        call: &Call<'_>,
        under_way: Option<&UnderWay<'_, JobShape>>,
    ) -> Turn<Running<JobShape, JobPart, JobAnswer>, JobAnswer> {
        let (Some(under_way), Call::Modular(op, job)) = (under_way, call) else { return Turn::Alone(None) };
        // Transforms share out their numbers among all threads of a device; only kernels that hold them whole
        // gain.
        if cuda.variant_of(plan).is_none() {
            return Turn::Alone(None);
        }
        let (shape, count) = (&under_way.shape, job.items.len());
        if let Some(running) = self.small.jobs.start(shape, count) {
            return Turn::Alone(Some(running));
        }
        let compute = |parts: Vec<JobPart>| {
            let ranges = JobPart::ranges(&parts);
            let joined = JobPart::join(shape, parts)?;
            let job = joined.job(shape);
            let request = Request::of(*op, &job);
            let count = request.count.max(under_way.of_all());
            let plan = cuda.plan(&Request { count, ..request })?;
            let mut answers = Batch::zeros(0, 0);
            let seconds = cuda.run(&plan, Call::Modular(*op, &job), Answers::New(&mut answers)).ok()?;
            self.add_kernel_seconds(seconds);
            let all = Arc::new(answers);
            Some(ranges.into_iter().map(|own| JobAnswer::new(&all, own)).collect())
        };
        let part = JobPart::copy(shape, job);
        let answer = self.small.jobs.join(shape, count, shape.most(), part, compute);
        answer.map_or(Turn::Alone(None), Turn::Joined)
    }

    /// Counts private operations of RSA as under way, by the bits of their moduli.
    pub(crate) fn private_under_way(&self, bits: usize, count: usize) -> UnderWay<'_, usize> {
        self.small.private_load.add(bits, count)
    }

    /// Joins private operations of RSA with those of other callers, or lets them start alone.
    pub(crate) fn turn_of_private(
        &self,
        cuda: &Cuda,
        job: &CrtPowers<'_>,
        call: &UnderWay<'_, usize>,
        blocks: &mut (dyn Blocks + Send),
    ) -> Turn<Running<CrtShape, CrtPart, CrtAnswer>, CrtAnswer> {
        let Some(shape) = CrtShape::of(job).filter(|_| may_wait()) else { return Turn::Alone(None) };
        if let Some(running) = self.small.private.start(&shape, job.count) {
            return Turn::Alone(Some(running));
        }
        let compute = |parts: Vec<CrtPart>| {
            CrtPart::compute(&shape, &parts, |joined, blocks| {
                let count = joined.count.max(call.of_all());
                let plan = cuda.plan(&Request { count, ..Request::of_crt(joined) });
                let run = |plan| cuda.run(&plan, Call::CrtPow(joined), Answers::Blocks(blocks)).ok();
                let seconds = plan.and_then(run);
                seconds.inspect(|&seconds| self.add_kernel_seconds(seconds)).is_some()
            })
        };
        let part = CrtPart::copy(job, blocks);
        let answer = self.small.private.join(&shape, job.count, shape.most(), part, compute);
        answer.map_or(Turn::Alone(None), Turn::Joined)
    }
}
