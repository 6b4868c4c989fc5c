//! The backend: batches cut into chunks, over all GPUs.

use crate::device::{Device, Gpus, prefer_large_pages};
use crate::error::{Error, Result};
use crate::fft::Transforms;
use crate::kernels::Kernels;
use crate::pipeline::{Pipeline, chunks};
use crate::table::{Choice, Table};
use crate::task::Task;
use crate::variant::Variant;
use modmill_core::{Backend, Batch, Family, Job, Op, Operand, Plan, limbs};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What a caller may fix; the rest is chosen by measurement.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Use this family of algorithms.
    pub family: Option<Family>,
    /// Use this variant for the sizes it is for, whatever was measured.
    pub variant: Option<Variant>,
    /// Let addresses of table reads depend on secret exponents. The instructions are the same for every
    /// key all the same; what is read is not.
    pub direct_tables: bool,
    /// What was measured on this machine; what was measured on an H200 by default.
    pub table: Option<Table>,
}

/// GPUs, and the kernels they have loaded.
pub struct Cuda {
    pub(crate) stations: Vec<Station>,
    pub(crate) settings: Settings,
    table: Table,
    warnings: Vec<String>,
}

pub(crate) struct Station {
    pub(crate) device: Device,
    kernels: Mutex<HashMap<Variant, Kernels>>,
    transforms: Mutex<Option<Arc<Transforms>>>,
}

impl Station {
    pub(crate) fn kernels(&self, variant: Variant) -> Result<Kernels> {
        let known = self.kernels.lock().unwrap_or_else(PoisonError::into_inner).get(&variant).cloned();
        if let Some(kernels) = known {
            return Ok(kernels);
        }
        let kernels = Kernels::load(&self.device, variant)?;
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner).insert(variant, kernels.clone());
        Ok(kernels)
    }

    pub(crate) fn transforms(&self) -> Result<Arc<Transforms>> {
        let mut transforms = self.transforms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(transforms) = &*transforms {
            return Ok(transforms.clone());
        }
        Ok(transforms.insert(Arc::new(Transforms::load(&self.device)?)).clone())
    }
}

/// Answers, and how long the devices computed.
#[derive(Debug)]
pub struct Run {
    /// The answers, in the order of the job's items.
    pub answers: Batch,
    /// Seconds in kernels, without copies; of the slowest device.
    pub kernel_seconds: f64,
}

/// The environment variable that names devices.
const DEVICES: &str = "MODMILL_CUDA_DEVICES";

/// Chunks on a device at a time: one computed, one waiting for it, one copied out.
const IN_FLIGHT: usize = 3;

/// Bytes of operands in a chunk, about: enough to copy at full speed, few enough to start soon.
const CHUNK_BYTES: usize = 16 << 20;

impl Cuda {
    /// The GPUs of this machine, or those that `MODMILL_CUDA_DEVICES` names; `emulator` there is the
    /// emulated device. What was measured on the first of them is used if it is where `modmill tune`
    /// leaves it.
    pub fn open(mut settings: Settings) -> Result<Self> {
        let Gpus { devices, failed } = match std::env::var(DEVICES) {
            Ok(name) if name == "emulator" => Gpus { devices: vec![Device::emulator()], failed: Vec::new() },
            _ => Device::gpus()?,
        };
        let mut warnings: Vec<String> = failed.iter().map(Error::to_string).collect();
        if let (None, Some(device)) = (&settings.table, devices.first()) {
            match Table::tuned(&device.properties().name) {
                Ok(table) => settings.table = table,
                Err(warning) => warnings.push(warning),
            }
        }
        Ok(Self { warnings, ..Self::on(devices, settings) })
    }

    /// These devices.
    #[must_use]
    pub fn on(devices: Vec<Device>, settings: Settings) -> Self {
        let station = |device| Station { device, kernels: Mutex::default(), transforms: Mutex::default() };
        let table = settings.table.clone().unwrap_or_else(Table::shipped);
        let stations = devices.into_iter().map(station).collect();
        Self { stations, settings, table, warnings: Vec::new() }
    }

    /// The devices.
    pub fn devices(&self) -> impl Iterator<Item = &Device> {
        self.stations.iter().map(|station| &station.device)
    }

    /// What it chooses by.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// What went wrong without stopping anything: GPUs, measurements or a cache that cannot be used.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        warnings.extend(self.devices().flat_map(Device::warnings));
        warnings.dedup();
        warnings
    }

    /// The families it chooses among.
    #[must_use]
    pub fn families(&self) -> Vec<Family> {
        match self.settings.family {
            Some(family) => vec![family],
            None => FAMILIES.to_vec(),
        }
    }

    /// Whether it has an operation: those that are made of modular products, and full products by transforms.
    #[must_use]
    pub fn has(&self, op: Op) -> bool {
        match op {
            Op::Mul | Op::Square => self.settings.family.is_none_or(|family| family == Family::Fft),
            Op::Pow | Op::PowVartime | Op::MulMod | Op::SquareMod => true,
            _ => false,
        }
    }

    /// About how many seconds a batch takes here; `None` if no kernel is for it.
    #[must_use]
    pub fn seconds(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> Option<f64> {
        match op {
            Op::Mul | Op::Square => self.long_seconds(op, bits, count, 0),
            _ => self
                .long_seconds(op, bits, count, exponent_bits)
                .or_else(|| Some(self.choose(op, bits, count, exponent_bits)?.seconds)),
        }
    }

    /// How a batch would be computed here, and in how many seconds; `None` if no kernel is for it.
    #[must_use]
    pub fn choose(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> Option<Choice> {
        let per_device = count.div_ceil(self.stations.len().max(1));
        let choices = self.choices(op, bits, per_device, exponent_bits);
        choices.into_iter().next()
    }

    pub(crate) fn choices(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> Vec<Choice> {
        let mut choices = self.table.choices(op, bits, count, exponent_bits);
        if let Some(family) = self.settings.family {
            choices.retain(|choice| choice.variant.family == family);
            if choices.is_empty() {
                // Never measured: any layout, a guess for its time.
                let guess = |variant| Choice { variant, window: 4, seconds: f64::INFINITY };
                choices.extend(Variant::candidates(family, bits).into_iter().map(guess));
            }
        }
        if let Some(forced) = self.settings.variant
            && let Some(variant) = Variant::new(forced.family, bits, forced.layout)
        {
            let (window, seconds) =
                choices.first().map_or((4, 0.0), |choice| (choice.window, choice.seconds));
            return vec![Choice { variant, window, seconds }];
        }
        choices
    }

    /// How a batch of this shape will be computed, and why.
    #[must_use]
    pub fn plan(&self, op: Op, bits: usize, count: usize, exponent_bits: usize) -> Option<Plan> {
        if matches!(op, Op::Mul | Op::Square) || self.is_by_transforms(op, bits, count, exponent_bits) {
            return self.long_plan(op, bits, count, exponent_bits);
        }
        let choices = self.choices(op, bits, count.div_ceil(self.stations.len().max(1)), exponent_bits);
        let best = choices.first()?;
        let describe = |choice: &Choice| {
            let Variant { family, layout, .. } = choice.variant;
            format!(
                "{family} with {} thread{} a number",
                layout.threads,
                if layout.threads == 1 { "" } else { "s" }
            )
        };
        // The best way of every other family.
        let mut named = vec![best.variant.family];
        let mut others = Vec::new();
        for choice in &choices[1..] {
            if !named.contains(&choice.variant.family) {
                named.push(choice.variant.family);
                others.push(format!("{} {:.1} x the time", describe(choice), choice.seconds / best.seconds));
            }
        }
        let reason = if best.seconds.is_finite() {
            let others = if others.is_empty() { "nothing else was measured" } else { &others.join(", ") };
            let (seconds, device) = (best.seconds * 1e3, &self.table.device);
            format!(
                "{} takes about {seconds:.2} ms, by what was measured on {device}: {others}",
                describe(best)
            )
        } else {
            format!("{}, as asked for; it was not measured at this size", describe(best))
        };
        Some(Plan {
            op,
            bits,
            count,
            backend: Backend::Cuda,
            isa: None,
            family: best.variant.family,
            lanes: 1,
            threads: best.variant.layout.threads as usize,
            window: matches!(op, Op::Pow | Op::PowVartime).then_some(best.window),
            reason,
        })
    }

    /// `a^b mod N` with secret exponents and bases.
    pub fn pow(&self, job: &Job<'_>) -> Result<Run> {
        let masked = !self.settings.direct_tables;
        // Tables that are not read whole have the times and windows of public exponents.
        let reads = if masked { Op::Pow } else { Op::PowVartime };
        let choice = self.choice_for(reads, job, job.b.bits())?;
        let exponent_bits = u32::try_from(job.b.bits()).unwrap_or(u32::MAX);
        self.run(choice.variant, Task::Power { masked, exponent_bits, window: choice.window }, job)
    }

    /// `a^b mod N` with public exponents.
    pub fn pow_vartime(&self, job: &Job<'_>) -> Result<Run> {
        let longest = job.items.iter().map(|&item| limbs::bit_length(job.b.get(item))).max().unwrap_or(0);
        let choice = self.choice_for(Op::PowVartime, job, longest)?;
        // A shared exponent skips its zero digits, so that bit by bit a sparse one has fewest products.
        let window = match job.b {
            Operand::Shared { value, .. } => best_shared_window_vartime(value),
            Operand::Each(_) => choice.window,
        };
        let exponent_bits = u32::try_from(longest).unwrap_or(u32::MAX);
        self.run(choice.variant, Task::Power { masked: false, exponent_bits, window }, job)
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

    /// Powers by one variant and window; tables are read whole if `masked`.
    pub fn pow_by(&self, variant: Variant, window: u32, masked: bool, job: &Job<'_>) -> Result<Run> {
        let exponent_bits = u32::try_from(job.b.bits()).unwrap_or(u32::MAX);
        self.run(variant, Task::Power { masked, exponent_bits, window }, job)
    }

    fn choice_for(&self, op: Op, job: &Job<'_>, exponent_bits: usize) -> Result<Choice> {
        self.choose(op, job.bits, job.items.len(), exponent_bits)
            .ok_or_else(|| Error::NoKernel { name: format!("for {op} of {} bits", job.bits) })
    }

    /// Cuts a job into as many parts as there are devices, and computes them at the same time.
    fn run(&self, variant: Variant, task: Task, job: &Job<'_>) -> Result<Run> {
        let mut answers = Batch::zeros(job.moduli.bits(), job.items.len());
        if job.items.is_empty() || self.stations.is_empty() {
            return if job.items.is_empty() {
                Ok(Run { answers, kernel_seconds: 0.0 })
            } else {
                Err(Error::NoDevice)
            };
        }
        let stride = answers.stride();
        let kernel_seconds = self.share_out(job.items, &mut answers, |station, items, out| {
            let part = job.part(items);
            let (seconds, others) = run_on(station, variant, task, &part, out, stride)?;
            Ok(seconds + self.run_others(station, variant, task, &part, &others, out, stride)?)
        })?;
        Ok(Run { answers, kernel_seconds })
    }

    /// Has every device compute a part of the items, into its part of the answers; returns the most seconds
    /// of a device.
    pub(crate) fn share_out(
        &self,
        items: &[usize],
        answers: &mut Batch,
        work: impl Fn(&Station, &[usize], &mut [u64]) -> Result<f64> + Sync,
    ) -> Result<f64> {
        let share = items.len().div_ceil(self.stations.len()).max(1);
        let stride = answers.stride();
        prefer_large_pages(answers.as_limbs_mut());
        let mut parts = self
            .stations
            .iter()
            .zip(items.chunks(share))
            .zip(answers.as_limbs_mut().chunks_mut(share * stride));
        let work = |((station, items), out): ((&Station, &[usize]), &mut [u64])| work(station, items, out);
        std::thread::scope(|scope| {
            let own = parts.next();
            let others: Vec<_> = parts.map(|part| scope.spawn(|| work(part))).collect();
            let mut slowest: f64 = own.map_or(Ok(0.0), work)?;
            for other in others {
                let lost = |_| Err(Error::Lost { reason: "its thread ended early".to_owned() });
                slowest = f64::max(slowest, other.join().unwrap_or_else(lost)?);
            }
            Ok(slowest)
        })
    }
}

impl Cuda {
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
        let other = Variant::candidates(Family::Row, job.bits)
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

/// The families that there are kernels for.
pub const FAMILIES: [Family; 6] =
    [Family::Row, Family::TwoPass, Family::Wide, Family::Narrow, Family::Rns, Family::Fft];

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
