//! Small steps between products on a device (`Step`): sums, differences, comparisons, shifts, choices, items
//! by index.
#![allow(unsafe_code)] // launches kernels

use crate::backend::Cuda;
use crate::call::{Numbers, word};
use crate::compiler::Program;
use crate::device::{Contents, Kernel, Shape, Stream, kernel_structs};
use crate::device_rows::DeviceRows;
use crate::error::{Error, Result};
use crate::loaded::LoadedDevice;
use crate::operands::{Flags, OperandExchange, Operands};
use crate::pipeline::{self, Chunk, ChunkSizes, Footprint, Stages};
use crate::staging::{Answers, Source, words};
use modmill_core::{Batch, Family, Operand, Step, StepKind};

/// Threads of a block.
const BLOCK: u32 = 256;

/// Words of numbers that a thread adds by itself; a block adds longer ones.
const SHORT_WORDS: u32 = 64;

/// Blocks of moves, at most: each goes on to the next words.
const MOST_BLOCKS: u64 = 1 << 16;

/// Items of a launch, at most: kernels count them in a word.
const MOST_ITEMS: usize = 1 << 30;

/// Limbs of the operands of a chunk.
const CHUNK_LIMBS: usize = 8 << 20;

kernel_structs! {
    /// `StepCall` of `steps.cuh`.
    struct StepCall: 88 bytes {
        a at 0: Numbers,
        b at 16: Numbers,
        flags at 32: Numbers,
        results at 48: u64,
        result_stride at 56: u32,
        words at 60: u32,
        task at 64: u32,
        shift_words at 68: u32,
        shift_bits at 72: u32,
        top at 76: u32,
        top_mask at 80: u32,
        count at 84: u32,
    }
}

/// The program of the steps' kernels.
#[must_use]
pub fn steps_program() -> Program {
    Program::new("steps", &["device", "steps"], &[("BLOCK", BLOCK), ("RESIDENT", 2)])
}

/// The number of a task in `steps.cuh`, and the bits that it shifts by.
fn task_of(kind: StepKind<'_>) -> (u32, usize) {
    match kind {
        StepKind::Add => (0, 0),
        StepKind::Subtract => (1, 0),
        StepKind::Less => (2, 0),
        StepKind::Equal => (3, 0),
        StepKind::ShiftLeft(bits) => (4, bits),
        StepKind::ShiftRight(bits) => (5, bits),
        StepKind::Select => (6, 0),
        StepKind::Gather(_) => (7, 0),
    }
}

impl Cuda {
    /// Computes a step on the device that holds operands or gets the answers. An error if items are gathered
    /// that are not on a device.
    pub(crate) fn step(&self, step: &Step<'_>, count: usize, answers: Answers<'_>) -> Result<f64> {
        let limbs = step.bits().div_ceil(64);
        let made;
        let rows = match answers.destination() {
            Some(rows) => rows,
            None => {
                made = self.rows(self.home(&step.operands(), None, None)?, limbs, count)?;
                &made
            }
        };
        let home = self.loaded_for(rows)?;
        if count == 0 || step.bits() == 0 {
            return Ok(0.0);
        }
        self.record(Family::Row, "words".to_owned(), None);
        let seconds = self.launch_step(home, step, count, rows)?;
        if let Some(answers) = answers.on_host(count, limbs) {
            rows.copy_out(0, count, answers)?;
        }
        Ok(seconds)
    }

    fn launch_step(
        &self,
        home: &LoadedDevice,
        step: &Step<'_>,
        count: usize,
        rows: &DeviceRows,
    ) -> Result<f64> {
        let indices = match step.kind {
            StepKind::Gather(_) if step.a.resident().is_none() => {
                let reason = "the items to gather are not on a device".to_owned();
                return Err(Error::Call { call: "Cuda::run", reason });
            }
            StepKind::Gather(indices) => {
                let limbs = indices.iter().map(|&index| index as u64).collect();
                Batch::from_limbs(64, limbs).unwrap_or_else(|_| Batch::zeros(64, 0))
            }
            _ => Batch::zeros(64, 0),
        };
        let is_gathered = matches!(step.kind, StepKind::Gather(_));
        let flags = if is_gathered { Operand::from(&indices) } else { step.flags };
        let sources = [Source::operand(step.a)?, Source::operand(step.b)?, Source::operand(flags)?];
        let operands = Operands { sources, items: (0..count).into() };
        let module = home.device.compile(&steps_program())?;
        let widest = words(step.a.bits().max(step.b.bits()).div_ceil(64));
        let is_sum =
            matches!(step.kind, StepKind::Add | StepKind::Subtract | StepKind::Less | StepKind::Equal);
        let has_block_each = widest > SHORT_WORDS;
        let kernel = module.kernel(match (is_sum, has_block_each) {
            (true, false) => "step_sums",
            (true, true) => "step_long_sums",
            (false, _) => "step_moves",
        })?;
        let (task, shift) = task_of(step.kind);
        let result_words = words(rows.stride);
        let (top_bits, answer_words) = match step.kind {
            StepKind::Less | StepKind::Equal => (0, widest),
            _ => (step.bits(), result_words),
        };
        let call = StepCall {
            result_stride: result_words,
            words: answer_words,
            task,
            // Numbers have at most 2^29 words, so that a greater shift leaves nothing of them.
            shift_words: u32::try_from(shift / 32).unwrap_or(u32::MAX),
            shift_bits: (shift % 32) as u32,
            top: u32::try_from(top_bits / 32).unwrap_or(u32::MAX),
            top_mask: (1 << (top_bits % 32)) - 1,
            ..StepCall::default()
        };
        let stages = StepStages { call, kernel: &kernel, has_block_each, operands, is_gathered, rows };
        let size =
            CHUNK_LIMBS.checked_div(operands.limbs(1)).unwrap_or(count).clamp(1, count.min(MOST_ITEMS));
        let sizes = ChunkSizes { size, edge: size.div_ceil(4), multiple: 1 };
        let sizes = if size == count { ChunkSizes { edge: size, ..sizes } } else { sizes };
        let lane = self.lane(home, Contents::Secret);
        let mut exchange = OperandExchange::new(operands, None, Flags::None);
        pipeline::run(lane, count, sizes, |_| Ok(&stages), &mut exchange)
    }
}

/// The device's side of a step.
struct StepStages<'a> {
    /// The call, but for places and the number of items.
    call: StepCall,
    kernel: &'a Kernel,
    /// Whether sums are so long that a block computes one.
    has_block_each: bool,
    operands: Operands<'a, 3>,
    /// Whether the first operand is read by index, from its first item on.
    is_gathered: bool,
    rows: &'a DeviceRows,
}

impl Stages for &StepStages<'_> {
    fn footprint(&self, rows: usize) -> Footprint {
        Footprint { input_limbs: self.operands.limbs(rows), output_limbs: 0, flag_words: 0 }
    }

    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        let [a, b, flags] = self.operands.numbers(chunk);
        let a = if self.is_gathered { self.operands.sources[0].numbers(chunk.inputs, 0, 0) } else { a };
        let count = word(chunk.rows)?;
        let results = self.rows.buffer.address() + self.rows.start(chunk.first) as u64;
        let call = StepCall { a, b, flags, results, count, ..self.call };
        let total = u64::from(count) * u64::from(call.words);
        let grid = match (call.task, self.has_block_each) {
            (0..=3, true) => count,
            (0..=3, false) => count.div_ceil(BLOCK),
            _ => u32::try_from(total.div_ceil(u64::from(BLOCK)).clamp(1, MOST_BLOCKS)).unwrap_or(u32::MAX),
        };
        let shape = Shape { grid, block: BLOCK, shared_bytes: 4 * (BLOCK / 32) };
        let mut used = self.operands.buffers(chunk);
        used.push(&self.rows.buffer);
        // SAFETY: the kernel takes this structure; it reads `count` numbers of each operand, or those at
        // indices that were checked, and writes `count` rows.
        unsafe { compute.launch(self.kernel, shape, &call, &used) }
    }
}
