//! Long numbers by transforms: plans, and the batches that they are for.

use crate::backend::{Cuda, Run};
use crate::checks::check_items;
use crate::device::Contents;
use crate::error::{Error, Result};
use crate::fft::{Exponents, Length, LongJob, LongModuli, LongTask, places_by_bits, secret_window};
use crate::rates::integer_slowdown;
use crate::staging::Answers;
use crate::table::direct_window;
use crate::task::{Task, best_shared_window_vartime};
use modmill_core::{
    Exponents as Requested, Family, Items, Job, Location, Op, Product, Request, TRANSFORM_MAX_BITS,
};
use std::fmt;

/// Bits of factors below which the CPU multiplies, unless transforms are asked for.
const LEAST_BITS: usize = 4096;

/// Bits of moduli below which there are no transforms: a product would be lost in the shortest one.
const LEAST_MODULUS_BITS: usize = 1024;

/// Bits of moduli below which powers always take less time by other families.
const LEAST_POWER_BITS: usize = 16_384;

/// Seconds of an H200 for each point of a product's transforms, in large batches.
const POINT_SECONDS: f64 = 40e-12;

/// Seconds that the kernels of a product modulo N take at least, one after the other.
const LEAST_PRODUCT_SECONDS: f64 = 90e-6;

/// Bytes of factors and products that go between the caller and a device in a second, through one thread.
const COPY_RATE: f64 = 10e9;

/// Seconds to hand a batch to a device and to get it back.
const OVERHEAD_SECONDS: f64 = 200e-6;

/// A request computed by transforms: the task with its window, the transform, and the estimated time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LongChoice {
    pub(crate) task: Task,
    pub(crate) length: Length,
    /// Items of a chunk.
    pub(crate) chunk: usize,
    pub(crate) seconds: f64,
}

impl fmt::Display for LongChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (points, bits) = (self.length.shape.points(), self.length.digit_bits);
        write!(f, "transforms of {points} points of {bits} bits")
    }
}

impl Cuda {
    /// How a request is computed by transforms; `None` if there are none for it, or other families are always
    /// faster.
    pub(crate) fn long_choice(&self, request: &Request) -> Option<LongChoice> {
        let &Request { op, bits, factor_bits, shortest_bits, .. } = request;
        let is_asked_for = match self.settings.family {
            Some(Family::Fft) => true,
            Some(_) => return None,
            None => false,
        };
        let is_served = match op {
            Op::Mul | Op::Square => bits >= LEAST_BITS || is_asked_for,
            Op::MulMod | Op::SquareMod | Op::Pow | Op::PowVartime => {
                let is_long = match op.is_power() {
                    true => bits >= LEAST_POWER_BITS,
                    false => request.is_long(),
                };
                // Barrett's reduction takes numbers of twice the length.
                let fits = factor_bits <= shortest_bits.saturating_mul(2) && self.reciprocals.is_some();
                fits && (is_long || is_asked_for && bits >= LEAST_MODULUS_BITS)
            }
            _ => false,
        };
        if !is_served || bits == 0 || bits > TRANSFORM_MAX_BITS {
            return None;
        }
        let length = length(request);
        let task = self.long_task(request)?;
        let seconds = self.long_seconds(request, &length, task);
        Some(LongChoice { task, length, chunk: length.chunk_items(), seconds })
    }

    /// The task of a request, with the window and the reads of its tables; `None` if kernels take no such
    /// exponents.
    fn long_task(&self, request: &Request) -> Option<Task> {
        let bits = request.exponent_bits();
        let window = match (request.op, &request.exponents) {
            (Op::Pow, _) => secret_window(bits),
            (_, Requested::Public(exponent)) => best_shared_window_vartime(exponent),
            _ => direct_window(bits),
        };
        self.task(request, window)
    }

    fn long_seconds(&self, request: &Request, length: &Length, task: Task) -> f64 {
        let per_device = self.items_per_device(request.count) as f64;
        // The time of a product's three transforms is 1: a square has two, and reductions have three more.
        // The numbers that are copied count besides.
        let (transforms, copied) = match request.op {
            Op::Square => (0.7, 3.0),
            // Short numbers that are squared again and again stay in the cache.
            Op::Pow | Op::PowVartime if !length.has_long_rows() => (1.8, 2.0),
            Op::SquareMod | Op::Pow | Op::PowVartime => (2.6, 2.0),
            Op::MulMod => (2.9, 3.0),
            _ => (1.0, 4.0),
        };
        let slowdown = integer_slowdown(&self.limits());
        let compute = transforms * length.shape.points() as f64 * POINT_SECONDS * slowdown;
        if let Task::Power { window, .. } = task {
            let window = f64::from(window);
            let products = request.exponent_bits() as f64 * (1.0 + 1.1 / window) + window.exp2();
            let product = (per_device * compute).max(LEAST_PRODUCT_SECONDS * slowdown);
            return OVERHEAD_SECONDS + products * product;
        }
        let measured = self.table().transforms.seconds(request.op, request.bits, per_device as usize);
        let copied = match (request.operands, request.answers) {
            (Location::Device, Location::Device) => 0.0,
            _ => copied,
        };
        let copy = per_device * copied * request.bits as f64 / 8.0 / COPY_RATE;
        // Chunks are copied while others are computed.
        OVERHEAD_SECONDS + measured.unwrap_or(per_device * compute).max(copy)
    }

    /// Full products or squares by transforms.
    pub(crate) fn multiply_long(
        &self,
        product: &Product<'_>,
        choice: &LongChoice,
        answers: Answers<'_>,
    ) -> Result<f64> {
        let task = product.b.map_or(LongTask::Square, LongTask::Multiply);
        self.run_long(&LongJob::new(product.a, task), (0..product.count).into(), choice, answers)
    }

    /// A job by transforms: moduli of one length after the other.
    pub(crate) fn run_job_long(
        &self,
        job: &Job<'_>,
        choice: &LongChoice,
        answers: Answers<'_>,
    ) -> Result<f64> {
        check_items(job.items, &[job.a.len(), job.b.len(), job.moduli.len()])?;
        if job.items.is_empty() {
            return Ok(0.0);
        }
        let groups = places_by_bits(job);
        let is_whole = groups.len() == 1 && job.moduli.bits() == job.bits;
        let answers = match answers {
            Answers::Host(rows) if !is_whole => rows,
            answers => return self.run_group_long(job, choice, answers),
        };
        answers.fill(0);
        let stride = answers.len() / job.items.len();
        let mut kernel_seconds = 0.0;
        for (bits, places) in groups {
            let items: Vec<usize> = places.iter().map(|&place| job.items.get(place)).collect();
            let run = Run::new(bits, items.len(), |rows| {
                self.run_group_long(&job.part(&items), choice, Answers::Host(rows))
            })?;
            kernel_seconds += run.kernel_seconds;
            for (place, answer) in places.into_iter().zip(run.answers.iter()) {
                answers[place * stride..][..answer.len()].copy_from_slice(answer);
            }
        }
        Ok(kernel_seconds)
    }

    /// Items whose moduli have the same number of bits, which is the width of the answers.
    fn run_group_long(&self, job: &Job<'_>, choice: &LongChoice, answers: Answers<'_>) -> Result<f64> {
        let none = || Error::NoKernel { name: "for moduli without a way to find reciprocals".to_owned() };
        let reciprocals = self.reciprocals.as_deref().ok_or_else(none)?;
        let moduli = self.install(|| LongModuli::of(job, reciprocals))?;
        let task = match choice.task {
            Task::Power { reads, exponent_bits, window } => {
                LongTask::Power(Exponents { operand: job.b, bits: exponent_bits as usize, window, reads })
            }
            Task::Square => LongTask::Square,
            Task::Multiply => LongTask::Multiply(job.b),
            Task::MultiplyChain { .. } | Task::SquareChain { .. } | Task::MontgomeryProduct => {
                return Err(Error::NoKernel { name: "for chains of products by fft".to_owned() });
            }
        };
        self.run_long(&LongJob::new(job.a, task).modulo(&moduli), job.items, choice, answers)
    }

    fn run_long(
        &self,
        job: &LongJob<'_>,
        items: Items<'_>,
        choice: &LongChoice,
        answers: Answers<'_>,
    ) -> Result<f64> {
        job.check(items)?;
        if items.is_empty() || job.bits() == 0 {
            return Ok(0.0);
        }
        let (_, window) = choice.task.exponent();
        let home = self.home(&job.operands(), None, answers.destination())?;
        self.share_items(items, home, answers, |loaded, items, answers| {
            let lane = self.lane(loaded, Contents::Secret);
            let (transforms, shape) = (loaded.transforms(&choice.length)?, (choice.length, choice.chunk));
            self.record(Family::Fft, choice.to_string(), choice.task.is_power().then_some(window));
            job.run(lane, &transforms, items, answers, shape)
        })
    }
}

/// The transform that holds the products of a request. Reductions add digits in pairs, so that theirs have
/// room for sums of two digits, and take whole limbs.
fn length(request: &Request) -> Length {
    let bits = 64 * request.bits.div_ceil(64);
    match request.op.is_modular() {
        true => Length::new(bits, bits, 2),
        false => Length::new(request.bits, request.shortest_bits, 1),
    }
}
