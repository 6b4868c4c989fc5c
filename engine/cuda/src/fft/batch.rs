//! Batches of long numbers through one device.

use super::barrett::Reduction;
use super::moduli::LongModuli;
use super::powers::{Exponents, Powers};
use super::{Factor, Input, Kept, Length, Output, Transforms, Work, Workspace};
use crate::call::{Numbers, word};
use crate::checks::{check_items, check_lengths};
use crate::device::{Buffer, Contents, Device, Stream};
use crate::error::{Error, Result};
use crate::operands::{Destination, Flags, OperandExchange, Operands};
use crate::pipeline::{self, Chunk, ChunkSizes, Footprint, Lane, Place, Stages};
use crate::staging::{Answers, Source};
use modmill_core::{Items, Operand};

/// An operation on long numbers, modulo others if there are any.
#[derive(Clone, Copy)]
pub(crate) struct LongJob<'a> {
    a: Operand<'a>,
    task: LongTask<'a>,
    moduli: Option<&'a LongModuli>,
}

/// The operation on the first operand, a.
#[derive(Clone, Copy)]
pub(crate) enum LongTask<'a> {
    Multiply(Operand<'a>),
    /// Products with factors whose transforms are on the device.
    MultiplyKept(KeptFactor<'a>),
    Square,
    /// Only modulo a number.
    Power(Exponents<'a>),
}

/// Factors whose transforms are on the device, by the transforms of the job.
#[derive(Clone, Copy)]
pub(crate) struct KeptFactor<'a> {
    /// The transforms, one after the other.
    pub(crate) transforms: &'a Buffer,
    /// Whether there is one for all items.
    pub(crate) is_shared: bool,
    /// Bits of a factor.
    pub(crate) bits: usize,
}

impl<'a> LongJob<'a> {
    /// Full products or squares. A factor that all items share comes second, so that it is transformed once.
    pub(crate) fn new(a: Operand<'a>, task: LongTask<'a>) -> Self {
        match task {
            LongTask::Multiply(b) if a.is_shared() => {
                Self { a: b, task: LongTask::Multiply(a), moduli: None }
            }
            LongTask::Multiply(_) | LongTask::MultiplyKept(_) | LongTask::Square | LongTask::Power(_) => {
                Self { a, task, moduli: None }
            }
        }
    }

    /// This job modulo numbers of at least half the bits of factors and bases.
    pub(crate) fn modulo(self, moduli: &'a LongModuli) -> Self {
        Self { moduli: Some(moduli), ..self }
    }

    /// The factors: a, and another one if there is one.
    fn factors(&self) -> [Option<Operand<'a>>; 2] {
        let second = if let LongTask::Multiply(b) = self.task { Some(b) } else { None };
        [Some(self.a), second]
    }

    /// Every item has its operands, and factors and bases have at most twice the bits of their moduli.
    pub(crate) fn check(&self, items: Items<'_>) -> Result<()> {
        let operands = self.operands();
        if let Some(moduli) = self.moduli {
            let limit = 2 * moduli.bits();
            if let Some(bits) = self.factors().iter().flatten().map(Operand::bits).find(|&bits| bits > limit)
            {
                return Err(Error::TooLong { what: "a factor or base", bits, limit });
            }
        }
        check_items(items, &operands.iter().map(Operand::len).collect::<Vec<_>>())?;
        check_lengths(&operands)
    }

    /// Bits of an answer.
    pub(crate) fn bits(&self) -> usize {
        let second = match self.task {
            LongTask::Multiply(b) => b.bits(),
            LongTask::MultiplyKept(kept) => kept.bits,
            LongTask::Square | LongTask::Power(_) => self.a.bits(),
        };
        self.moduli.map_or(self.a.bits() + second, |moduli| moduli.bits())
    }

    /// Whether a factor is longer than a modulus, and so has to be reduced before it is multiplied. So has
    /// the base of a power, which may be the answer.
    fn is_reduced_first(&self, factor: Operand<'_>) -> bool {
        let is_base = matches!(self.task, LongTask::Power(_));
        self.moduli.is_some_and(|moduli| is_base || factor.bits() > moduli.bits())
    }

    /// The operands of a device: factors, and exponents if there are any.
    pub(crate) fn operands(&self) -> Vec<Operand<'a>> {
        let mut operands: Vec<Operand<'a>> = self.factors().into_iter().flatten().collect();
        if let LongTask::Power(exponents) = self.task {
            operands.push(exponents.operand);
        }
        operands
    }

    /// The numbers that are copied in for every chunk: the first operand, the second one unless its transform
    /// is kept, and the moduli with the first bits of their reciprocals where every item has its own.
    fn inputs(&self, items: Items<'a>) -> Result<Operands<'a, 4>> {
        let second = match self.task {
            LongTask::Multiply(_) if self.keeps_second().is_some() => Source::NONE,
            LongTask::Multiply(b) | LongTask::Power(Exponents { operand: b, .. }) => Source::operand(b)?,
            LongTask::Square | LongTask::MultiplyKept(_) => Source::NONE,
        };
        let [moduli, seeds] = self.moduli.map_or(Ok([Source::NONE; 2]), LongModuli::sources)?;
        Ok(Operands { sources: [Source::operand(self.a)?, second, moduli, seeds], items })
    }

    /// Computes items on one device, by transforms of a length that holds their products, in
    /// chunks of `chunk` items; returns the kernels' seconds.
    pub(crate) fn run(
        &self,
        lane: Lane<'_>,
        transforms: &Transforms,
        items: Items<'_>,
        answers: Answers<'_>,
        (length, chunk): (Length, usize),
    ) -> Result<f64> {
        let size = chunk.clamp(1, items.len());
        // The first and the last chunk are small, except where powers keep the device busy for so long that
        // copies do not count.
        let edge = match self.task {
            LongTask::Power(_) => size,
            _ if items.len() <= size => size,
            LongTask::Multiply(_) | LongTask::MultiplyKept(_) | LongTask::Square => size.div_ceil(4),
        };
        let sizes = ChunkSizes { size, edge, multiple: 1 };
        let inputs = self.inputs(items)?;
        let destination = Destination { rows: answers.destination(), limbs: self.limbs() };
        let make =
            |rows: usize| LongStages::new(self, lane.device, transforms, length, inputs, destination, rows);
        let answers = answers.on_host(items.len(), destination.limbs);
        let mut exchange = OperandExchange::new(inputs, answers, Flags::None);
        pipeline::run(lane, items.len(), sizes, make, &mut exchange)
    }

    /// Limbs of an answer's row on the device: whole quads of words.
    pub(crate) fn limbs(&self) -> usize {
        self.bits().div_ceil(64).next_multiple_of(2)
    }

    /// Whether all items share the second factor, so that its transform is kept.
    fn keeps_second(&self) -> Option<Operand<'a>> {
        match self.task {
            LongTask::Multiply(b) if b.is_shared() && !self.is_reduced_first(b) => Some(b),
            LongTask::Multiply(_) | LongTask::MultiplyKept(_) | LongTask::Square | LongTask::Power(_) => None,
        }
    }
}

/// The device's side: transforms and reductions for chunks of some size.
struct LongStages<'a> {
    job: LongJob<'a>,
    transforms: &'a Transforms,
    length: Length,
    inputs: Operands<'a, 4>,
    destination: Destination<'a>,
    workspace: Workspace,
    /// The transform of a second factor that all items share.
    kept: Option<Buffer>,
    reduction: Option<Reduction>,
    /// Memory for factors that are reduced before they are multiplied.
    reduced: [Option<Buffer>; 2],
    powers: Option<Powers>,
}

impl<'a> LongStages<'a> {
    fn new(
        job: &LongJob<'a>,
        device: &Device,
        transforms: &'a Transforms,
        length: Length,
        inputs: Operands<'a, 4>,
        destination: Destination<'a>,
        size: usize,
    ) -> Result<Self> {
        let contents = Contents::Secret;
        let limbs = destination.limbs;
        let set_up = device.stream()?;
        let keep = |b| keep(device, transforms, &set_up, &length, Source::operand(b)?);
        let kept = job.keeps_second().map(keep).transpose()?;
        let reduce = |moduli| Reduction::new(device, transforms, &set_up, &length, moduli, size);
        let reduction = job.moduli.map(reduce).transpose()?;
        set_up.synchronize()?;
        let [first, second] = job.factors().map(|factor| {
            let is_reduced = factor.is_some_and(|factor| job.is_reduced_first(factor));
            // Bases go to the table.
            (is_reduced && !matches!(job.task, LongTask::Power(_)))
                .then(|| device.buffer(8 * limbs * size, contents))
                .transpose()
        });
        let powers = match (job.task, job.moduli) {
            (LongTask::Power(exponents), Some(moduli)) => {
                Some(Powers::new(device, &exponents, moduli.limbs(), size)?)
            }
            _ => None,
        };
        let factor_limbs = |factor: Option<Operand<'_>>| factor.unwrap_or(job.a).bits().div_ceil(64);
        let words = match (&reduction, job.task) {
            (Some(reduction), _) => reduction.words()?,
            (None, LongTask::MultiplyKept(_)) => word(2 * limbs)?,
            (None, LongTask::Multiply(_) | LongTask::Square | LongTask::Power(_)) => {
                word(2 * job.factors().map(factor_limbs).iter().sum::<usize>().next_multiple_of(2))?
            }
        };
        let finds_reciprocals = matches!(job.moduli, Some(LongModuli::Each(_)));
        let has_one = matches!(job.task, LongTask::Square | LongTask::MultiplyKept(_)) || kept.is_some();
        let both = !has_one || finds_reciprocals;
        Ok(Self {
            job: *job,
            workspace: transforms.workspace(&length, size, words, both, contents)?,
            transforms,
            length,
            inputs,
            destination,
            kept,
            reduction,
            reduced: [first?, second?],
            powers,
        })
    }

    /// The second factors of the products of a chunk.
    fn second(&self, numbers: Numbers, chunk: &Chunk<'_>) -> Factor<'_> {
        match (&self.kept, self.job.task) {
            (Some(kept), _) => Factor::Kept(Kept::all(kept, 1)),
            (None, LongTask::MultiplyKept(KeptFactor { transforms, is_shared: true, .. })) => {
                Factor::Kept(Kept::all(transforms, 1))
            }
            (None, LongTask::MultiplyKept(KeptFactor { transforms, is_shared: false, .. })) => {
                let start = self.length.bytes() * self.inputs.items.get(chunk.first);
                Factor::Kept(Kept { buffer: transforms, start, count: chunk.rows })
            }
            (None, LongTask::Multiply(_)) => Factor::Numbers(numbers),
            (None, LongTask::Square | LongTask::Power(_)) => Factor::Itself,
        }
    }
}

impl Stages for LongStages<'_> {
    fn footprint(&self, rows: usize) -> Footprint {
        self.destination.footprint(&self.inputs, rows)
    }

    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        let Self { transforms, length, workspace, .. } = self;
        let work = Work { transforms, stream: compute, length, workspace, items: chunk.rows };
        let [a, b, moduli, seeds] = self.inputs.numbers(chunk);
        let mut buffers = self.inputs.buffers(chunk);
        buffers.extend(self.reduced.iter().flatten());
        let input = |numbers: Numbers| Input::plain(numbers, &buffers);
        let words = word(2 * self.destination.limbs)?;
        let Place { buffer, start } = self.destination.place(chunk);
        let output = Output { buffer, start, words };
        let Some(reduction) = &self.reduction else {
            return transforms.multiply(&work, input(a), self.second(b, chunk), output);
        };
        let divisors = reduction.load(&work, moduli, seeds, chunk.inputs)?;
        if let (Some(powers), LongTask::Power(exponents)) = (&self.powers, self.job.task) {
            let digits = (&exponents, input(b));
            return powers.run(&work, reduction, divisors, input(a), digits, output);
        }
        let factor = |number: Numbers, reduced: &Option<Buffer>| match reduced {
            None => Ok(number),
            Some(buffer) => {
                let to = Output::all(buffer, words);
                reduction.reduce(&work, divisors, input(number), to)?;
                Ok(to.numbers())
            }
        };
        let (a, b) = (factor(a, &self.reduced[0])?, factor(b, &self.reduced[1])?);
        reduction.multiply(&work, divisors, input(a), self.second(b, chunk), output)
    }
}

/// The transform of a number that all items share.
fn keep(
    device: &Device,
    transforms: &Transforms,
    stream: &Stream,
    length: &Length,
    source: Source<'_>,
) -> Result<Buffer> {
    let kept = device.buffer(length.bytes(), Contents::Secret)?;
    let uploaded = source.upload(device)?;
    let buffers = [source.rows().map_or(&uploaded, |rows| &rows.buffer)];
    let input = Input::plain(source.numbers(&uploaded, 0, 0), &buffers);
    transforms.keep(stream, length, input, 1, &kept)?;
    Ok(kept)
}
