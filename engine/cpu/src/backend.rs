//! The CPU backend: its paths, its worker threads, and what a caller may fix.

use crate::isa;
use crate::long::{ModularSums, Multiplier, SumFactors};
use crate::out_of_memory::returned;
use crate::path::CpuPath;
use crate::team::Workers;
use crate::threads::{self, Share};
use modmill_core::{Batch, BatchView, Error, Execution, Family, Isa, Plan, Recorder, Sums};
use rayon::prelude::*;
use std::sync::Arc;

/// The choices that a caller may fix; everything else is chosen by measured costs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// The highest instruction set to use.
    pub isa: Option<Isa>,
    /// The only family of algorithms to use.
    pub family: Option<Family>,
    /// Number of worker threads; by default `RAYON_NUM_THREADS`, or one per core.
    pub threads: Option<usize>,
    /// Whether there are no worker threads, and every call is computed by its caller's.
    pub is_here: bool,
}

/// The most worker threads of a backend.
pub const MAX_THREADS: usize = 4096;

/// Limbs of a number that threads may share: transforms do.
pub(crate) const LONG: usize = 1 << 13;

/// The CPU backend.
pub struct Cpu {
    pub(crate) workers: Workers,
    pub(crate) paths: Vec<CpuPath>,
    recorder: Option<Arc<Recorder>>,
}

impl Cpu {
    /// A backend with its own threads, within the given settings.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let limit = match settings.isa {
            Some(isa) => Some(isa),
            None => isa::forced()?,
        };
        let isas = isa::available(limit);
        let here = CpuPath::detect();
        let wanted = |path: &CpuPath| {
            isas.contains(&path.isa()) && settings.family.is_none_or(|family| path.family() == family)
        };
        let limited = |path: CpuPath| match path {
            CpuPath::Fft(multiplier) => CpuPath::Fft(multiplier.within(limit)),
            path => path,
        };
        let mut paths: Vec<CpuPath> = here.into_iter().filter(wanted).map(limited).collect();
        // Several instruction sets may have the family: if one of them was asked for, the others are left
        // out.
        let exact =
            |path: &CpuPath| Some(path.isa()) == settings.isa && Some(path.family()) == settings.family;
        if paths.iter().any(exact) {
            paths.retain(exact);
        }
        if limit.is_some_and(|limit| !isas.contains(&limit)) || paths.is_empty() {
            let isa = limit.map_or("any instruction set".to_owned(), |isa| isa.to_string());
            let family = settings.family.map_or("any algorithm".to_owned(), |family| family.to_string());
            return Err(Error::Unavailable(format!("this processor has no path for {family} on {isa}")));
        }
        let workers = if settings.is_here { Workers::default() } else { start(settings.threads)? };
        Ok(Self { workers, paths, recorder: None })
    }

    /// This backend without worker threads: every call is computed by its caller's.
    #[must_use]
    pub fn here(&self) -> Self {
        Self { workers: Workers::default(), paths: self.paths.clone(), recorder: self.recorder.clone() }
    }

    /// This backend with a recorder, which is told what is executed.
    #[must_use]
    pub fn recorded_by(self, recorder: Arc<Recorder>) -> Self {
        Self { recorder: Some(recorder), ..self }
    }

    /// The paths it chooses among.
    #[must_use]
    pub fn paths(&self) -> &[CpuPath] {
        &self.paths
    }

    /// Number of worker threads; one if the caller's thread computes.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.workers.count()
    }

    /// Numbers that a thread computes side by side, at most.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.paths.iter().map(|path| path.lanes()).max().unwrap_or(1)
    }

    /// The worker threads, if there are any, for backends that move numbers on the host.
    #[must_use]
    pub fn pool(&self) -> Option<Arc<rayon::ThreadPool>> {
        self.workers.pool.clone()
    }

    /// Runs `work` on the worker threads, or on the caller's thread if there are none. The threads take part
    /// in what `work` shares by [`Share`](threads::Share).
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.workers.install(work)
    }

    /// Runs `work` on the worker threads if it `is_long`. The caller's thread does other work alone, because
    /// waking another one would cost more than it brings.
    pub fn install_if<T: Send>(&self, is_long: bool, work: impl FnOnce() -> T + Send) -> T {
        match is_long && self.threads() > 1 {
            true => self.install(work),
            false => threads::run(true, work),
        }
    }

    /// Calls `work` for every chunk of `size` limbs, on all threads. Its arguments are a workspace of the
    /// thread, the index of the chunk and its limbs. A thread takes at least `grain` chunks at a time.
    ///
    /// This is compiled once for each type of workspace, not once for each kernel and operation: calling
    /// `work` by its address costs nanoseconds, and a chunk has microseconds of work.
    pub(crate) fn each_chunk<W>(
        &self,
        limbs: &mut [u64],
        (size, grain): (usize, usize),
        workspace: &(dyn Fn() -> W + Sync),
        work: &(dyn Fn(&mut W, usize, &mut [u64]) + Sync),
    ) {
        self.install_if(limbs.len() > grain * size || size >= LONG, || {
            let chunks = limbs.par_chunks_mut(size).enumerate().with_min_len(grain);
            chunks.each_with(workspace, |own, (index, chunk)| work(own, index, chunk));
        });
    }

    /// The fastest multiplier of long numbers among the paths, or any other if no path has one.
    #[must_use]
    pub fn multiplier(&self) -> Multiplier {
        let wanted = self.paths.iter().rev().find_map(|path| match path {
            CpuPath::Fft(multiplier) => Some(*multiplier),
            _ => None,
        });
        let limit = self.paths.iter().map(|path| path.isa()).max();
        wanted.or_else(|| Multiplier::detect(limit).pop()).expect("there is always the portable one")
    }

    /// A modulus of at least one for sums of at most `most` products of numbers no longer than the modulus.
    /// `None` if no transform has digits short enough for sums of `most` products.
    pub fn modular_sums(&self, modulus: &[u64], most: usize) -> Result<Option<ModularSums>, Error> {
        returned(|| Ok(self.install(|| ModularSums::new(self.multiplier(), modulus, most))))
    }

    /// Transforms numbers no longer than the modulus for sums of their products.
    pub fn sum_factors(&self, modular: &ModularSums, numbers: BatchView<'_>) -> Result<SumFactors, Error> {
        returned(|| Ok(self.install(|| modular.transform(numbers))))
    }

    /// Sums of products of factors, modulo the number that they were transformed for. Indices run through all
    /// groups of factors, one after the other.
    ///
    /// # Panics
    /// If factors were transformed for a modulus of another length or for more products.
    pub fn sums_of_products(
        &self,
        modular: &ModularSums,
        factors: &[&SumFactors],
        sums: &Sums,
    ) -> Result<Batch, Error> {
        returned(|| self.install(|| modular.compute(factors, sums)))
    }

    /// Sums of numbers with weights, of which there is a byte for each number for each sum.
    ///
    /// # Panics
    /// If there are `2^24` numbers or more.
    pub fn weighted_sums(
        &self,
        modular: &ModularSums,
        numbers: BatchView<'_>,
        weights: &[u8],
    ) -> Result<Batch, Error> {
        returned(|| self.install(|| modular.weighted(numbers, weights)))
    }

    /// Tells the recorder, if there is one, that a plan of this backend is executed by its caller.
    pub fn note(&self, plan: &Plan) {
        self.record(plan.path, plan.variant.clone(), plan.window);
    }

    /// Tells the recorder, if there is one, what is executed.
    pub(crate) fn record(&self, path: modmill_core::Path, variant: String, window: Option<u32>) {
        if let Some(recorder) = &self.recorder {
            recorder.add(Execution { path, variant, window });
        }
    }
}

/// Starts the worker threads.
fn start(threads: Option<usize>) -> Result<Workers, Error> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(thread_count(threads)?)
        .thread_name(|index| format!("modmill-{index}"))
        .build()
        .map_err(|error| Error::Unavailable(format!("cannot start worker threads: {error}")))?;
    Ok(Workers::new(pool))
}

/// Number of worker threads: as asked for, or as `RAYON_NUM_THREADS` says, or one per core. A number in the
/// environment beyond [`MAX_THREADS`] is ignored, as rayon ignores a text that is no number.
fn thread_count(asked: Option<usize>) -> Result<usize, Error> {
    let limits = 1..=MAX_THREADS;
    match asked {
        Some(value) if !limits.contains(&value) => {
            Err(Error::OutOfRange { what: "the number of threads", value, least: 1, most: MAX_THREADS })
        }
        Some(value) => Ok(value),
        None => {
            let named = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
            let cores = || std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
            Ok(named.filter(|count| limits.contains(count)).unwrap_or_else(cores))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_numbers_of_threads_are_refused() {
        for threads in [0, MAX_THREADS + 1, usize::MAX] {
            let settings = Settings { threads: Some(threads), ..Settings::default() };
            assert!(matches!(Cpu::new(settings), Err(Error::OutOfRange { .. })), "{threads}");
        }
    }
}
