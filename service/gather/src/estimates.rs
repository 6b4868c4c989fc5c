//! How long operations take, by the engine's own plans and by what was measured since.

use crate::Class;
use modmill::{Backend, Engine, Op, Plan, Request};
use modmill_core::sync::{Mutex, RwLock};
use modmill_rsa::Rsa;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Groups of lanes whose time is asked for: enough that a batch's constant part does not show.
const GROUPS: usize = 16;

/// The largest batch that a GPU is asked about.
const GPU_MOST: usize = 1 << 16;

/// How long an estimate of a GPU holds: kernels may be compiled meanwhile.
const GPU_AGE: Duration = Duration::from_secs(5);

/// Time of a private operation besides its two powers, and of a public one besides its power.
const AROUND: f64 = 1.1;

/// The estimated cost of a class of operations.
#[derive(Debug, Clone, Copy)]
pub struct Estimate {
    /// Items that a worker of the CPU computes in the time of one.
    pub group: usize,
    /// Seconds that a worker of the CPU takes for an item in a batch of whole groups.
    pub item_seconds: f64,
    /// The GPU, if there is one that computes such operations.
    pub gpu: Option<GpuEstimate>,
}

/// The estimated cost of a class of operations on the GPU.
#[derive(Debug, Clone, Copy)]
pub struct GpuEstimate {
    /// The least number of items that the GPU finishes before all workers of the CPU do; `usize::MAX` if it
    /// finishes none before them.
    pub least: usize,
    /// Items that take no longer than the bound.
    pub most: usize,
    /// Items in a second.
    pub rate: f64,
    /// Seconds of a batch of one item.
    pub start: f64,
}

impl GpuEstimate {
    /// Seconds of a batch.
    fn seconds(&self, items: usize) -> f64 {
        self.start + items as f64 / self.rate
    }
}

impl Estimate {
    /// Items of a batch that takes `seconds`: whole groups, and one at least.
    #[must_use]
    pub fn most(&self, seconds: f64) -> usize {
        let groups = (seconds / (self.item_seconds * self.group as f64)) as usize;
        groups.max(1) * self.group
    }

    /// Items of a batch, `most` at the most, when `waiting` wait and `threads` are free to take them.
    ///
    /// Two batches of whole groups and a rest take as long as one batch of all items. The whole groups have
    /// their answers earlier, and the rest may be joined by others.
    #[must_use]
    pub fn share(&self, waiting: usize, threads: usize, most: usize) -> usize {
        let share = waiting.div_ceil(threads.max(1)).next_multiple_of(self.group).min(most);
        match waiting {
            waiting if waiting <= self.group => waiting,
            // A group that is not full takes as long as a full one: it is left to be filled.
            waiting if share > waiting => waiting - waiting % self.group,
            _ => share,
        }
    }

    /// Whether the GPU answers `items` items sooner than all workers of the CPU, which other work slows down
    /// as it did lately. A class that the GPU has goes back to the CPU when the GPU takes twice as long, so
    /// that it does not go to and fro.
    #[must_use]
    pub fn is_gpu_sooner(&self, items: usize, workers: usize, has_gpu: bool) -> bool {
        let cpu = items as f64 * self.item_seconds / workers as f64;
        self.gpu.is_some_and(|gpu| cpu >= if has_gpu { 0.5 } else { 1.0 } * gpu.seconds(items))
    }

    /// Seconds that a thread of the CPU takes for a group of lanes.
    #[must_use]
    pub fn group_seconds(&self) -> f64 {
        self.group as f64 * self.item_seconds
    }

    /// Seconds that one item waits in a full queue, with all who compute.
    #[must_use]
    pub fn seconds(&self, items: usize, workers: usize) -> f64 {
        // A GPU that pays for no batch has only what the configuration gives it.
        let gpu = self.gpu.filter(|gpu| gpu.least < usize::MAX);
        let rate = workers as f64 / self.item_seconds + gpu.map_or(0.0, |gpu| gpu.rate);
        items as f64 / rate
    }
}

/// The estimates of all classes.
pub struct Estimates {
    /// The estimates of the plans.
    planned: RwLock<BTreeMap<Class, (Estimate, Instant)>>,
    /// Measured seconds as a multiple of planned ones, on the CPU and on the GPU.
    scales: Mutex<BTreeMap<Class, [f64; 2]>>,
    workers: usize,
    gpu_seconds: f64,
}

impl Estimates {
    /// No estimates yet, for `workers` threads of the CPU. A batch on a GPU may take `gpu_seconds`.
    #[must_use]
    pub fn new(workers: usize, gpu_seconds: f64) -> Self {
        Self { planned: RwLock::default(), scales: Mutex::default(), workers, gpu_seconds }
    }

    /// The estimate of a class, without planning.
    #[must_use]
    pub fn get(&self, class: Class) -> Option<Estimate> {
        let (planned, _) = *self.planned.read().get(&class)?;
        let scales = self.scales.lock();
        let [cpu, gpu] = scales.get(&class).copied().unwrap_or([1.0; 2]);
        let gpu = planned.gpu.map(|of| GpuEstimate { rate: of.rate / gpu, start: of.start * gpu, ..of });
        Some(Estimate { item_seconds: planned.item_seconds * cpu, gpu, ..planned })
    }

    /// The estimate of a class. `cpu` is the engine of one worker, `gpu` the engine with GPUs if there are
    /// any.
    #[must_use]
    pub fn of(&self, class: Class, cpu: &Engine, gpu: Option<&Engine>) -> Estimate {
        let made = self.planned.read().get(&class).map(|(_, made)| *made);
        if made.is_none_or(|made| gpu.is_some() && made.elapsed() > GPU_AGE) {
            let estimate = self.plan(class, cpu, gpu);
            let mut planned = self.planned.write();
            planned.insert(class, (estimate, Instant::now()));
        }
        self.get(class).unwrap_or(Estimate { group: 1, item_seconds: 1e-3, gpu: None })
    }

    /// Learns that `items` items took `seconds` on a worker of the CPU.
    pub fn learn(&self, class: Class, items: usize, seconds: f64) {
        let planned = self.planned.read().get(&class).map(|(planned, _)| *planned);
        let Some(planned) = planned else { return };
        let expected = items.next_multiple_of(planned.group) as f64 * planned.item_seconds;
        self.scale(class, 0, seconds / expected);
    }

    /// Learns that `items` items took `seconds` on the GPU.
    pub fn learn_gpu(&self, class: Class, items: usize, seconds: f64) {
        let planned = self.planned.read().get(&class).and_then(|(planned, _)| planned.gpu);
        let Some(planned) = planned else { return };
        self.scale(class, 1, seconds / planned.seconds(items));
    }

    /// Moves a scale towards a measured ratio.
    fn scale(&self, class: Class, backend: usize, ratio: f64) {
        let mut scales = self.scales.lock();
        let scale = &mut scales.entry(class).or_insert([1.0; 2])[backend];
        *scale += (ratio.clamp(0.2, 10.0) - *scale) / 16.0;
    }

    fn plan(&self, class: Class, cpu: &Engine, gpu: Option<&Engine>) -> Estimate {
        let group = powers(class, cpu, 1024).map_or(1, |plan| plan.lanes.max(1));
        let seconds = powers(class, cpu, GROUPS * group).map_or(f64::NAN, |plan| AROUND * plan.seconds);
        let item_seconds = seconds / (GROUPS * group) as f64;
        let item_seconds = if item_seconds.is_finite() { item_seconds.max(1e-7) } else { 1e-3 };
        let gpu = gpu.and_then(|gpu| self.plan_gpu(class, gpu, item_seconds / self.workers as f64));
        Estimate { group, item_seconds, gpu }
    }

    /// The GPU's side; `cpu` is the time of an item on all workers of the CPU together.
    fn plan_gpu(&self, class: Class, gpu: &Engine, cpu: f64) -> Option<GpuEstimate> {
        let seconds = |items: usize| {
            let plan = powers(class, gpu, items)?;
            (plan.backend() == Backend::Cuda).then_some(AROUND * plan.seconds)
        };
        let sizes =
            || std::iter::successors(Some(1), |items| Some(2 * items)).take_while(|items| *items <= GPU_MOST);
        let is_sooner = |&items: &usize| seconds(items).is_some_and(|seconds| seconds < items as f64 * cpu);
        let least = sizes().find(is_sooner).unwrap_or(usize::MAX);
        let fits = |&items: &usize| {
            items == least || seconds(items).is_some_and(|seconds| seconds <= self.gpu_seconds)
        };
        let most = sizes().filter(fits).last().unwrap_or(1);
        let rate = most as f64 / seconds(most)?;
        Some(GpuEstimate { least, most, rate, start: seconds(1)? })
    }
}

/// The plan of the powers of `count` operations.
fn powers(Class { is_private, bits }: Class, engine: &Engine, count: usize) -> Option<Plan> {
    let public = || Request::new(Op::PowVartime, bits, count).prepared_moduli().public_exponent(&[65_537]);
    if is_private { Rsa::new(engine).plan_private(bits, count) } else { engine.plan(&public()) }.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_whole_groups_within_the_bound() {
        let estimate = Estimate { group: 4, item_seconds: 1e-4, gpu: None };
        assert_eq!(estimate.most(5e-3), 48);
        assert_eq!(estimate.most(0.0), 4, "one group is computed however long it takes");
        for (waiting, workers, share) in [
            (1, 2, 1),
            (3, 2, 3),
            (5, 1, 4),
            (5, 2, 4),
            (8, 2, 4),
            (9, 2, 8),
            (1000, 2, 48),
            (50, 1, 48),
            (49, 4, 16),
        ] {
            let most = estimate.most(5e-3);
            assert_eq!(estimate.share(waiting, workers, most), share, "{waiting} wait for {workers}");
        }
    }

    #[test]
    fn the_gpu_has_a_crowd_and_keeps_half_of_it() {
        // 16 workers take 10 us for each item, and the GPU 4 ms and 0.5 us for each.
        let gpu = Some(GpuEstimate { least: 512, most: 1 << 16, rate: 2e6, start: 4e-3 });
        let estimate = Estimate { group: 4, item_seconds: 160e-6, gpu };
        for (items, takes, keeps) in [
            (1, false, false),
            (150, false, false),
            (300, false, true),
            (500, true, true),
            (9000, true, true),
        ] {
            assert_eq!(estimate.is_gpu_sooner(items, 16, false), takes, "{items}");
            assert_eq!(estimate.is_gpu_sooner(items, 16, true), keeps, "{items}");
        }
        assert!(!Estimate { gpu: None, ..estimate }.is_gpu_sooner(1 << 20, 16, true));
    }

    #[test]
    fn plans_are_corrected_by_measured_times() {
        let cpu = Engine::builder().backend(Backend::Cpu).threads(1).build().unwrap();
        let estimates = Estimates::new(2, 0.02);
        let class = Class { is_private: true, bits: 2048 };
        let planned = estimates.of(class, &cpu, None);
        assert!(planned.group >= 1 && planned.item_seconds > 1e-6 && planned.item_seconds < 0.1);
        for _ in 0..100 {
            estimates.learn(class, planned.group, 2.0 * planned.group as f64 * planned.item_seconds);
        }
        let ratio = estimates.of(class, &cpu, None).item_seconds / planned.item_seconds;
        assert!((1.8..2.2).contains(&ratio), "{ratio}");
    }
}
