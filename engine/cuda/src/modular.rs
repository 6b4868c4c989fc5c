//! Operations modulo numbers that kernels hold whole: the stages of the pipeline, and the batch that goes
//! through it.
#![allow(unsafe_code)] // launches kernels

use crate::backend::{Cuda, Run};
use crate::call::{Call, Numbers, word};
use crate::checks::{check_operands, check_variant};
use crate::constants::Constants;
use crate::device::{Buffer, Device, Shape, Stream};
use crate::error::{Error, Result};
use crate::family::rns::kernels::{JobConstants, Request, ResidueWork};
use crate::kept_constants::KeptConstants;
use crate::kernels::TaskKernels;
use crate::loaded::LoadedDevice;
use crate::operands::{Destination, Flags, OperandExchange, Operands};
use crate::pipeline::{self, Chunk, ChunkSizes, Footprint, IN_FLIGHT, Lane, Stages};
use crate::staging::{Answers, Source, words};
use crate::task::Task;
use crate::variant::Variant;
use modmill_core::{Family, Job, Moduli, Operand};
use std::cell::Cell;

/// Bytes of the operands of a chunk: enough to copy at full speed, few enough to start soon.
const CHUNK_BYTES: usize = 8 << 20;

/// Items of a launch, at most: kernels count them in a word.
const MOST_ITEMS: usize = 1 << 30;

/// The most waves of a chunk.
const MAX_WAVES: usize = 16;

/// Items of a chunk whose operands have `bits` bits together. A device rounds up to whole waves.
pub(crate) fn chunk_items(bits: usize) -> usize {
    CHUNK_BYTES.div_ceil(bits / 8 + 1)
}

/// A task by the kernels of a variant, in chunks of about `chunk` items.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelPlan {
    pub(crate) variant: Variant,
    pub(crate) task: Task,
    pub(crate) chunk: usize,
}

impl Cuda {
    /// Montgomery products one after the other, `a b^repeat / R^(repeat + 1) mod N` for `R = 2^radix_bits`:
    /// the speed of the arithmetic when nothing is copied.
    pub fn multiply_chain(&self, variant: Variant, job: &Job<'_>, repeat: u32) -> Result<Run> {
        self.run_chain(variant, Task::MultiplyChain { repeat }, job)
    }

    /// Montgomery squares one after the other: `a^(2^repeat) / R^(2^repeat) mod N`.
    pub fn square_chain(&self, variant: Variant, job: &Job<'_>, repeat: u32) -> Result<Run> {
        self.run_chain(variant, Task::SquareChain { repeat }, job)
    }

    fn run_chain(&self, variant: Variant, task: Task, job: &Job<'_>) -> Result<Run> {
        let chunk = chunk_items(job.a.bits() + job.b.bits() + job.moduli.bits());
        let plan = KernelPlan { variant, task, chunk };
        Run::new(job.moduli.bits(), job.items.len(), |answers| {
            self.run_kernels(plan, job, Answers::Host(answers))
        })
    }

    /// Computes a job, with answers in rows as wide as the moduli or on a device; returns the kernels'
    /// seconds. Where numbers are on a device, that device computes the whole job.
    pub(crate) fn run_kernels(&self, plan: KernelPlan, job: &Job<'_>, answers: Answers<'_>) -> Result<f64> {
        check_operands(job)?;
        if job.items.is_empty() {
            return Ok(0.0);
        }
        check_variant(plan.variant, job)?;
        let home = self.home(&[job.a, job.b], Some(job.moduli), answers.destination())?;
        self.share_items(job.items, home, answers, |loaded, items, mut answers| {
            let part = job.part(items);
            let (seconds, refused) = self.run_on(loaded, plan, &part, answers.reborrow())?;
            if refused.is_empty() {
                return Ok(seconds);
            }
            let plan = KernelPlan { variant: rows_instead_of(plan.variant, job.bits, loaded)?, ..plan };
            let more = match answers {
                Answers::Host(answers) if home.is_none() => {
                    self.run_refused(loaded, plan, &part, &refused, answers)?
                }
                // Numbers on a device are read in their order, so that all items are computed again.
                answers => self.run_on(loaded, plan, &part, answers)?.0,
            };
            Ok(seconds + more)
        })
    }

    /// Computes a job on one device; returns the kernels' seconds, and the places of the items that the
    /// kernels refused.
    fn run_on(
        &self,
        loaded: &LoadedDevice,
        plan: KernelPlan,
        job: &Job<'_>,
        answers: Answers<'_>,
    ) -> Result<(f64, Vec<usize>)> {
        let KernelPlan { variant, task, chunk } = plan;
        let kernels = loaded.kernels(variant)?.of(&task, is_prepared(variant, task, job))?;
        let (count, wave) = (job.items.len(), kernels.wave());
        // Whole waves keep all of the device busy.
        let waves = if task.is_power() { chunk.div_ceil(wave) } else { (chunk + wave / 2) / wave };
        let size = (wave * waves.clamp(1, MAX_WAVES)).min(count);
        // Powers take longer than copies. Others wait for the first copy and the last one, which are short.
        let edge = if task.is_power() { wave } else { size.div_ceil(4) };
        let operands = operands(task, job)?;
        // Nothing is copied for numbers that stay, and only residues need memory for every item.
        let is_all_there = operands.limbs(2) == operands.limbs(1) && answers.destination().is_some();
        let (size, edge) = match is_all_there && kernels.residues.is_none() {
            true => (count.min(MOST_ITEMS), count.min(MOST_ITEMS)),
            false => (size, edge),
        };
        let sizes = ChunkSizes { size, edge, multiple: 1 };
        let destination = Destination { rows: answers.destination(), limbs: job.bits.div_ceil(64) };
        let make = |rows| KernelStages::new(self, &loaded.device, &kernels, task, job, destination, rows);
        let flags = match (&kernels.residues, operands.sources[2].is_shared()) {
            (None, _) => Flags::None,
            (Some(_), true) => Flags::One,
            (Some(_), false) => Flags::Each,
        };
        let mut exchange = OperandExchange::new(operands, answers.on_host(count, destination.limbs), flags);
        let lane = Lane { watch: job.watch, ..self.lane(loaded, task.contents()) };
        let seconds = pipeline::run(lane, count, sizes, make, &mut exchange)?;
        Ok((seconds, exchange.refused))
    }

    /// Computes the items at some places of a job: the residue family refuses moduli that share a factor with
    /// its radix.
    fn run_refused(
        &self,
        loaded: &LoadedDevice,
        plan: KernelPlan,
        job: &Job<'_>,
        places: &[usize],
        answers: &mut [u64],
    ) -> Result<f64> {
        let items: Vec<usize> = places.iter().map(|&place| job.items.get(place)).collect();
        let stride = answers.len() / job.items.len();
        let mut found = zeroize::Zeroizing::new(vec![0; items.len() * stride]);
        let (seconds, _) = self.run_on(loaded, plan, &job.part(&items), Answers::Host(&mut found))?;
        for (row, &place) in found.chunks(stride).zip(places) {
            answers[place * stride..(place + 1) * stride].copy_from_slice(row);
        }
        Ok(seconds)
    }
}

/// A layout of rows for numbers that a variant of another family refuses.
fn rows_instead_of(variant: Variant, bits: usize, loaded: &LoadedDevice) -> Result<Variant> {
    let none = || Error::NoKernel { name: format!("for {bits} bits by rows") };
    let candidates = Variant::candidates(Family::Row, bits, loaded.device.limits());
    candidates.into_iter().find(|rows| rows.family != variant.family).ok_or_else(none)
}

/// Whether the first factors or bases, and the second factors, are longer than the kernels take, and reduced
/// first.
fn are_long(variant: Variant, task: Task, job: &Job<'_>) -> [bool; 2] {
    let is_long = |operand: Operand<'_>| operand.bits() > variant.input_bits();
    [is_long(job.a), task.multiplies_b() && !matches!(task, Task::Square) && is_long(job.b)]
}

/// Whether constants of the moduli are needed. Residues have constants of their own, and need these only to
/// reduce.
fn is_prepared(variant: Variant, task: Task, job: &Job<'_>) -> bool {
    variant.family != Family::Rns || are_long(variant, task, job).contains(&true)
}

/// The operands of a job as they are copied in: `a`, `b` and the moduli.
pub(crate) fn operands<'a>(task: Task, job: &Job<'a>) -> Result<Operands<'a, 3>> {
    let b = if matches!(task, Task::Square) { Source::NONE } else { Source::operand(job.b)? };
    let sources = [
        Source::operand(job.a)?,
        Source { is_repeated: task.repeats_exponent(), ..b },
        Source::moduli(job.moduli, job.bits.div_ceil(64))?,
    ];
    Ok(Operands { sources, items: job.items })
}

/// The device's side: kernels of a variant, and work buffers for chunks of some size.
struct KernelStages<'a> {
    backend: &'a Cuda,
    kernels: &'a TaskKernels,
    task: Task,
    operands: Operands<'a, 3>,
    destination: Destination<'a>,
    /// Constants of the moduli.
    constants: Constants<'a>,
    /// Memory for numbers that are too long for the kernels, and are reduced first.
    reduced: [Option<Buffer>; 2],
    /// Tables of the threads.
    scratch: Buffer,
    residues: Option<ResidueStages>,
}

/// The memory and the constants that the residue family needs in addition.
struct ResidueStages {
    work: ResidueWork,
    constants: JobConstants,
    /// For each slot, whether its flags tell of the one modulus of all items.
    has_modulus: [Cell<bool>; IN_FLIGHT],
}

impl<'a> KernelStages<'a> {
    fn new(
        backend: &'a Cuda,
        device: &Device,
        kernels: &'a TaskKernels,
        task: Task,
        job: &Job<'a>,
        destination: Destination<'a>,
        size: usize,
    ) -> Result<Self> {
        let operands = operands(task, job)?;
        let variant = &kernels.variant;
        let contents = task.contents();
        let moduli = &operands.sources[2];
        let row_bytes = 4 * variant.words as usize;
        let threads = kernels.grid(size) as usize * variant.layout.block as usize;
        let reduced = |is_long: bool| is_long.then(|| device.buffer(row_bytes * size, contents)).transpose();
        let [is_first_long, is_second_long] = are_long(*variant, task, job);
        // Matrices of a modulus's own take milliseconds to make, and a tenth off every power.
        let merged = match job.moduli {
            Moduli::Shared(modulus) if task.exponent().0 > 0 && job.items.len() >= kernels.wave() => {
                Some(modulus.value())
            }
            Moduli::Shared(_) | Moduli::Each(_) | Moduli::Prepared(_) | Moduli::Resident(_) => None,
        };
        let constants = match (job.moduli, moduli.rows()) {
            _ if kernels.preparation.is_none() => Constants::of_chunks(device, kernels, moduli, 1, contents)?,
            (Moduli::Shared(modulus), _) => {
                let kept = modulus.constants(|_| KeptConstants::default());
                Constants::kept(device, kernels, &kept, moduli, 1)?
            }
            (_, Some(rows)) => Constants::kept(device, kernels, &rows.constants, moduli, rows.len)?,
            (Moduli::Each(_) | Moduli::Prepared(_) | Moduli::Resident(_), None) => {
                Constants::of_chunks(device, kernels, moduli, size, contents)?
            }
        };
        let residues = kernels.residues.as_ref().map(|residues| {
            Ok(ResidueStages {
                work: residues.work(device, size, moduli.is_shared(), task, kernels.residue_threads(size))?,
                constants: residues.job_constants(device, &task, destination.limbs, merged)?,
                has_modulus: Default::default(),
            })
        });
        Ok(Self {
            backend,
            kernels,
            task,
            operands,
            destination,
            constants,
            reduced: [reduced(is_first_long)?, reduced(is_second_long)?],
            scratch: device.buffer((task.entries() * variant.entry_bytes() * threads).max(16), contents)?,
            residues: residues.transpose()?,
        })
    }

    /// The operands of a chunk once long ones are reduced.
    fn factors(&self, chunk: &Chunk<'_>) -> [Numbers; 2] {
        let words = self.kernels.variant.words;
        let [a, b, _] = self.operands.numbers(chunk);
        let factor = |numbers: Numbers, reduced: &Option<Buffer>| {
            reduced.as_ref().map_or(numbers, |buffer| Numbers::at(buffer, words, words))
        };
        let a = factor(a, &self.reduced[0]);
        [a, if matches!(self.task, Task::Square) { a } else { factor(b, &self.reduced[1]) }]
    }
}

impl Stages for KernelStages<'_> {
    fn footprint(&self, rows: usize) -> Footprint {
        let flag_words = match (&self.residues, self.operands.sources[2].is_shared()) {
            (None, _) => 0,
            (Some(stages), true) => stages.work.tile_items(),
            (Some(_), false) => rows,
        };
        Footprint { flag_words, ..self.destination.footprint(&self.operands, rows) }
    }

    /// Finds the constants of the moduli, and reduces numbers that are too long.
    fn prepare(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        let [a, b, moduli] = self.operands.numbers(chunk);
        let used = self.operands.buffers(chunk);
        self.constants.prepare(compute, moduli, chunk.rows, &used)?;
        let first = self.operands.items.get(chunk.first);
        for (numbers, reduced) in [a, b].into_iter().zip(&self.reduced) {
            let Some(reduced) = reduced else { continue };
            let items = first..first + chunk.rows;
            self.constants.reduce(compute, numbers, items, reduced, &used)?;
        }
        Ok(())
    }

    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        let Self { kernels, task, .. } = self;
        let variant = &kernels.variant;
        let (_, window) = task.exponent();
        self.backend.record(variant.family, variant.to_string(), task.is_power().then_some(window));
        let count = word(chunk.rows)?;
        let [a, b] = self.factors(chunk);
        let kernel = &kernels.kernel;
        let result_words = words(self.destination.limbs);
        let results = self.destination.place(chunk);
        let mut used = self.operands.buffers(chunk);
        used.extend([self.constants.buffer(), &self.scratch, results.buffer]);
        used.extend(self.reduced.iter().flatten());
        if let (Some(residues), Some(stages)) = (&kernels.residues, &self.residues) {
            let [_, _, moduli] = self.operands.numbers(chunk);
            let is_set_up = stages.has_modulus[chunk.slot].replace(self.operands.sources[2].is_shared());
            let results = Numbers { address: results.address(), stride: result_words, length: result_words };
            let flags = chunk.flags;
            let request = Request { task: *task, a, b, moduli, count, results, flags, is_set_up };
            let blocks = kernels.residue_shape(chunk.rows);
            let flow = residues.on(compute, &stages.constants, &used);
            return flow.run(&stages.work, &request, kernel, blocks);
        }
        let mut call = Call {
            a,
            b,
            constants: self.constants.numbers(self.operands.items.get(chunk.first)),
            results: results.address(),
            result_stride: result_words,
            result_length: result_words,
            scratch: self.scratch.address(),
            count,
            ..Call::default()
        };
        task.describe(&mut call);
        let shape = Shape {
            grid: kernels.grid(chunk.rows),
            block: variant.layout.block,
            shared_bytes: variant.shared_bytes(),
        };
        // SAFETY: the kernel takes this structure; it reads `count` numbers of each operand, keeps `entries`
        // values for each thread of the grid in the scratch, and writes `count` results.
        unsafe { compute.launch(kernel, shape, &call, &used) }
    }
}
