//! Batches of long numbers through one device.

use super::barrett::Reduction;
use super::moduli::{LongModuli, SeededModulus};
use super::powers::{Exponents, Powers};
use super::{Factor, Input, Length, Output, Transforms, Work, Workspace, small};
use crate::call::Numbers;
use crate::checks::{check_items, check_lengths};
use crate::device::{Buffer, Contents, Device, HostBuffer, Stream};
use crate::error::{Error, Result};
use crate::pipeline::{self, Chunk, ChunkSizes, Exchange, Footprint, Incoming, Lane, Outgoing, Stages};
use crate::staging::{AnswerRows, Source, Staging, all_pinned, copy_rows, gather_all};
use modmill_core::{Items, Operand};
use std::ops::Range;

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

    /// Every item has its operands, and factors and bases have at most twice the bits of their moduli.
    pub(crate) fn check(&self, items: Items<'_>) -> Result<()> {
        let mut operands: Vec<Operand<'_>> = self.factors().into_iter().flatten().collect();
        if let Some(moduli) = self.moduli {
            let limit = 2 * moduli.bits();
            if let Some(bits) = operands.iter().map(Operand::bits).find(|&bits| bits > limit) {
                return Err(Error::TooLong { what: "a factor or base", bits, limit });
            }
        }
        if let LongTask::Power(exponents) = self.task {
            operands.push(exponents.operand);
        }
        check_items(items, &operands.iter().map(Operand::len).collect::<Vec<_>>())?;
        check_lengths(&operands)
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

    /// Computes items into rows of `stride` limbs on one device, by transforms of a length that holds their products, in
    /// chunks of `chunk` items; returns the kernels' seconds.
    pub(crate) fn run(
        &self,
        lane: Lane<'_>,
        transforms: &Transforms,
        items: Items<'_>,
        answers: &mut [u64],
        stride: usize,
        (length, chunk): (Length, usize),
    ) -> Result<f64> {
        let size = chunk.clamp(1, items.len());
        // The first and the last chunk are small, except where powers keep the device busy for so long that copies do
        // not count.
        let edge = match self.task {
            LongTask::Power(_) => size,
            LongTask::Multiply(_) | LongTask::Square if items.len() <= size => size,
            LongTask::Multiply(_) | LongTask::Square => size.div_ceil(4),
        };
        let sizes = ChunkSizes { size, edge, multiple: 1 };
        let make = |rows: usize| LongStages::new(self, lane.device, transforms, length, rows);
        let answers = AnswerRows { rows: answers, stride, limbs: self.limbs() };
        let mut exchange = LongExchange { inputs: Inputs::new(self), items, answers };
        pipeline::run(lane, items.len(), sizes, make, &mut exchange)
    }

    /// Limbs of an answer's row on the device: whole quads of words.
    fn limbs(&self) -> usize {
        self.bits().div_ceil(64).next_multiple_of(2)
    }

    /// Whether all items share the second factor, so that its transform is kept.
    fn keeps_second(&self) -> Option<Operand<'a>> {
        match self.task {
            LongTask::Multiply(b @ Operand::Shared { .. }) if !self.is_reduced_first(b) => Some(b),
            LongTask::Multiply(_) | LongTask::Square | LongTask::Power(_) => None,
        }
    }
}

/// What is copied in for every chunk: the operands, and the moduli where every item has its own.
struct Inputs<'a> {
    /// The first operand, and the second one unless its transform is kept.
    sources: Vec<Source<'a>>,
    moduli: Option<LongModuli<'a>>,
}

impl<'a> Inputs<'a> {
    fn new(job: &LongJob<'a>) -> Self {
        let mut sources = vec![Source::operand(job.a)];
        match job.task {
            LongTask::Multiply(_) if job.keeps_second().is_some() => {}
            LongTask::Multiply(b) | LongTask::Power(Exponents { operand: b, .. }) => {
                sources.push(Source::operand(b));
            }
            LongTask::Square => {}
        }
        Self { sources, moduli: job.moduli }
    }

    /// Limbs of the operands of `rows` items.
    fn operand_limbs(&self, rows: usize) -> usize {
        self.sources.iter().map(|source| source.limbs(rows)).sum()
    }

    /// Limbs of a modulus and of the first bits of its reciprocal, where every item has its own.
    fn modulus_limbs(&self) -> Option<(usize, usize)> {
        match self.moduli {
            Some(moduli @ LongModuli::Each(_)) => {
                Some((moduli.limbs(), SeededModulus::seed_limbs(moduli.bits()) + 1))
            }
            Some(LongModuli::One(_)) | None => None,
        }
    }

    fn limbs(&self, rows: usize) -> usize {
        self.operand_limbs(rows) + self.modulus_limbs().map_or(0, |(modulus, seed)| rows * (modulus + seed))
    }

    /// Writes the operands of `items`, and then their moduli and seeds.
    fn gather(&self, items: Items<'_>, input: &mut [u64]) {
        let rest = gather_all(&self.sources, items, input);
        if let (Some(LongModuli::Each(moduli)), Some((modulus, seed))) = (self.moduli, self.modulus_limbs()) {
            let (divisors, after) = rest.split_at_mut(modulus * items.len());
            copy_rows(divisors, modulus, |row| moduli[&items.get(row)].divisor());
            copy_rows(&mut after[..seed * items.len()], seed, |row| moduli[&items.get(row)].seed());
        }
    }

    /// Where the operands of `rows` items are on the device.
    fn numbers(&self, rows: usize, inputs: &Buffer) -> [Numbers; 2] {
        let mut numbers = [Numbers::default(); 2];
        let mut start = 0;
        for (source, place) in self.sources.iter().zip(&mut numbers) {
            *place = source.numbers(inputs, start);
            start += source.limbs(rows);
        }
        numbers
    }
}

/// The host's side of a batch.
struct LongExchange<'a> {
    inputs: Inputs<'a>,
    items: Items<'a>,
    answers: AnswerRows<'a>,
}

impl Exchange for LongExchange<'_> {
    fn gather(&mut self, items: Range<usize>, _: usize, input: &mut HostBuffer) {
        self.inputs.gather(self.items.part(items), input.limbs_mut());
    }

    fn scatter(&mut self, items: Range<usize>, output: &mut HostBuffer, _: &[u32]) {
        self.answers.take(items, output.limbs());
    }

    fn scatter_and_gather(&mut self, done: Outgoing<'_>, next: Incoming<'_>) {
        let Self { inputs, items, answers } = self;
        rayon::join(
            || answers.take(done.items, done.output.limbs()),
            || inputs.gather(items.part(next.items), next.input.limbs_mut()),
        );
    }

    fn pinned_inputs(&self, items: Range<usize>) -> Vec<(usize, &[u64])> {
        all_pinned(&self.inputs.sources, self.items.part(items))
    }

    fn pinned_answers(&mut self, items: Range<usize>) -> Option<&mut [u64]> {
        self.answers.pinned(items)
    }
}

/// The device's side: transforms and reductions for chunks of some size.
struct LongStages<'a> {
    job: LongJob<'a>,
    transforms: &'a Transforms,
    length: Length,
    inputs: Inputs<'a>,
    workspace: Workspace,
    /// The transform of a second factor that all items share.
    kept: Option<Buffer>,
    reduction: Option<Reduction>,
    /// Memory for factors that are reduced before they are multiplied.
    reduced: [Option<Buffer>; 2],
    powers: Option<Powers>,
    /// Limbs of an answer's row on the device.
    limbs: usize,
}

impl<'a> LongStages<'a> {
    fn new(
        job: &LongJob<'a>,
        device: &Device,
        transforms: &'a Transforms,
        length: Length,
        size: usize,
    ) -> Result<Self> {
        let contents = Contents::Secret;
        let limbs = job.limbs();
        let set_up = device.stream()?;
        let keep = |b| keep(device, transforms, &set_up, &length, Source::operand(b));
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
        let words = match &reduction {
            Some(reduction) => reduction.words(),
            None => small(2 * job.factors().map(factor_limbs).iter().sum::<usize>().next_multiple_of(2)),
        };
        let finds_reciprocals = matches!(job.moduli, Some(LongModuli::Each(_)));
        let both = !matches!(job.task, LongTask::Square) && kept.is_none() || finds_reciprocals;
        Ok(Self {
            job: *job,
            workspace: transforms.workspace(&length, size, words, both, contents)?,
            transforms,
            length,
            inputs: Inputs::new(job),
            kept,
            reduction,
            reduced: [first?, second?],
            powers,
            limbs,
        })
    }

    /// The second factors of products.
    fn second(&self, numbers: Numbers) -> Factor<'_> {
        match (&self.kept, self.job.task) {
            (Some(kept), _) => Factor::Kept(kept, 1),
            (None, LongTask::Multiply(_)) => Factor::Numbers(numbers),
            (None, LongTask::Square | LongTask::Power(_)) => Factor::Itself,
        }
    }
}

impl Stages for LongStages<'_> {
    fn footprint(&self, rows: usize) -> Footprint {
        Footprint { input_limbs: self.inputs.limbs(rows), output_limbs: self.limbs * rows, flag_words: 0 }
    }

    fn launch(&self, compute: &Stream, chunk: &Chunk<'_>) -> Result<()> {
        let Self { transforms, length, workspace, .. } = self;
        let work = Work { transforms, stream: compute, length, workspace, items: chunk.rows };
        let [a, b] = self.inputs.numbers(chunk.rows, chunk.inputs);
        let mut buffers = vec![chunk.inputs];
        buffers.extend(self.reduced.iter().flatten());
        let input = |numbers: Numbers| Input::plain(numbers, &buffers);
        let output = Output::all(chunk.outputs, small(2 * self.limbs));
        let Some(reduction) = &self.reduction else {
            return transforms.multiply(&work, input(a), self.second(b), output);
        };
        let divisors = reduction.load(&work, chunk.inputs, self.inputs.operand_limbs(chunk.rows))?;
        if let (Some(powers), LongTask::Power(exponents)) = (&self.powers, self.job.task) {
            let digits = (&exponents, (b, chunk.inputs));
            return powers.run(&work, reduction, divisors, input(a), digits, output);
        }
        let factor = |number: Numbers, reduced: &Option<Buffer>| match reduced {
            None => Ok(number),
            Some(buffer) => {
                let to = Output::all(buffer, small(2 * self.limbs));
                reduction.reduce(&work, divisors, input(number), to)?;
                Ok(to.numbers())
            }
        };
        let (a, b) = (factor(a, &self.reduced[0])?, factor(b, &self.reduced[1])?);
        reduction.multiply(&work, divisors, input(a), self.second(b), output)
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
    let limbs = source.limbs(1);
    let mut staging = Staging::new(device, limbs, Contents::Secret)?;
    staging.written(0..limbs);
    source.gather((0..1).into(), &mut staging.buffer.limbs_mut()[..limbs]);
    let words = device.buffer(8 * limbs, Contents::Secret)?;
    stream.copy_in(&staging.buffer, 0..8 * limbs, &words, 0)?;
    let buffers = [&words];
    let input = Input::plain(source.numbers(&words, 0), &buffers);
    let kept = device.buffer(length.bytes(), Contents::Secret)?;
    transforms.keep(stream, length, input, 1, &kept)?;
    stream.synchronize()?;
    Ok(kept)
}
