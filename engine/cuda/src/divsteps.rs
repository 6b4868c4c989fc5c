//! Inverses and greatest common divisors by division steps.
#![allow(unsafe_code)] // launches kernels

use crate::backend::Cuda;
use crate::call::{Numbers, word};
use crate::checks::{check_items, check_lengths};
use crate::compiler::Program;
use crate::device::{Contents, Kernel, Shape, Stream, kernel_structs};
use crate::error::Result;
use crate::loaded::LoadedDevice;
use crate::modular::chunk_items;
use crate::operands::{Destination, Flags, OperandExchange, Operands};
use crate::pipeline::{self, Chunk, ChunkSizes, Footprint, Lane, Stages};
use crate::rates::integer_slowdown;
use crate::staging::{Answers, Source, words};
use crate::variant::words_for;
use modmill_core::{Divisors, Family, Inverses, Items, KERNEL_MAX_BITS, Location, Op, Request, Watch};
use std::fmt;

/// Bits of a digit, and steps of a batch.
const DIGIT_BITS: usize = 30;

/// Bits of a number beyond those of the modulus: a sign, and cofactors of up to 2^12 times the modulus.
const ROOM: usize = 13;

/// Digits that the registers of a thread have room for.
const MOST_DIGITS: usize = 36;

/// Items of a launch, at most: kernels count them in a word.
const MOST_ITEMS: usize = 1 << 30;

/// Threads of a block.
const BLOCK: u32 = 128;

/// Registers of a multiprocessor, and registers of a thread beside its digits.
const REGISTERS: u32 = 1 << 16;
const OTHER_REGISTERS: u32 = 56;

/// The most blocks of a multiprocessor that are worth the registers.
const MOST_RESIDENT: u32 = 6;

/// Instructions of a thread that an H200 does in a second.
const INSTRUCTIONS_PER_SECOND: f64 = 1.9e13;

/// Instructions of a batch of steps, and those of each digit, for inverses and for divisors. The products of
/// inverses take the time of two instructions.
const BATCH_INSTRUCTIONS: f64 = 300.0;
const INVERSE_INSTRUCTIONS: f64 = 32.0;
const DIVISOR_INSTRUCTIONS: f64 = 10.5;

/// Seconds of a batch that waits for its own instructions only.
const BATCH_SECONDS: f64 = 1.5e-6;

/// Seconds to hand a batch to a device and to get it back, and bytes that are copied in a second.
const OVERHEAD_SECONDS: f64 = 100e-6;
const COPY_RATE: f64 = 20e9;

kernel_structs! {
    /// `DivisionCall` of `divsteps.cuh`.
    struct DivisionCall: 64 bytes {
        a at 0: Numbers,
        b at 16: Numbers,
        results at 32: u64,
        flags at 40: u64,
        result_stride at 48: u32,
        result_length at 52: u32,
        batches at 56: u32,
        count at 60: u32,
    }
}

/// What the steps compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Inverses,
    Divisors,
}

/// The kernels of one size, and how often they step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepsPlan {
    task: Task,
    /// Threads of a number, and the digits of each.
    pub(crate) threads: u32,
    digits: u32,
    /// Batches of steps.
    batches: u32,
    pub(crate) chunk: usize,
    pub(crate) seconds: f64,
}

/// Batches of steps after which g is zero, for numbers of `bits` bits: the bound of docs/algorithms/inverse.md
/// with one step and one bit more.
fn batches(bits: usize) -> usize {
    (1 + (9437 * (bits + 1) + 1).div_ceil(4096)).div_ceil(DIGIT_BITS)
}

impl StepsPlan {
    /// The plan for numbers of at most `bits` bits.
    fn new(task: Task, bits: usize) -> Self {
        let digits = (32 * words_for(bits) as usize + ROOM).div_ceil(DIGIT_BITS);
        let threads = digits.div_ceil(MOST_DIGITS).next_power_of_two();
        let digits = digits.div_ceil(threads) as u32;
        let (threads, batches) = (threads as u32, batches(bits) as u32);
        Self { task, threads, digits, batches, chunk: 0, seconds: 0.0 }
    }

    fn kernel_name(&self) -> &'static str {
        match self.task {
            Task::Inverses => "inverses",
            Task::Divisors => "divisors",
        }
    }

    /// The program of the kernel.
    pub(crate) fn program(&self) -> Program {
        let Self { task, threads, digits, .. } = *self;
        let numbers = if task == Task::Inverses { 5 } else { 2 };
        let registers = (numbers * digits + OTHER_REGISTERS).next_multiple_of(8);
        let resident = (REGISTERS / (BLOCK * registers)).clamp(1, MOST_RESIDENT);
        let defines = [("THREADS", threads), ("DIGITS", digits), ("BLOCK", BLOCK), ("RESIDENT", resident)];
        let name = format!("{}: {self}", self.kernel_name());
        Program::new(name, &["device", self.kernel_name()], &defines)
    }

    fn shared_bytes(&self) -> u32 {
        4 * BLOCK * self.digits
    }

    /// Numbers of a block.
    fn block_items(&self) -> u32 {
        BLOCK / self.threads
    }

    /// Seconds in kernels for `count` numbers, on a device that is `slowdown` times slower than an H200.
    fn kernel_seconds(&self, count: usize, slowdown: f64) -> f64 {
        let each = if self.task == Task::Inverses { INVERSE_INSTRUCTIONS } else { DIVISOR_INSTRUCTIONS };
        let batch = f64::from(self.threads) * (BATCH_INSTRUCTIONS + f64::from(self.digits) * each);
        let all = count as f64 * batch / INSTRUCTIONS_PER_SECOND;
        f64::from(self.batches) * (BATCH_SECONDS + all) * slowdown
    }
}

impl fmt::Display for StepsPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, digits, .. } = self;
        let threads = if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        write!(f, "{threads} a number, {digits} digits each")
    }
}

/// The programs of inverses and divisors of at most `bits` bits.
#[must_use]
pub fn divsteps_programs(bits: usize) -> [Program; 2] {
    [Task::Inverses, Task::Divisors].map(|task| StepsPlan::new(task, bits).program())
}

impl Cuda {
    /// How the GPUs compute inverses or divisors; `None` for numbers without kernels.
    pub(crate) fn steps_plan(&self, request: &Request) -> Option<StepsPlan> {
        let task = match request.op {
            Op::Inv => Task::Inverses,
            Op::Gcd => Task::Divisors,
            _ => return None,
        };
        let bits = request.bits.max(request.factor_bits);
        if !(1..=KERNEL_MAX_BITS).contains(&bits) {
            return None;
        }
        let plan = StepsPlan::new(task, bits);
        let count = self.items_per_device(request.count);
        let copied = match (request.operands, request.answers) {
            (Location::Device, Location::Device) => 0.0,
            _ => 3.0 * bits as f64 * count as f64 / 8.0 / COPY_RATE,
        };
        let kernels = plan.kernel_seconds(count, integer_slowdown(&self.limits()));
        let seconds = OVERHEAD_SECONDS + kernels.max(copied);
        Some(StepsPlan { chunk: chunk_items(3 * bits), seconds, ..plan })
    }

    /// Inverses; the items that have none are noted.
    pub(crate) fn invert(&self, plan: &StepsPlan, call: &Inverses<'_>, answers: Answers<'_>) -> Result<f64> {
        let job = &call.job;
        check_items(job.items, &[job.a.len(), job.moduli.len()])?;
        check_lengths(&[job.a])?;
        if job.items.is_empty() {
            return Ok(0.0);
        }
        let limbs = job.moduli.bits().div_ceil(64);
        let sources = [Source::operand(job.a)?, Source::moduli(job.moduli, limbs)?];
        let home = self.home(&[job.a], Some(job.moduli), answers.destination())?;
        let steps = Steps { plan, sources, limbs, watch: job.watch };
        self.share_items(job.items, home, answers, |loaded, items, answers| {
            let (seconds, refused) = self.run_steps(loaded, &steps, items, answers)?;
            call.missing.lock().extend(refused.into_iter().map(|place| items.get(place)));
            Ok(seconds)
        })
    }

    /// Greatest common divisors.
    pub(crate) fn divide(&self, plan: &StepsPlan, call: &Divisors<'_>, answers: Answers<'_>) -> Result<f64> {
        let &Divisors { a, b, count, watch } = call;
        check_items((0..count).into(), &[a.len(), b.len()])?;
        check_lengths(&[a, b])?;
        if count == 0 {
            return Ok(0.0);
        }
        let sources = [Source::operand(a)?, Source::operand(b)?];
        let home = self.home(&[a, b], None, answers.destination())?;
        let steps = Steps { plan, sources, limbs: call.bits().div_ceil(64), watch };
        self.share_items((0..count).into(), home, answers, |loaded, items, answers| {
            Ok(self.run_steps(loaded, &steps, items, answers)?.0)
        })
    }
}

/// Division steps on some operands, of which each device gets items.
struct Steps<'a> {
    plan: &'a StepsPlan,
    sources: [Source<'a>; 2],
    /// Limbs of an answer.
    limbs: usize,
    watch: Option<&'a Watch>,
}

impl Cuda {
    /// Runs steps on one device; returns the kernels' seconds, and the places of the items without an answer.
    fn run_steps(
        &self,
        loaded: &LoadedDevice,
        steps: &Steps<'_>,
        items: Items<'_>,
        answers: Answers<'_>,
    ) -> Result<(f64, Vec<usize>)> {
        let &Steps { plan, sources, limbs, watch } = steps;
        let count = items.len();
        if count == 0 || limbs == 0 {
            return Ok((0.0, Vec::new()));
        }
        self.record(Family::Row, plan.to_string(), None);
        let kernel = loaded.device.compile(&plan.program())?.kernel(plan.kernel_name())?;
        let wave = (kernel.blocks(BLOCK, plan.shared_bytes())? * plan.block_items()) as usize;
        // Whole waves keep all of the device busy.
        let size = (wave * ((plan.chunk + wave / 2) / wave).max(1)).min(count);
        let operands = Operands { sources, items };
        let destination = Destination { rows: answers.destination(), limbs };
        let is_all_there = operands.limbs(2) == operands.limbs(1) && destination.rows.is_some();
        let sizes = match is_all_there {
            true => ChunkSizes { size: count.min(MOST_ITEMS), edge: count.min(MOST_ITEMS), multiple: 1 },
            false => ChunkSizes { size, edge: size.div_ceil(4), multiple: 1 },
        };
        let flags = if plan.task == Task::Inverses { Flags::Each } else { Flags::None };
        let stages = StepsStages { plan, kernel, operands, destination };
        let mut exchange = OperandExchange::new(operands, answers.on_host(count, limbs), flags);
        let contents = if plan.task == Task::Inverses { Contents::Secret } else { Contents::Public };
        let lane = Lane { watch, ..self.lane(loaded, contents) };
        let seconds = pipeline::run(lane, count, sizes, |_| Ok(&stages), &mut exchange)?;
        Ok((seconds, exchange.refused))
    }
}

/// The device's side of division steps.
struct StepsStages<'a> {
    plan: &'a StepsPlan,
    kernel: Kernel,
    operands: Operands<'a, 2>,
    destination: Destination<'a>,
}

impl Stages for &StepsStages<'_> {
    fn footprint(&self, rows: usize) -> Footprint {
        let flag_words = if self.plan.task == Task::Inverses { rows } else { 0 };
        Footprint { flag_words, ..self.destination.footprint(&self.operands, rows) }
    }

    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        let [a, b] = self.operands.numbers(chunk);
        let (results, count) = (self.destination.place(chunk), word(chunk.rows)?);
        let call = DivisionCall {
            a,
            b,
            results: results.address(),
            flags: chunk.flags.address(),
            result_stride: words(self.destination.rows.map_or(self.destination.limbs, |rows| rows.stride)),
            result_length: words(self.destination.limbs),
            batches: self.plan.batches,
            count,
        };
        let grid = count.div_ceil(self.plan.block_items());
        let shape = Shape { grid, block: BLOCK, shared_bytes: self.plan.shared_bytes() };
        let mut used = self.operands.buffers(chunk);
        used.extend([results.buffer, chunk.flags]);
        // SAFETY: the kernel takes this structure; it reads `count` numbers of each operand, keeps its digits
        // in shared memory, and writes `count` rows, and a flag for each if they are inverses.
        unsafe { compute.launch(&self.kernel, shape, &call, &used) }
    }
}
