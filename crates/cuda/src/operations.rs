//! Operations modulo numbers that kernels hold whole: batches cut into chunks, over all devices.

use crate::backend::{Cuda, Run};
use crate::checks::{check_operands, check_variant};
use crate::error::{Error, Result};
use crate::kernels::Kernels;
use crate::pipeline::{Pipeline, chunks};
use crate::station::Station;
use crate::table::Choice;
use crate::task::{Secrecy, Task};
use crate::variant::Variant;
use modmill_core::{Batch, Family, Job, Op, Operand, limbs};

/// Chunks on a device at a time: one computed, one waiting for it, one copied out.
const IN_FLIGHT: usize = 3;

/// Bytes of operands in a chunk, about: enough to copy at full speed, few enough to start soon.
const CHUNK_BYTES: usize = 16 << 20;

impl Cuda {
    /// `a^b mod N` with secret exponents and bases.
    pub fn pow(&self, job: &Job<'_>) -> Result<Run> {
        // Tables that are not read whole have the times and windows of public exponents.
        let (secrecy, reads) = match self.settings.direct_tables {
            false => (Secrecy::Secret, Op::Pow),
            true => (Secrecy::Direct, Op::PowVartime),
        };
        let choice = self.choice_for(reads, job, job.b.bits())?;
        self.run(choice.variant, Task::power(secrecy, job.b.bits(), choice.window)?, job)
    }

    /// `a^b mod N` with public exponents.
    pub fn pow_vartime(&self, job: &Job<'_>) -> Result<Run> {
        check_operands(job)?;
        let longest = job.items.iter().map(|&item| limbs::bit_length(job.b.get(item))).max().unwrap_or(0);
        let choice = self.choice_for(Op::PowVartime, job, longest)?;
        // A shared exponent skips its zero digits, so that bit by bit a sparse one has fewest products.
        let window = match job.b {
            Operand::Shared { value, .. } => best_shared_window_vartime(value),
            Operand::Each(_) => choice.window,
        };
        self.run(choice.variant, Task::power(Secrecy::Public, longest, window)?, job)
    }

    /// `a b mod N`.
    pub fn mul_mod(&self, job: &Job<'_>) -> Result<Run> {
        self.run(self.choice_for(Op::MulMod, job, 0)?.variant, Task::Multiply, job)
    }

    /// `a^2 mod N`.
    pub fn square_mod(&self, job: &Job<'_>) -> Result<Run> {
        self.run(self.choice_for(Op::SquareMod, job, 0)?.variant, Task::Square, job)
    }

    /// Montgomery products one after the other, `a b^repeat / R^(repeat + 1) mod N`, where R is
    /// `2^radix_bits`: what the arithmetic can do when nothing is copied.
    pub fn multiply_chain(&self, variant: Variant, job: &Job<'_>, repeat: u32) -> Result<Run> {
        self.run(variant, Task::MultiplyChain { repeat }, job)
    }

    /// Montgomery squares one after the other: `a^(2^repeat) / R^(2^repeat) mod N`.
    pub fn square_chain(&self, variant: Variant, job: &Job<'_>, repeat: u32) -> Result<Run> {
        self.run(variant, Task::SquareChain { repeat }, job)
    }

    /// Numbers that the first device computes at once by a variant.
    pub fn wave(&self, variant: Variant) -> Result<usize> {
        let station = self.stations.first().ok_or(Error::NoDevice)?;
        Ok(station.kernels(variant)?.wave())
    }

    /// Powers by one variant and window; exponents are public unless `masked`, where tables are read whole.
    pub fn pow_by(&self, variant: Variant, window: u32, masked: bool, job: &Job<'_>) -> Result<Run> {
        let secrecy = if masked { Secrecy::Secret } else { Secrecy::Public };
        self.run(variant, Task::power(secrecy, job.b.bits(), window)?, job)
    }

    fn choice_for(&self, op: Op, job: &Job<'_>, exponent_bits: usize) -> Result<Choice> {
        self.choose(op, job.bits, job.items.len(), exponent_bits)
            .ok_or_else(|| Error::NoKernel { name: format!("for {op} of {} bits", job.bits) })
    }

    /// Cuts a job into as many parts as there are devices, and computes them at the same time.
    fn run(&self, variant: Variant, task: Task, job: &Job<'_>) -> Result<Run> {
        check_operands(job)?;
        let mut answers = Batch::zeros(job.moduli.bits(), job.items.len());
        if job.items.is_empty() {
            return Ok(Run { answers, kernel_seconds: 0.0 });
        }
        if self.stations.is_empty() {
            return Err(Error::NoDevice);
        }
        check_variant(variant, job)?;
        let stride = answers.stride();
        let kernel_seconds = self.share_out(job.items, &mut answers, |station, items, out| {
            let part = job.part(items);
            let (seconds, others) = run_on(station, variant, task, &part, out, stride)?;
            Ok(seconds + self.run_others(station, variant, task, &part, &others, out, stride)?)
        })?;
        Ok(Run { answers, kernel_seconds })
    }

    /// Computes the items at some places of a job by another family: residues cannot serve moduli that have
    /// a factor in common with their radix.
    #[allow(clippy::too_many_arguments)]
    fn run_others(
        &self,
        station: &Station,
        variant: Variant,
        task: Task,
        job: &Job<'_>,
        places: &[usize],
        answers: &mut [u64],
        stride: usize,
    ) -> Result<f64> {
        if places.is_empty() {
            return Ok(0.0);
        }
        let items: Vec<usize> = places.iter().map(|&place| job.items[place]).collect();
        let other = Variant::candidates(Family::Row, job.bits, &self.limits())
            .into_iter()
            .find(|other| other.family != variant.family)
            .ok_or_else(|| Error::NoKernel { name: format!("for {} bits but by residues", job.bits) })?;
        let mut rows = zeroize::Zeroizing::new(vec![0; items.len() * stride]);
        let (seconds, _) = run_on(station, other, task, &job.part(&items), &mut rows, stride)?;
        for (row, &place) in rows.chunks(stride).zip(places) {
            answers[place * stride..(place + 1) * stride].copy_from_slice(row);
        }
        Ok(seconds)
    }
}

/// Computes a job on one device, chunk by chunk; returns the kernels' seconds, and the places of items that
/// they are not for.
fn run_on(
    station: &Station,
    variant: Variant,
    task: Task,
    job: &Job<'_>,
    answers: &mut [u64],
    stride: usize,
) -> Result<(f64, Vec<usize>)> {
    let kernels = station.kernels(variant)?;
    let count = job.items.len();
    let mut size = chunk_size(&kernels, job).min(count);
    let (chunks, mut pipeline) = loop {
        let chunks = chunks(count, size, size.min(kernels.wave()));
        let slots = IN_FLIGHT.min(chunks.len());
        match Pipeline::new(&station.device, &kernels, task, *job, size, slots) {
            Err(Error::OutOfMemory { .. }) if size > 1 => size = size.div_ceil(2),
            result => break (chunks, result?),
        }
    };
    let mut kernel_seconds = 0.0;
    let mut others = Vec::new();
    // Chunk i is started when chunk i - IN_FLIGHT has left its slot.
    for turn in 0..chunks.len() + IN_FLIGHT {
        if let Some(done) = turn.checked_sub(IN_FLIGHT) {
            let range = &chunks[done];
            let rows = &mut answers[range.start * stride..range.end * stride];
            let (seconds, places) = pipeline.finish(done % IN_FLIGHT, rows, stride)?;
            kernel_seconds += seconds;
            others.extend(places.into_iter().map(|place| range.start + place));
            if turn >= chunks.len() {
                pipeline.close(done % IN_FLIGHT);
            }
        }
        if let Some(range) = chunks.get(turn) {
            pipeline.start(turn % IN_FLIGHT, &job.items[range.clone()])?;
        }
    }
    Ok((kernel_seconds, others))
}

/// Items of a chunk: whole waves, as many as make a copy worth its start.
fn chunk_size(kernels: &Kernels, job: &Job<'_>) -> usize {
    let bits = job.a.bits() + job.b.bits() + job.moduli.bits();
    let wave = kernels.wave();
    wave * CHUNK_BYTES.div_ceil((bits / 8 + 1) * wave).clamp(1, 16)
}

/// The window with the fewest products for a public exponent that all items share: its table, and its
/// digits that are not zero.
pub(crate) fn best_shared_window_vartime(exponent: &[u64]) -> u32 {
    let bits = limbs::bit_length(exponent);
    let cost = |window: u32| {
        let digits = (0..bits).step_by(window as usize);
        (1usize << window) + digits.filter(|&at| limbs::bits_at(exponent, at, window) != 0).count()
    };
    (1..=6).min_by_key(|&window| cost(window)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_exponents_go_bit_by_bit() {
        assert_eq!(best_shared_window_vartime(&[65537]), 1);
        assert_eq!(best_shared_window_vartime(&[u64::MAX; 8]), 5);
        assert_eq!(best_shared_window_vartime(&[]), 1);
    }
}
