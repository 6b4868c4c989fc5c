//! The pieces of work that a backend computes in one go, on operands wherever they are.

use crate::gpu::{Cuda, Run};
use crate::on_host::OnHost;
use modmill_core::{Batch, Error, Family, Job, Location, Op, Plan, Product, Request, Resident};
use modmill_cpu::Cpu;

/// A piece of work that a backend computes in one go.
#[derive(Clone, Copy)]
pub(crate) enum Work<'a> {
    /// A modular operation on a group of items.
    Job(Op, &'a Job<'a>),
    /// Full products or squares.
    Product(&'a Product<'a>),
}

impl Work<'_> {
    pub(crate) fn request(&self) -> Request {
        match self {
            Self::Job(op, job) => Request::of(*op, job),
            Self::Product(product) => Request::of_product(product),
        }
    }

    /// Whether a plan computes the items in another order than theirs, by transforms modulo numbers of
    /// several lengths, and some numbers are on a device, where they are read in their order.
    pub(crate) fn is_regrouped(&self, plan: &Plan) -> bool {
        match self {
            Self::Job(_, job) => {
                let is_resident = job.a.resident().or(job.b.resident()).is_some()
                    || plan.request.answers == Location::Device;
                let is_one_length = job.bits == job.shortest_bits && job.bits == job.moduli.bits();
                is_resident && plan.family() == Family::Fft && !is_one_length
            }
            Self::Product(_) => false,
        }
    }

    /// Does something with the same work on operands of the host.
    pub(crate) fn with_host_copies<T>(
        &self,
        run: impl FnOnce(Work<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self {
            Self::Job(op, job) => {
                let (a, b) = (OnHost::of(job.a)?, OnHost::of(job.b)?);
                let (a, b, moduli) = (a.operand(), b.operand(), job.moduli.on_host());
                run(Work::Job(*op, &Job { a, b, moduli, ..**job }))
            }
            Self::Product(product) => {
                let (a, b) = (OnHost::of(product.a)?, product.b.map(OnHost::of).transpose()?);
                let b = b.as_ref().map(OnHost::operand);
                run(Work::Product(&Product { a: a.operand(), b, count: product.count }))
            }
        }
    }

    pub(crate) fn run_resident(&self, cuda: &Cuda, plan: &Plan) -> crate::gpu::Result<(Resident, f64)> {
        match self {
            Self::Job(_, job) => cuda.run_resident(plan, job),
            Self::Product(product) => cuda.multiply_resident(plan, product),
        }
    }

    /// Declared width of the answers, in bits.
    pub(crate) fn answer_bits(&self) -> usize {
        match self {
            Self::Job(_, job) => job.moduli.bits(),
            Self::Product(product) => product.bits(),
        }
    }

    pub(crate) fn run_on_cpu(&self, cpu: &Cpu, plan: &Plan) -> Result<Batch, Error> {
        match self {
            Self::Job(_, job) => cpu.run(plan, job),
            Self::Product(product) => cpu.multiply(plan, product),
        }
    }

    pub(crate) fn run_on_gpus(&self, cuda: &Cuda, plan: &Plan) -> crate::gpu::Result<Run> {
        match self {
            Self::Job(_, job) => cuda.run(plan, job),
            Self::Product(product) => cuda.multiply(plan, product),
        }
    }

    /// Computes into rows of the caller's; returns the kernels' seconds.
    pub(crate) fn run_on_gpus_into(
        &self,
        cuda: &Cuda,
        plan: &Plan,
        answers: &mut [u64],
    ) -> crate::gpu::Result<f64> {
        match self {
            Self::Job(_, job) => cuda.run_into(plan, job, answers),
            Self::Product(product) => cuda.multiply_into(plan, product, answers),
        }
    }
}
