//! A job on its way through one device, chunk by chunk: while one chunk is computed, the next is gathered
//! and copied in, and the last one copied out and scattered.
//!
//! Kernels run one after the other on a stream of their own, so that one scratch memory serves all and
//! their times do not overlap; copies run beside them, on a stream for each chunk on its way.
#![allow(unsafe_code)] // launches kernels

use crate::device::{Buffer, Contents, Device, Event, HostBuffer, Shape, Stream};
use crate::error::Result;
use crate::family::rns::kernels::{JobConstants, Request, ResidueSlot};
use crate::kernels::{Call, Kernels, Numbers, Preparation};
use crate::task::Task;
use modmill_core::{Job, Moduli, Operand};
use rayon::prelude::*;
use std::ops::Range;
use zeroize::Zeroize;

/// A device made ready for chunks of some size.
pub(crate) struct Pipeline<'a> {
    kernels: &'a Kernels,
    task: Task,
    job: Job<'a>,
    operands: [Source<'a>; 3],
    compute: Stream,
    scratch: Buffer,
    residue_constants: Option<JobConstants>,
    slots: Vec<Slot>,
}

/// What one chunk on its way needs.
struct Slot {
    copies: Stream,
    input: Staging,
    output: Staging,
    inputs: Buffer,
    constants: Buffer,
    reduced: [Option<Buffer>; 2],
    results: Buffer,
    residues: Option<(ResidueSlot, HostBuffer)>,
    copied: Event,
    began: Event,
    ended: Event,
}

/// Numbers of the job, `width` limbs of each.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) origin: Origin<'a>,
    pub(crate) width: usize,
    /// Whether every item gets a copy of a number that all share.
    is_repeated: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Origin<'a> {
    Operand(Operand<'a>),
    Moduli(Moduli<'a>),
}

impl Origin<'_> {
    fn get(&self, item: usize) -> &[u64] {
        match self {
            Self::Operand(operand) => operand.get(item),
            Self::Moduli(moduli) => moduli.get(item),
        }
    }
}

impl<'a> Source<'a> {
    pub(crate) fn operand(operand: Operand<'a>) -> Self {
        let width = operand.bits().div_ceil(64);
        Self { origin: Origin::Operand(operand), width, is_repeated: false }
    }

    fn is_shared(&self) -> bool {
        let is_one = matches!(
            self.origin,
            Origin::Operand(Operand::Shared { .. }) | Origin::Moduli(Moduli::Shared(_))
        );
        is_one && !self.is_repeated
    }

    /// Limbs for so many items.
    pub(crate) fn limbs(&self, count: usize) -> usize {
        self.width * if self.is_shared() { 1 } else { count }
    }

    pub(crate) fn gather(&self, items: &[usize], rows: &mut [u64]) {
        let rows = &mut rows[..self.limbs(items.len())];
        copy_rows(rows, self.width, |row| self.origin.get(items[row]));
    }

    /// Where the numbers are once they are on the device.
    pub(crate) fn numbers(&self, buffer: &Buffer, start: usize) -> Numbers {
        let length = words(self.width);
        let stride = if self.is_shared() { 0 } else { length };
        Numbers { address: buffer.address() + 8 * start as u64, stride, length }
    }
}

/// Limbs that one thread moves at least.
const LEAST: usize = 1 << 15;

/// Fills rows of `width` limbs with numbers, on all threads.
pub(crate) fn copy_rows<'a>(rows: &mut [u64], width: usize, number: impl Fn(usize) -> &'a [u64] + Sync) {
    let width = width.max(1);
    let rows = rows.par_chunks_mut(width).enumerate().with_min_len(LEAST / width + 1);
    rows.for_each(|(index, row)| {
        let number = number(index);
        let common = number.len().min(width);
        row[..common].copy_from_slice(&number[..common]);
        row[common..].fill(0);
    });
}

/// 32-bit words of some limbs.
fn words(limbs: usize) -> u32 {
    u32::try_from(2 * limbs).unwrap_or(u32::MAX)
}

/// Memory of the host for copies, cleared by all threads when it has held secrets.
pub(crate) struct Staging {
    pub(crate) buffer: HostBuffer,
    contents: Contents,
}

impl Staging {
    pub(crate) fn new(device: &Device, limbs: usize, contents: Contents) -> Result<Self> {
        Ok(Self { buffer: device.host_buffer(8 * limbs.max(1), Contents::Public)?, contents })
    }

    pub(crate) fn clear(&mut self) {
        if self.contents == Contents::Secret {
            self.buffer.limbs_mut().par_chunks_mut(LEAST).for_each(Zeroize::zeroize);
            self.contents = Contents::Public;
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        self.clear();
    }
}

impl<'a> Pipeline<'a> {
    /// Memory for chunks of at most `size` items, `slots` of them on their way at a time.
    pub(crate) fn new(
        device: &Device,
        kernels: &'a Kernels,
        task: Task,
        job: Job<'a>,
        size: usize,
        slots: usize,
    ) -> Result<Self> {
        let variant = &kernels.variant;
        let contents = task.contents();
        let limbs = job.bits.div_ceil(64);
        let nothing = Operand::Shared { bits: 0, value: &[] };
        let b = if matches!(task, Task::Square) { nothing } else { job.b };
        let operands = [
            Source::operand(job.a),
            Source { is_repeated: task.repeats_exponent(), ..Source::operand(b) },
            Source { origin: Origin::Moduli(job.moduli), width: limbs, is_repeated: false },
        ];
        let input_limbs = operands.iter().map(|source| source.limbs(size)).sum::<usize>();
        let moduli_rows = if operands[2].is_shared() { 1 } else { size };
        let row_bytes = 4 * variant.words as usize;
        let is_long =
            [job.a.bits() > variant.input_bits(), task.multiplies_b() && b.bits() > variant.input_bits()];
        let threads = kernels.grid(size) as usize * variant.layout.block as usize;
        let slot = |_| {
            let residues = kernels.residues.as_ref().map(|residues| {
                let shared = operands[2].is_shared();
                let slot = residues.slot(device, variant.words, size, shared, task, threads)?;
                let flags = device.host_buffer(slot.flags.bytes().next_multiple_of(8), Contents::Public)?;
                Ok((slot, flags))
            });
            let reduced =
                |index: usize| is_long[index].then(|| device.buffer(row_bytes * size, contents)).transpose();
            Ok(Slot {
                copies: device.stream()?,
                input: Staging::new(device, input_limbs, contents)?,
                output: Staging::new(device, limbs * size, contents)?,
                inputs: device.buffer(8 * input_limbs.max(1), contents)?,
                constants: device.buffer((16 + 3 * row_bytes) * moduli_rows, contents)?,
                reduced: [reduced(0)?, reduced(1)?],
                results: device.buffer(8 * limbs * size, contents)?,
                residues: residues.transpose()?,
                copied: device.event()?,
                began: device.event()?,
                ended: device.event()?,
            })
        };
        // Matrices of a modulus's own take milliseconds to make, and a tenth off every power.
        let merged = match job.moduli {
            Moduli::Shared(_) if task.exponent().0 > 0 && job.items.len() >= kernels.wave() => {
                Some(job.moduli.get(0))
            }
            _ => None,
        };
        let constants =
            kernels.residues.as_ref().map(|residues| residues.job_constants(device, limbs, merged));
        Ok(Self {
            kernels,
            task,
            job,
            operands,
            compute: device.stream()?,
            scratch: device.buffer((task.entries() * variant.entry_bytes() * threads).max(16), contents)?,
            residue_constants: constants.transpose()?,
            slots: (0..slots).map(slot).collect::<Result<_>>()?,
        })
    }

    /// Gathers items into a free slot and sets the device to work on them.
    pub(crate) fn start(&mut self, slot: usize, items: &[usize]) -> Result<()> {
        let Self { kernels, task, job, operands, compute, scratch, residue_constants, slots } = self;
        let slot = &mut slots[slot];
        let variant = &kernels.variant;
        let mut starts = [0; 3];
        let mut end = 0;
        for (source, start) in operands.iter().zip(&mut starts) {
            *start = end;
            end += source.limbs(items.len());
            source.gather(items, &mut slot.input.buffer.limbs_mut()[*start..end]);
        }
        slot.copies.copy_in(&slot.input.buffer, 0..8 * end, &slot.inputs, 0)?;
        slot.copied.record(&slot.copies)?;
        compute.wait(&slot.copied)?;

        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let block = variant.layout.block;
        let one_thread_each = |count: u32| Shape { grid: count.div_ceil(block), block, shared_bytes: 0 };
        let place = |index: usize| operands[index].numbers(&slot.inputs, starts[index]);
        let (mut a, mut b) = (place(0), place(1));
        let row = 4 + 3 * variant.words;
        let constants = Numbers::at(&slot.constants, if operands[2].is_shared() { 0 } else { row }, row);
        let preparation = Preparation {
            input: place(2),
            constants,
            rows: slot.constants.address(),
            count: if operands[2].is_shared() { 1 } else { count },
            limbs: words(operands[2].width) / 2,
        };
        // Residues have constants of their own, and these only to reduce what is too long for them.
        if kernels.residues.is_none() || slot.reduced.iter().any(Option::is_some) {
            let shape = one_thread_each(preparation.count);
            // SAFETY: the kernel takes this structure; it reads `count` moduli of the inputs and writes as many
            // rows of constants.
            unsafe {
                compute.launch(&kernels.constants, shape, &preparation, &[&slot.inputs, &slot.constants])?;
            }
        }
        for (numbers, reduced) in [&mut a, &mut b].into_iter().zip(&slot.reduced) {
            let Some(reduced) = reduced else { continue };
            let preparation = Preparation { input: *numbers, rows: reduced.address(), count, ..preparation };
            // SAFETY: the kernel takes this structure; it reads `count` numbers of the inputs and the rows of
            // constants, and writes `count` rows of `words` words.
            unsafe {
                let used = [&slot.inputs, &slot.constants, reduced];
                compute.launch(&kernels.reduce, one_thread_each(count), &preparation, &used)?;
            }
            *numbers = Numbers::at(reduced, variant.words, variant.words);
        }
        if matches!(task, Task::Square) {
            b = a;
        }
        let limbs = job.bits.div_ceil(64);
        let mut used = vec![&slot.inputs, &slot.constants, &*scratch, &slot.results];
        used.extend(slot.reduced.iter().flatten());
        let kernel = kernels.of(&task)?;
        slot.began.record(compute)?;
        if let (Some(residues), Some((place, _)), Some(constants)) =
            (&kernels.residues, &slot.residues, &*residue_constants)
        {
            let request = Request {
                task: *task,
                a,
                b,
                moduli: preparation.input,
                limbs: preparation.limbs,
                count,
                results: &slot.results,
                result_words: words(limbs),
                inputs: &used,
            };
            let blocks = kernels.residue_shape(items.len());
            residues.launch(compute, place, constants, &request, kernel, blocks)?;
        } else {
            let mut call = Call {
                a,
                b,
                constants,
                results: slot.results.address(),
                result_stride: words(limbs),
                result_length: words(limbs),
                scratch: scratch.address(),
                count,
                ..Call::default()
            };
            task.describe(&mut call);
            let shape =
                Shape { grid: kernels.grid(items.len()), block, shared_bytes: variant.shared_bytes() };
            // SAFETY: the kernel takes this structure; it reads `count` numbers of each operand, keeps
            // `entries` values for each thread of the grid in the scratch, and writes `count` results.
            unsafe { compute.launch(kernel, shape, &call, &used)? };
        }
        slot.ended.record(compute)?;
        slot.copies.wait(&slot.ended)?;
        if let Some((residues, flags)) = &mut slot.residues {
            slot.copies.copy_out(&residues.flags, 0..residues.flags.bytes(), flags, 0)?;
        }
        slot.copies.copy_out(&slot.results, 0..8 * limbs * items.len(), &mut slot.output.buffer, 0)
    }

    /// Waits for a slot, puts its answers into rows of `stride` limbs, and returns the kernel's seconds, with
    /// the places of items that the kernel is not for.
    pub(crate) fn finish(
        &mut self,
        slot: usize,
        answers: &mut [u64],
        stride: usize,
    ) -> Result<(f64, Vec<usize>)> {
        let count = answers.len() / stride.max(1);
        let shared_modulus = self.operands[2].is_shared();
        let slot = &self.slots[slot];
        slot.copies.synchronize()?;
        let limbs = self.job.bits.div_ceil(64);
        scatter(slot.output.buffer.limbs(), limbs, answers, stride);
        let mut others = Vec::new();
        if let Some((_, flags)) = &slot.residues {
            let flag = |place: usize| flags.words()[if shared_modulus { 0 } else { place }] != 0;
            others.extend((0..count).filter(|&place| flag(place)));
        }
        Ok((f64::from(slot.ended.elapsed_ms(&slot.began)?) / 1e3, others))
    }

    /// Clears the host's memory of a slot that no chunk will come to, while the device computes others.
    pub(crate) fn close(&mut self, slot: usize) {
        self.slots[slot].input.clear();
        self.slots[slot].output.clear();
    }
}

/// Copies rows of `limbs` limbs to answers of `stride` limbs.
pub(crate) fn scatter(rows: &[u64], limbs: usize, answers: &mut [u64], stride: usize) {
    let common = limbs.min(stride);
    answers
        .par_chunks_mut(stride)
        .zip(rows.par_chunks(limbs))
        .with_min_len(LEAST / limbs + 1)
        .for_each(|(answer, row)| answer[..common].copy_from_slice(&row[..common]));
}

/// The chunks of a job, of `size` items, but `edge` of them first and last: before the first chunk is there, the
/// device has nothing to do, and the host has nothing else to do when the last one comes back.
pub(crate) fn chunks(count: usize, size: usize, edge: usize) -> Vec<Range<usize>> {
    let (first, last) = (edge.min(count), count - edge.min(count));
    let last = last.max(first);
    let ends = [0..first, last..count].map(|end| (!end.is_empty()).then_some(end));
    let middle = parts(last - first, size).map(|part| first + part.start..first + part.end);
    let [first, last] = ends;
    first.into_iter().chain(middle).chain(last).collect()
}

/// The parts of a list, of at most `size` items.
pub(crate) fn parts(count: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(size.max(1)).map(move |start| start..count.min(start + size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Cache;
    use crate::emulator::Faults;
    use crate::task::Secrecy;

    /// Kernels leave out digits of zero of an exponent that stands there once: a secret one does not.
    #[test]
    fn a_secret_exponent_of_all_items_is_copied_for_each() {
        let device = Device::emulator_with(Faults::default(), Cache::off());
        let buffer = device.buffer(1024, Contents::Secret).unwrap();
        let exponent = Source::operand(Operand::Shared { bits: 70, value: &[5, 6] });
        for (secrecy, stride) in [(Secrecy::Secret, 0), (Secrecy::Public, 0), (Secrecy::Direct, 4)] {
            let task = Task::power(secrecy, 70, 4).unwrap();
            let source = Source { is_repeated: task.repeats_exponent(), ..exponent };
            assert_eq!(source.numbers(&buffer, 0).stride, stride, "{secrecy:?}");
            let mut rows = vec![1; source.limbs(3)];
            source.gather(&[7, 8, 9], &mut rows);
            assert!(rows.chunks(2).all(|row| row == [5, 6]) && rows.len() == if stride > 0 { 6 } else { 2 });
        }
    }

    #[test]
    fn chunks_cover_everything_once_and_end_small() {
        for (count, size, edge) in
            [(1, 1, 1), (10, 20, 10), (25, 20, 10), (100, 20, 10), (101, 20, 20), (0, 4, 2)]
        {
            let chunks = chunks(count, size, edge);
            let mut end = 0;
            for chunk in &chunks {
                assert_eq!(chunk.start, end);
                assert!(!chunk.is_empty() && chunk.len() <= size.max(edge));
                end = chunk.end;
            }
            assert_eq!(end, count);
            assert!(chunks.first().into_iter().chain(chunks.last()).all(|chunk| chunk.len() <= edge));
        }
    }
}
