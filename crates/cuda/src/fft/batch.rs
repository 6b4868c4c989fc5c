//! Batches of long numbers through one device, chunk by chunk: while one chunk is computed, the next is copied in
//! and the last one copied out.

use super::barrett::{LongModuli, Reduction, SeededModulus};
use super::powers::{Exponents, Powers};
use super::{Chunk, Factor, Input, Length, Output, Transforms, Workspace, small};
use crate::checks::{check_long_items, check_long_moduli};
use crate::device::{Buffer, Contents, Device, Event, Stream};
use crate::error::{Error, Result};
use crate::kernels::Numbers;
use crate::pipeline::{Source, Staging, chunks, copy_rows, scatter};
use modmill_core::Operand;

/// Chunks on a device at a time: one computed, one waiting for it, one copied out.
const IN_FLIGHT: usize = 3;

/// Bytes of points of a chunk, about: all multiprocessors are to be busy several times over, and the next chunk to
/// be copied meanwhile.
const CHUNK_BYTES: usize = 128 << 20;

/// An operation on long numbers, modulo others if there are any.
#[derive(Clone, Copy)]
pub(crate) struct LongJob<'a> {
    a: Operand<'a>,
    task: LongTask<'a>,
    moduli: Option<LongModuli<'a>>,
}

/// What is computed from a.
#[derive(Clone, Copy)]
pub(crate) enum LongTask<'a> {
    Multiply(Operand<'a>),
    Square,
    /// Only modulo a number.
    Power(Exponents<'a>),
}

impl<'a> LongJob<'a> {
    /// Full products or squares. A factor that all items share comes second, so that it is transformed once.
    pub(crate) fn new(a: Operand<'a>, task: LongTask<'a>) -> Self {
        match (a, task) {
            (Operand::Shared { .. }, LongTask::Multiply(b)) => {
                Self { a: b, task: LongTask::Multiply(a), moduli: None }
            }
            _ => Self { a, task, moduli: None },
        }
    }

    /// The same modulo numbers of at least half the bits of factors and bases.
    pub(crate) fn modulo(self, moduli: LongModuli<'a>) -> Self {
        Self { moduli: Some(moduli), ..self }
    }

    /// The factors: a, and another one if there is one.
    fn factors(&self) -> [Option<Operand<'a>>; 2] {
        let second = if let LongTask::Multiply(b) = self.task { Some(b) } else { None };
        [Some(self.a), second]
    }

    /// Every item has its operands and its modulus, of lengths that transforms have.
    pub(crate) fn check(&self, items: &[usize]) -> Result<()> {
        let factors: Vec<Operand<'_>> = self.factors().into_iter().flatten().collect();
        check_long_items(items, &factors)?;
        if let LongTask::Power(exponents) = self.task {
            check_long_items(items, &[exponents.operand])?;
        }
        self.moduli.map_or(Ok(()), |moduli| check_long_moduli(items, moduli, &factors))
    }

    /// Bits of an answer.
    pub(crate) fn bits(&self) -> usize {
        let [_, second] = self.factors();
        self.moduli.map_or(self.a.bits() + second.unwrap_or(self.a).bits(), |moduli| moduli.bits())
    }

    /// Whether a factor is longer than a modulus, and so has to be reduced before it is multiplied. So has the base of
    /// a power, which may be the answer.
    fn is_reduced_first(&self, factor: Operand<'_>) -> bool {
        let is_base = matches!(self.task, LongTask::Power(_));
        self.moduli.is_some_and(|moduli| is_base || factor.bits() > moduli.bits())
    }

    fn length(&self) -> Length {
        match self.moduli {
            // Quotients are sums of two numbers, digit by digit.
            Some(moduli) => Length::new(64 * moduli.limbs(), 64 * moduli.limbs(), 2),
            None => {
                let [_, second] = self.factors();
                Length::new(self.a.bits(), second.unwrap_or(self.a).bits(), 1)
            }
        }
    }

    /// Computes items into rows of `stride` limbs; returns the kernels' seconds. Tables are made on the way, so that memory
    /// may run out when chunks have begun: all of them begin again then, smaller.
    pub(crate) fn run(
        &self,
        device: &Device,
        transforms: &Transforms,
        items: &[usize],
        answers: &mut [u64],
        stride: usize,
    ) -> Result<f64> {
        let mut size = (CHUNK_BYTES / (2 * self.length().bytes())).clamp(1, items.len());
        loop {
            match self.run_in_chunks(device, transforms, items, answers, stride, size) {
                Err(Error::OutOfMemory { .. }) if size > 1 => size = size.div_ceil(2),
                result => return result,
            }
        }
    }

    fn run_in_chunks(
        &self,
        device: &Device,
        transforms: &Transforms,
        items: &[usize],
        answers: &mut [u64],
        stride: usize,
        size: usize,
    ) -> Result<f64> {
        // Small ones first and last: the device waits for the first, and the host for the last. Powers keep
        // devices busy for so long that copies do not count.
        let edge = match self.task {
            _ if items.len() <= size => size,
            LongTask::Power(_) => size,
            _ => size.div_ceil(4),
        };
        let chunks = chunks(items.len(), size, edge);
        let mut run = LongRun::new(self, device, transforms, self.length(), size, chunks.len())?;
        let mut seconds = 0.0;
        for turn in 0..chunks.len() + IN_FLIGHT {
            if let Some(done) = turn.checked_sub(IN_FLIGHT).filter(|&done| done < chunks.len()) {
                let range = &chunks[done];
                let rows = &mut answers[range.start * stride..range.end * stride];
                seconds += run.finish(done % IN_FLIGHT, rows, stride)?;
            }
            if let Some(range) = chunks.get(turn) {
                run.start(turn % IN_FLIGHT, &items[range.clone()])?;
            }
        }
        Ok(seconds)
    }
}

/// A device made ready for chunks of some size.
struct LongRun<'a> {
    job: LongJob<'a>,
    transforms: &'a Transforms,
    length: Length,
    /// What is copied in for every chunk, before moduli: a, and what each item has beside it.
    sources: Vec<Source<'a>>,
    workspace: Workspace,
    kept: Option<Buffer>,
    reduction: Option<Reduction>,
    /// Factors that were reduced.
    reduced: [Option<Buffer>; 2],
    powers: Option<Powers>,
    compute: Stream,
    /// Limbs of an answer's row on the device.
    limbs: usize,
    slots: Vec<Slot>,
}

struct Slot {
    copies: Stream,
    input: Staging,
    output: Staging,
    inputs: Buffer,
    results: Buffer,
    copied: Event,
    began: Event,
    ended: Event,
}

impl<'a> LongRun<'a> {
    fn new(
        job: &LongJob<'a>,
        device: &Device,
        transforms: &'a Transforms,
        length: Length,
        size: usize,
        chunks: usize,
    ) -> Result<Self> {
        let contents = Contents::Secret;
        let modulus_limbs = job.moduli.map(|moduli| moduli.limbs());
        // Rows of answers on the device are whole quads of words.
        let limbs = job.bits().div_ceil(64).next_multiple_of(2);
        let compute = device.stream()?;
        let mut sources = vec![Source::operand(job.a)];
        let mut kept = None;
        match job.task {
            LongTask::Multiply(b @ Operand::Shared { .. }) if !job.is_reduced_first(b) => {
                kept = Some(keep(device, transforms, &compute, &length, Source::operand(b))?);
            }
            LongTask::Multiply(b) | LongTask::Power(Exponents { operand: b, .. }) => {
                sources.push(Source::operand(b))
            }
            LongTask::Square => {}
        }
        let reduce = |moduli| Reduction::new(device, transforms, &compute, &length, moduli, size);
        let reduction = job.moduli.map(reduce).transpose()?;
        let [first, second] = job.factors().map(|factor| {
            let is_reduced = factor.is_some_and(|factor| job.is_reduced_first(factor));
            // Bases go to the table.
            (is_reduced && !matches!(job.task, LongTask::Power(_)))
                .then(|| device.buffer(8 * limbs * size, contents))
                .transpose()
        });
        let powers = match (job.task, modulus_limbs) {
            (LongTask::Power(exponents), Some(limbs)) => Some(Powers::new(device, &exponents, limbs, size)?),
            _ => None,
        };
        let factor_limbs = |factor: Option<Operand<'_>>| factor.unwrap_or(job.a).bits().div_ceil(64);
        let words = match &reduction {
            Some(reduction) => reduction.words(),
            None => small(2 * job.factors().map(factor_limbs).iter().sum::<usize>().next_multiple_of(2)),
        };
        let finds_reciprocals = matches!(job.moduli, Some(LongModuli::Each(_)));
        let both = !matches!(job.task, LongTask::Square) && kept.is_none() || finds_reciprocals;
        let moduli_limbs = match job.moduli {
            Some(LongModuli::Each(_)) => {
                size * (job.bits().div_ceil(64) + SeededModulus::seed_limbs(job.bits()) + 1)
            }
            _ => 0,
        };
        let input_limbs = sources.iter().map(|source| source.limbs(size)).sum::<usize>() + moduli_limbs;
        let slot = |_| {
            Ok(Slot {
                copies: device.stream()?,
                input: Staging::new(device, input_limbs, contents)?,
                output: Staging::new(device, limbs * size, contents)?,
                inputs: device.buffer(8 * input_limbs.max(1), contents)?,
                results: device.buffer(8 * limbs * size, contents)?,
                copied: device.event()?,
                began: device.event()?,
                ended: device.event()?,
            })
        };
        Ok(Self {
            job: *job,
            workspace: transforms.workspace(&length, size, words, both, contents)?,
            slots: (0..IN_FLIGHT.min(chunks)).map(slot).collect::<Result<_>>()?,
            transforms,
            length,
            sources,
            kept,
            reduction,
            reduced: [first?, second?],
            powers,
            compute,
            limbs,
        })
    }

    fn start(&mut self, slot: usize, items: &[usize]) -> Result<()> {
        let places = self.copy_in(slot, items)?;
        self.compute(&self.slots[slot], &places, items.len())?;
        let slot = &mut self.slots[slot];
        slot.copies.wait(&slot.ended)?;
        slot.copies.copy_out(&slot.results, 0..8 * self.limbs * items.len(), &mut slot.output.buffer, 0)
    }

    /// Gathers items and copies them to the device; says where they will be.
    fn copy_in(&mut self, slot: usize, items: &[usize]) -> Result<Places> {
        let slot = &mut self.slots[slot];
        let mut places = Places { numbers: [Numbers::default(); 2], moduli: 0 };
        let mut end = 0;
        for (source, place) in self.sources.iter().zip(&mut places.numbers) {
            let start = end;
            end += source.limbs(items.len());
            source.gather(items, &mut slot.input.buffer.limbs_mut()[start..end]);
            *place = source.numbers(&slot.inputs, start);
        }
        places.moduli = end;
        if let Some(LongModuli::Each(moduli)) = self.job.moduli {
            let bits = self.job.bits();
            let (limbs, seed) = (bits.div_ceil(64), SeededModulus::seed_limbs(bits) + 1);
            let (start, middle) = (end, end + limbs * items.len());
            end = middle + seed * items.len();
            let rows = slot.input.buffer.limbs_mut();
            copy_rows(&mut rows[start..middle], limbs, |row| moduli[&items[row]].divisor());
            copy_rows(&mut rows[middle..end], seed, |row| moduli[&items[row]].seed());
        }
        slot.copies.copy_in(&slot.input.buffer, 0..8 * end, &slot.inputs, 0)?;
        slot.copied.record(&slot.copies)?;
        self.compute.wait(&slot.copied)?;
        Ok(places)
    }

    /// Sets the device to work on a chunk.
    fn compute(&self, slot: &Slot, places: &Places, items: usize) -> Result<()> {
        let Self { transforms, compute, length, workspace, .. } = self;
        let chunk = Chunk { transforms, stream: compute, length, workspace, items };
        let [a, b] = places.numbers;
        let mut buffers = vec![&slot.inputs];
        buffers.extend(self.reduced.iter().flatten());
        let input = |numbers: Numbers| Input::plain(numbers, &buffers);
        let output = Output::all(&slot.results, small(2 * self.limbs));
        slot.began.record(compute)?;
        match &self.reduction {
            None => transforms.multiply(&chunk, input(a), self.second(b), output)?,
            Some(reduction) => {
                let divisors = reduction.load(&chunk, &slot.inputs, places.moduli)?;
                match (&self.powers, self.job.task) {
                    (Some(powers), LongTask::Power(exponents)) => {
                        let digits = (&exponents, (b, &slot.inputs));
                        powers.run(&chunk, reduction, divisors, input(a), digits, output)?;
                    }
                    _ => {
                        let factor = |number: Numbers, reduced: &Option<Buffer>| match reduced {
                            None => Ok(number),
                            Some(buffer) => {
                                let to = Output::all(buffer, small(2 * self.limbs));
                                reduction.reduce(&chunk, divisors, input(number), to)?;
                                Ok(to.numbers())
                            }
                        };
                        let (a, b) = (factor(a, &self.reduced[0])?, factor(b, &self.reduced[1])?);
                        reduction.multiply(&chunk, divisors, input(a), self.second(b), output)?;
                    }
                }
            }
        }
        slot.ended.record(compute)
    }

    /// The second factors, which are these numbers if they are numbers.
    fn second(&self, numbers: Numbers) -> Factor<'_> {
        match (&self.kept, self.job.task) {
            (Some(kept), _) => Factor::Kept(kept, 1),
            (None, LongTask::Multiply(_)) => Factor::Numbers(numbers),
            _ => Factor::Itself,
        }
    }

    fn finish(&mut self, slot: usize, answers: &mut [u64], stride: usize) -> Result<f64> {
        let slot = &self.slots[slot];
        slot.copies.synchronize()?;
        scatter(slot.output.buffer.limbs(), self.limbs, answers, stride);
        Ok(f64::from(slot.ended.elapsed_ms(&slot.began)?) / 1e3)
    }
}

/// Where the numbers of a chunk are on the device.
struct Places {
    numbers: [Numbers; 2],
    /// The limb of the inputs that moduli begin at, if every item has one.
    moduli: usize,
}

/// The transform of a number that all items share.
fn keep(
    device: &Device,
    transforms: &Transforms,
    stream: &Stream,
    length: &Length,
    source: Source<'_>,
) -> Result<Buffer> {
    let limbs = source.limbs(1);
    let mut staging = Staging::new(device, limbs, Contents::Secret)?;
    source.gather(&[0], &mut staging.buffer.limbs_mut()[..limbs]);
    let words = device.buffer(8 * limbs, Contents::Secret)?;
    stream.copy_in(&staging.buffer, 0..8 * limbs, &words, 0)?;
    let buffers = [&words];
    let input = Input::plain(source.numbers(&words, 0), &buffers);
    let kept = device.buffer(length.bytes(), Contents::Secret)?;
    transforms.keep(stream, length, input, 1, &kept)?;
    stream.synchronize()?;
    Ok(kept)
}
