//! Part of a batch on its way through a device: copied in, computed and copied out on one stream, while
//! the host prepares the next part.
#![allow(unsafe_code)] // launches kernels

use crate::device::{Buffer, Contents, Device, Event, HostBuffer, Kernel, Shape, Stream};
use crate::error::Result;
use crate::kernels::{Call, Kernels, Numbers, Preparation};
use modmill_core::{Job, Moduli, Operand};
use std::ops::Range;

/// What is asked of the kernels.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Task {
    /// Powers; of secrets if `masked`, which reads whole tables.
    Power { masked: bool, exponent_bits: u32, window: u32 },
    /// Products.
    Multiply,
    /// Squares, that is products of `a` with itself.
    Square,
    /// Chains of Montgomery products `a b^repeat / R^(repeat + 1)`.
    MultiplyChain { repeat: u32 },
    /// Chains of Montgomery squares.
    SquareChain { repeat: u32 },
}

impl Task {
    fn kernel<'a>(&self, kernels: &'a Kernels) -> &'a Kernel {
        match self {
            Self::Power { masked: true, .. } => &kernels.power,
            Self::Power { masked: false, .. } => &kernels.power_vartime,
            Self::Multiply | Self::Square => &kernels.multiply,
            Self::MultiplyChain { .. } => &kernels.multiply_chain,
            Self::SquareChain { .. } => &kernels.square_chain,
        }
    }

    /// Values that every thread keeps.
    pub(crate) fn entries(&self) -> usize {
        match self {
            // The powers, and one more for what is chosen among them.
            Self::Power { window, .. } => (1 << window) + 1,
            _ => 2,
        }
    }

    fn contents(&self) -> Contents {
        match self {
            Self::MultiplyChain { .. } | Self::SquareChain { .. } => Contents::Public,
            _ => Contents::Secret,
        }
    }
}

/// Some items of a job, started on a device.
pub(crate) struct Chunk {
    stream: Stream,
    began: Event,
    ended: Event,
    /// 64-bit limbs of an answer.
    limbs: usize,
    output: HostBuffer,
    // What the kernels work with, until they have ended.
    _input: HostBuffer,
    _buffers: Vec<Buffer>,
}

impl Chunk {
    /// Copies items to the device and starts computing.
    pub(crate) fn start(device: &Device, kernels: &Kernels, task: Task, job: &Job<'_>) -> Result<Self> {
        let variant = &kernels.variant;
        let contents = task.contents();
        let stream = device.stream()?;
        let count = u32::try_from(job.items.len()).unwrap_or(u32::MAX);
        let b = if matches!(task, Task::Square) { job.a } else { job.b };

        let limbs = job.bits.div_ceil(64);
        let (moduli, modulus_count) = match job.moduli {
            Moduli::Each(view) => (Operand::Each(view), count),
            Moduli::Shared(modulus) => (Operand::Shared { bits: job.bits, value: modulus.value() }, 1),
        };
        let mut layout = Staging::default();
        let mut place = |operand, width| layout.place(operand, width, job.items.len());
        let places =
            [place(job.a, job.a.bits().div_ceil(64)), place(b, b.bits().div_ceil(64)), place(moduli, limbs)];
        let mut input = device.host_buffer(layout.bytes, contents)?;
        for (operand, place) in [job.a, b, moduli].into_iter().zip(&places) {
            place.fill(operand, job.items, &mut input.limbs_mut()[place.limbs.clone()]);
        }
        let inputs = device.buffer(layout.bytes, contents)?;
        stream.copy_in(&input, 0..layout.bytes, &inputs, 0)?;
        let [mut a, mut b, modulus] = places.map(|place| place.numbers(&inputs));

        let row = 4 + 3 * variant.words;
        let constants_buffer = device.buffer(4 * (row * modulus_count) as usize, contents)?;
        let preparation = Preparation {
            input: modulus,
            rows: constants_buffer.address(),
            count: modulus_count,
            limbs: u32::try_from(limbs).unwrap_or(u32::MAX),
            ..Preparation::default()
        };
        let block = variant.layout.block;
        let one_thread_each = |count: u32| Shape { grid: count.div_ceil(block), block, shared_bytes: 0 };
        // SAFETY: the kernel takes this structure; it reads `count` moduli of the inputs and writes as many rows.
        unsafe {
            stream.launch(
                &kernels.constants,
                one_thread_each(modulus_count),
                &preparation,
                &[&inputs, &constants_buffer],
            )?;
        }
        let constants =
            Numbers::at(&constants_buffer, if modulus_count == 1 && count > 1 { 0 } else { row }, row);

        let mut buffers = Vec::new();
        let is_power = matches!(task, Task::Power { .. });
        for (numbers, bits, is_exponent) in [(&mut a, job.a.bits(), false), (&mut b, job.b.bits(), is_power)]
        {
            if is_exponent || bits <= variant.input_bits() {
                continue;
            }
            let reduced = device.buffer(4 * (variant.words * count) as usize, contents)?;
            let preparation =
                Preparation { input: *numbers, constants, rows: reduced.address(), count, ..preparation };
            // SAFETY: the kernel takes this structure; it reads `count` numbers of the inputs and the rows of
            // constants, and writes `count` rows of `words` words.
            unsafe {
                let used = [&inputs, &constants_buffer, &reduced];
                stream.launch(&kernels.reduce, one_thread_each(count), &preparation, &used)?;
            }
            *numbers = Numbers::at(&reduced, variant.words, variant.words);
            buffers.push(reduced);
        }

        let grid = kernels.blocks.min((count * variant.layout.threads).div_ceil(block));
        let scratch =
            device.buffer(task.entries() * variant.entry_bytes() * (grid * block) as usize, contents)?;
        let output_bytes = 8 * limbs * job.items.len();
        let results = device.buffer(output_bytes, contents)?;
        let result_words = 2 * preparation.limbs;
        let mut call = Call {
            a,
            b,
            constants,
            results: results.address(),
            result_stride: result_words,
            result_length: result_words,
            scratch: scratch.address(),
            count,
            ..Call::default()
        };
        match task {
            Task::Power { exponent_bits, window, .. } => {
                (call.exponent_bits, call.window) = (exponent_bits, window)
            }
            Task::MultiplyChain { repeat } | Task::SquareChain { repeat } => call.repeat = repeat,
            Task::Multiply | Task::Square => {}
        }
        let (began, ended) = (device.event()?, device.event()?);
        began.record(&stream)?;
        let shape = Shape { grid, block, shared_bytes: variant.shared_bytes() };
        let mut used = vec![&inputs, &constants_buffer, &scratch, &results];
        used.extend(&buffers);
        // SAFETY: the kernel takes this structure; it reads `count` numbers of each operand, keeps
        // `entries` values for each thread of the grid in the scratch, and writes `count` results.
        unsafe { stream.launch(task.kernel(kernels), shape, &call, &used)? };
        ended.record(&stream)?;
        let mut output = device.host_buffer(output_bytes, contents)?;
        stream.copy_out(&results, 0..output_bytes, &mut output, 0)?;
        buffers.extend([inputs, constants_buffer, scratch, results]);
        Ok(Self { stream, began, ended, limbs, output, _input: input, _buffers: buffers })
    }

    /// Waits, puts the answers into rows of `stride` limbs, and returns the kernel's seconds.
    pub(crate) fn finish(self, answers: &mut [u64], stride: usize) -> Result<f64> {
        self.stream.synchronize()?;
        let limbs = self.limbs.min(stride);
        for (answer, row) in answers.chunks_mut(stride).zip(self.output.limbs().chunks(self.limbs)) {
            answer[..limbs].copy_from_slice(&row[..limbs]);
        }
        Ok(f64::from(self.ended.elapsed_ms(&self.began)?) / 1e3)
    }
}

/// Where operands lie in the staging memory.
#[derive(Default)]
struct Staging {
    bytes: usize,
}

struct Place {
    limbs: Range<usize>,
    /// Limbs of a number.
    width: usize,
    shared: bool,
}

impl Staging {
    /// Room for the numbers of some items, `width` limbs each.
    fn place(&mut self, operand: Operand<'_>, width: usize, count: usize) -> Place {
        let shared = matches!(operand, Operand::Shared { .. });
        let start = self.bytes / 8;
        let end = start + width * if shared { 1 } else { count };
        // Empty operands too have a place.
        self.bytes = 8 * end.max(start + 1);
        Place { limbs: start..end, width, shared }
    }
}

impl Place {
    fn fill(&self, operand: Operand<'_>, items: &[usize], to: &mut [u64]) {
        for (&item, row) in items.iter().zip(to.chunks_mut(self.width.max(1))) {
            let number = operand.get(item);
            let common = number.len().min(self.width);
            row[..common].copy_from_slice(&number[..common]);
            row[common..].fill(0);
        }
    }

    fn numbers(&self, buffer: &Buffer) -> Numbers {
        let length = u32::try_from(2 * self.width).unwrap_or(u32::MAX);
        Numbers {
            address: buffer.address() + 8 * self.limbs.start as u64,
            stride: if self.shared { 0 } else { length },
            length,
        }
    }
}
