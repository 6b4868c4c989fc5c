//! Inverses and greatest common divisors by division steps, quotients and remainders: kernels that keep the
//! digits of numbers in registers.
#![allow(unsafe_code)] // launches kernels

use crate::backend::Cuda;
use crate::call::{Numbers, word};
use crate::checks::{check_items, check_lengths, check_operands};
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
use modmill_core::{
    Divisors, Family, Inverses, Items, Job, KERNEL_MAX_BITS, Location, Op, Quotients, Request, Watch,
};
use std::fmt;

/// Bits of a digit, and steps of a batch.
const DIGIT_BITS: usize = 30;

/// Bits of a number beyond those of the modulus: a sign, and cofactors of up to 2^12 times the modulus.
const ROOM: usize = 13;

/// Digits of a thread: as many as its registers have room for, and half of that for divisions, which wait for
/// the memory of the device (measured on an H200).
const MOST_DIGITS: usize = 36;

/// Threads of a number, at most: those of a warp.
const MOST_THREADS: usize = 32;

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
const STEPS_INSTRUCTIONS: f64 = 300.0;
const INVERSE_INSTRUCTIONS: f64 = 32.0;
const DIVISOR_INSTRUCTIONS: f64 = 10.5;

/// Instructions for a digit of a quotient, and those for each digit of the divisor, in whose time numbers are
/// read and written besides.
const ESTIMATE_INSTRUCTIONS: f64 = 100.0;
const QUOTIENT_INSTRUCTIONS: f64 = 10.0;

/// Seconds of a round that waits for its own instructions only.
const ROUND_SECONDS: f64 = 1.5e-6;

/// Seconds to hand a batch to a device and to get it back, and bytes that are copied in a second.
const OVERHEAD_SECONDS: f64 = 100e-6;
const COPY_RATE: f64 = 20e9;

kernel_structs! {
    /// `DivisionCall` of `digits.cuh`.
    struct DivisionCall: 88 bytes {
        a at 0: Numbers,
        b at 16: Numbers,
        results at 32: u64,
        flags at 40: u64,
        result_stride at 48: u32,
        result_length at 52: u32,
        rounds at 56: u32,
        count at 60: u32,
        factor at 64: Numbers,
        remainder_length at 80: u64,
    }
}

/// The kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Inverses,
    Divisors,
    Quotients,
    Remainders,
}

/// The kernel of one size, and its rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DigitsPlan {
    task: Task,
    /// Threads of a number, and the digits of each.
    pub(crate) threads: u32,
    digits: u32,
    /// Batches of steps, or digits of a quotient.
    rounds: u32,
    pub(crate) chunk: usize,
    /// Estimated seconds, and those without the copies of the numbers from and to the host.
    pub(crate) seconds: f64,
    pub(crate) kernel_seconds: f64,
}

/// Batches of steps after which g is zero, for numbers of `bits` bits: the bound of
/// docs/algorithms/inverse.md with one step and one bit more.
fn batches(bits: usize) -> usize {
    (1 + (9437 * (bits + 1) + 1).div_ceil(4096)).div_ceil(DIGIT_BITS)
}

impl Task {
    /// Its kernel, and the file that has it.
    fn kernel(self) -> &'static str {
        match self {
            Self::Inverses => "inverses",
            Self::Divisors => "divisors",
            Self::Quotients => "quotients",
            Self::Remainders => "remainders",
        }
    }

    /// Numbers whose digits a thread keeps.
    fn numbers(self) -> u32 {
        if self == Self::Inverses { 5 } else { 2 }
    }

    fn is_division(self) -> bool {
        matches!(self, Self::Quotients | Self::Remainders)
    }

    /// Whether items may have no answer.
    fn refuses(self) -> bool {
        matches!(self, Self::Inverses | Self::Quotients)
    }

    /// Instructions of a round, beside those of each digit.
    fn instructions(self) -> (f64, f64) {
        match self {
            Self::Inverses => (STEPS_INSTRUCTIONS, INVERSE_INSTRUCTIONS),
            Self::Divisors => (STEPS_INSTRUCTIONS, DIVISOR_INSTRUCTIONS),
            Self::Quotients | Self::Remainders => (ESTIMATE_INSTRUCTIONS, QUOTIENT_INSTRUCTIONS),
        }
    }
}

impl DigitsPlan {
    /// The plan for moduli, divisors or pairs of at most `bits` bits.
    fn new(task: Task, bits: usize) -> Self {
        let digits = (32 * words_for(bits) as usize + ROOM).div_ceil(DIGIT_BITS);
        let most = if task.is_division() { MOST_DIGITS / 2 } else { MOST_DIGITS };
        let threads = digits.div_ceil(most).next_power_of_two().min(MOST_THREADS);
        let (digits, threads, rounds) =
            (digits.div_ceil(threads) as u32, threads as u32, batches(bits) as u32);
        Self { task, threads, digits, rounds, chunk: 0, seconds: 0.0, kernel_seconds: 0.0 }
    }

    /// The plan for quotients or remainders of numbers of `bits` bits by divisors of at least `shortest` bits
    /// and at most `longest`: a divisor is shifted to all digits but a bit, and the number as far. Of its
    /// digits all but as many as the divisor has are of the quotient.
    fn division(task: Task, bits: usize, (longest, shortest): (usize, usize)) -> Self {
        let plan = Self::new(task, longest);
        let digits = (plan.threads * plan.digits) as usize;
        let shifted = bits + (DIGIT_BITS * digits - 1).saturating_sub(shortest);
        let rounds = (shifted.div_ceil(DIGIT_BITS) + 1).saturating_sub(digits) as u32;
        Self { rounds, ..plan }
    }

    /// The program of the kernel.
    pub(crate) fn program(&self) -> Program {
        let Self { task, threads, digits, .. } = *self;
        let registers = (task.numbers() * digits + OTHER_REGISTERS).next_multiple_of(8);
        let resident = (REGISTERS / (BLOCK * registers)).clamp(1, MOST_RESIDENT);
        let defines = [("THREADS", threads), ("DIGITS", digits), ("BLOCK", BLOCK), ("RESIDENT", resident)];
        Program::new(format!("{}: {self}", task.kernel()), &["device", task.kernel()], &defines)
    }

    /// Bytes of a block for the digits of its numbers, or of its quotients and their remainders.
    fn shared_bytes(&self) -> u32 {
        let numbers = 4 * BLOCK * self.digits;
        match self.task {
            Task::Inverses | Task::Divisors | Task::Remainders => numbers,
            Task::Quotients => 4 * self.block_items() * self.rounds + numbers,
        }
    }

    /// Numbers of a block.
    fn block_items(&self) -> u32 {
        BLOCK / self.threads
    }

    /// Seconds in kernels for `count` numbers, on a device that is `slowdown` times slower than an H200.
    fn seconds_of(&self, count: usize, slowdown: f64) -> f64 {
        let (once, each) = self.task.instructions();
        let round = f64::from(self.threads) * (once + f64::from(self.digits) * each);
        let all = count as f64 * round / INSTRUCTIONS_PER_SECOND;
        f64::from(self.rounds) * (ROUND_SECONDS + all * slowdown)
    }
}

impl fmt::Display for DigitsPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, digits, .. } = self;
        let threads = if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        write!(f, "{threads} a number, {digits} digits each")
    }
}

/// The programs of inverses, divisors, quotients and remainders for numbers of at most `bits` bits.
#[must_use]
pub fn digits_programs(bits: usize) -> [Program; 4] {
    [Task::Inverses, Task::Divisors, Task::Quotients, Task::Remainders]
        .map(|task| DigitsPlan::new(task, bits).program())
}

impl Cuda {
    /// How the GPUs compute inverses, divisors or quotients; `None` for numbers without kernels.
    pub(crate) fn digits_plan(&self, request: &Request) -> Option<DigitsPlan> {
        let longer = request.bits.max(request.factor_bits);
        let (plan, bits) = match request.op {
            Op::Inv => (DigitsPlan::new(Task::Inverses, longer), longer),
            Op::Gcd => (DigitsPlan::new(Task::Divisors, longer), longer),
            Op::Div => {
                let lengths = (request.second_bits, request.shortest_bits);
                (DigitsPlan::division(Task::Quotients, request.bits, lengths), request.second_bits)
            }
            // A product with a bit.
            Op::MulMod if request.second_bits == 1 && self.may_divide() => {
                let lengths = (request.bits, request.shortest_bits);
                (DigitsPlan::division(Task::Remainders, request.factor_bits, lengths), request.bits)
            }
            _ => return None,
        };
        let limits = self.limits();
        let fits = plan.shared_bytes() <= limits.shared_per_block;
        if longer == 0 || !(1..=KERNEL_MAX_BITS).contains(&bits) || !fits {
            return None;
        }
        let count = self.items_per_device(request.count);
        let copied = match (request.operands, request.answers) {
            (Location::Device, Location::Device) => 0.0,
            _ => 3.0 * longer as f64 * count as f64 / 8.0 / COPY_RATE,
        };
        let kernels = plan.seconds_of(count, integer_slowdown(&limits));
        Some(DigitsPlan {
            chunk: chunk_items(3 * longer),
            seconds: OVERHEAD_SECONDS + kernels.max(copied),
            kernel_seconds: OVERHEAD_SECONDS + kernels,
            ..plan
        })
    }

    /// Whether remainders may be found by division, and not by the kernels of a family or a variant.
    fn may_divide(&self) -> bool {
        self.settings.variant.is_none() && self.settings.family.is_none_or(|family| family == Family::Row)
    }

    /// Inverses; the items that have none are noted.
    pub(crate) fn invert(&self, plan: &DigitsPlan, call: &Inverses<'_>, answers: Answers<'_>) -> Result<f64> {
        let job = &call.job;
        check_items(job.items, &[job.a.len(), job.moduli.len()])?;
        check_lengths(&[job.a])?;
        if job.items.is_empty() {
            return Ok(0.0);
        }
        let limbs = job.moduli.bits().div_ceil(64);
        let sources = [Source::operand(job.a)?, Source::moduli(job.moduli, limbs)?, Source::NONE];
        let home = self.home(&[job.a], Some(job.moduli), answers.destination())?;
        let work = Work { plan, sources, limbs, remainder_limbs: 0, watch: job.watch };
        self.share_items(job.items, home, answers, |loaded, items, answers| {
            let (seconds, refused) = self.run_digits(loaded, &work, items, answers)?;
            call.missing.lock().extend(refused.into_iter().map(|place| items.get(place)));
            Ok(seconds)
        })
    }

    /// Quotients; the items whose divisor is zero are noted.
    pub(crate) fn quotients(
        &self,
        plan: &DigitsPlan,
        call: &Quotients<'_>,
        answers: Answers<'_>,
    ) -> Result<f64> {
        let &Quotients { a, divisors, count, watch, with_remainders, .. } = call;
        check_items((0..count).into(), &[a.len(), divisors.len()])?;
        check_lengths(&[a])?;
        if count == 0 {
            return Ok(0.0);
        }
        let divisor_limbs = divisors.bits().div_ceil(64);
        let sources = [Source::operand(a)?, Source::moduli(divisors, divisor_limbs)?, Source::NONE];
        let remainder_limbs = if with_remainders { divisor_limbs } else { 0 };
        let home = self.home(&[a], Some(divisors), answers.destination())?;
        let work = Work { plan, sources, limbs: a.bits().div_ceil(64), remainder_limbs, watch };
        self.share_items((0..count).into(), home, answers, |loaded, items, answers| {
            let (seconds, refused) = self.run_digits(loaded, &work, items, answers)?;
            call.zero.lock().extend(refused.into_iter().map(|place| items.get(place)));
            Ok(seconds)
        })
    }

    /// Remainders of the first factors of a job, whose second factors are bits.
    pub(crate) fn remainders(&self, plan: &DigitsPlan, job: &Job<'_>, answers: Answers<'_>) -> Result<f64> {
        check_operands(job)?;
        if job.items.is_empty() {
            return Ok(0.0);
        }
        let limbs = job.bits.div_ceil(64);
        let sources = [Source::operand(job.a)?, Source::moduli(job.moduli, limbs)?, Source::operand(job.b)?];
        let home = self.home(&[job.a, job.b], Some(job.moduli), answers.destination())?;
        let work = Work { plan, sources, limbs, remainder_limbs: 0, watch: job.watch };
        self.share_items(job.items, home, answers, |loaded, items, answers| {
            Ok(self.run_digits(loaded, &work, items, answers)?.0)
        })
    }

    /// Greatest common divisors.
    pub(crate) fn divide(&self, plan: &DigitsPlan, call: &Divisors<'_>, answers: Answers<'_>) -> Result<f64> {
        let &Divisors { a, b, count, watch } = call;
        check_items((0..count).into(), &[a.len(), b.len()])?;
        check_lengths(&[a, b])?;
        if count == 0 {
            return Ok(0.0);
        }
        let sources = [Source::operand(a)?, Source::operand(b)?, Source::NONE];
        let home = self.home(&[a, b], None, answers.destination())?;
        let work = Work { plan, sources, limbs: call.bits().div_ceil(64), remainder_limbs: 0, watch };
        self.share_items((0..count).into(), home, answers, |loaded, items, answers| {
            Ok(self.run_digits(loaded, &work, items, answers)?.0)
        })
    }
}

/// A task on some operands, of which each device gets items.
struct Work<'a> {
    plan: &'a DigitsPlan,
    sources: [Source<'a>; 3],
    /// Limbs of an answer, and of the remainder behind it.
    limbs: usize,
    remainder_limbs: usize,
    watch: Option<&'a Watch>,
}

impl Cuda {
    /// Runs a task on one device; returns the kernels' seconds, and the places of the items without an
    /// answer.
    fn run_digits(
        &self,
        loaded: &LoadedDevice,
        work: &Work<'_>,
        items: Items<'_>,
        answers: Answers<'_>,
    ) -> Result<(f64, Vec<usize>)> {
        let &Work { plan, sources, limbs, remainder_limbs, watch } = work;
        let (count, answer_limbs) = (items.len(), limbs + remainder_limbs);
        if count == 0 || answer_limbs == 0 {
            return Ok((0.0, Vec::new()));
        }
        self.record(Family::Row, plan.to_string(), None);
        let kernel = loaded.device.compile(&plan.program())?.kernel(plan.task.kernel())?;
        let wave = (kernel.blocks(BLOCK, plan.shared_bytes())? * plan.block_items()) as usize;
        // Whole waves keep all of the device busy.
        let size = (wave * ((plan.chunk + wave / 2) / wave).max(1)).min(count);
        let operands = Operands { sources, items };
        let destination = Destination { rows: answers.destination(), limbs: answer_limbs };
        let is_all_there = operands.limbs(2) == operands.limbs(1) && destination.rows.is_some();
        let sizes = match is_all_there {
            true => ChunkSizes { size: count.min(MOST_ITEMS), edge: count.min(MOST_ITEMS), multiple: 1 },
            false => ChunkSizes { size, edge: size.div_ceil(4), multiple: 1 },
        };
        let flags = if plan.task.refuses() { Flags::Each } else { Flags::None };
        let stages = DigitsStages { plan, kernel, operands, destination, remainder_limbs };
        let mut exchange = OperandExchange::new(operands, answers.on_host(count, answer_limbs), flags);
        let contents = if plan.task == Task::Divisors { Contents::Public } else { Contents::Secret };
        let lane = Lane { watch, ..self.lane(loaded, contents) };
        let seconds = pipeline::run(lane, count, sizes, |_| Ok(&stages), &mut exchange)?;
        Ok((seconds, exchange.refused))
    }
}

/// The device's side of a task.
struct DigitsStages<'a> {
    plan: &'a DigitsPlan,
    kernel: Kernel,
    operands: Operands<'a, 3>,
    destination: Destination<'a>,
    remainder_limbs: usize,
}

impl Stages for &DigitsStages<'_> {
    fn footprint(&self, rows: usize) -> Footprint {
        let flag_words = if self.plan.task.refuses() { rows } else { 0 };
        Footprint { flag_words, ..self.destination.footprint(&self.operands, rows) }
    }

    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        let [a, b, factor] = self.operands.numbers(chunk);
        let (results, count) = (self.destination.place(chunk), word(chunk.rows)?);
        let call = DivisionCall {
            a,
            b,
            results: results.address(),
            flags: chunk.flags.address(),
            result_stride: words(self.destination.rows.map_or(self.destination.limbs, |rows| rows.stride)),
            result_length: words(self.destination.limbs - self.remainder_limbs),
            rounds: self.plan.rounds,
            count,
            factor,
            remainder_length: words(self.remainder_limbs).into(),
        };
        let grid = count.div_ceil(self.plan.block_items());
        let shape = Shape { grid, block: BLOCK, shared_bytes: self.plan.shared_bytes() };
        let mut used = self.operands.buffers(chunk);
        used.extend([results.buffer, chunk.flags]);
        // SAFETY: the kernel takes this structure; it reads `count` numbers of each operand, keeps its digits
        // in shared memory, and writes `count` rows, and a flag for each if the task refuses some.
        unsafe { compute.launch(&self.kernel, shape, &call, &used) }
    }
}
