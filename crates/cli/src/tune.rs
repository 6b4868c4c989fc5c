//! Measuring variants of a GPU's kernels: every layout of every family at one size, then more windows
//! for those that are worth it.

use crate::bench::inputs::{Inputs, Shape};
use modmill::cuda::{Cuda, Run, Table, Timing, Variant, direct_window};
use modmill::{Engine, Family, Op};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A GPU that is measured, and a CPU that knows the answers.
pub(crate) struct Tuner<'a> {
    pub(crate) cuda: &'a Cuda,
    pub(crate) cpu: &'a Engine,
}

/// What was found out about a size.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) timings: Vec<Timing>,
    /// Variants that do not compile or run, or compute something else, and why.
    pub(crate) failed: Vec<(Variant, String)>,
    /// Whether an answer was wrong.
    pub(crate) wrong: bool,
}

/// Powers to measure with, and the right answers of some.
struct Powers {
    inputs: Inputs,
    known: BTreeMap<usize, Vec<u64>>,
}

/// A variant, compiled, with the powers it computes at once and those of one warp a multiprocessor.
#[derive(Clone, Copy)]
struct Ready {
    variant: Variant,
    wave: usize,
    alone: usize,
}

/// How the table of a power is read: whole, or only the entries needed.
#[derive(Clone, Copy)]
struct Reads {
    window: u32,
    masked: bool,
}

/// Threads of a warp.
const WARP: usize = 32;

/// Calls that a median is taken of, at most.
const CALLS: usize = 7;

const WRONG: &str = "its answers are wrong";

impl Tuner<'_> {
    /// Measures the families at a size for about so long, not counting what it takes to compile. Tells
    /// of each variant before it is measured.
    pub(crate) fn measure(
        &self,
        bits: usize,
        families: &[Family],
        time: Duration,
        mut tell: impl FnMut(Variant),
    ) -> Result<Findings, modmill::Error> {
        let mut findings = Findings::default();
        let ready = self.compile(self.candidates(bits, families), &mut findings);
        if ready.is_empty() {
            return Ok(findings);
        }
        let powers = self.powers(bits, &ready)?;
        // Half of the time for all variants, half for the windows of the best.
        let share = time / 2 / ready.len() as u32;
        let window = likely_window(bits);
        for &ready in &ready {
            tell(ready.variant);
            let window = ready.variant.secret_window().unwrap_or(window);
            self.add(&powers, ready, window, share, &mut findings);
        }
        let mut best = Table::measured("", findings.timings.clone());
        best.keep_winners();
        let is_best = |ready: &&Ready| {
            ready.variant.secret_window().is_none()
                && best.timings.iter().any(|timing| of(timing, ready.variant))
        };
        let best: Vec<&Ready> = ready.iter().filter(is_best).collect();
        let share = time / 4 / best.len().max(1) as u32;
        for &ready in best {
            for window in [window - 1, window + 1] {
                tell(ready.variant);
                self.add(&powers, ready, window, share, &mut findings);
            }
        }
        Ok(findings)
    }

    /// Every variant to measure.
    fn candidates(&self, bits: usize, families: &[Family]) -> Vec<Variant> {
        let limits = self.cuda.limits();
        families.iter().flat_map(|&family| Variant::candidates(family, bits, &limits)).collect()
    }

    /// Compiles on all cores.
    fn compile(&self, variants: Vec<Variant>, findings: &mut Findings) -> Vec<Ready> {
        let queue = Mutex::new(variants.iter().copied());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work =
            || std::iter::from_fn(next).map(|variant| (variant, self.cuda.wave(variant))).collect::<Vec<_>>();
        let compiled: Vec<_> = std::thread::scope(|scope| {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        });
        let multiprocessors = self.cuda.devices().map(|device| device.limits().multiprocessors).next();
        let warps = multiprocessors.unwrap_or(1) as usize;
        let mut ready = Vec::new();
        for (variant, wave) in compiled {
            let alone = warps * (WARP / variant.layout.threads as usize);
            match wave {
                Ok(wave) => ready.push(Ready { variant, wave, alone: alone.min(wave) }),
                Err(error) => findings.failed.push((variant, error.to_string())),
            }
        }
        // In the order of the candidates, whoever was compiled first.
        ready.sort_by_key(|ready| variants.iter().position(|variant| *variant == ready.variant));
        ready
    }

    fn powers(&self, bits: usize, ready: &[Ready]) -> Result<Powers, modmill::Error> {
        let count = ready.iter().map(|ready| ready.wave).max().unwrap_or(1);
        let shape = Shape { op: Op::Pow, bits, exponent_bits: bits, count, shared_modulus: false };
        let inputs = Inputs::random(shape, 1);
        let shortest = |length: fn(&Ready) -> usize| ready.iter().map(length).min().unwrap_or(1);
        let mut items = inputs.sample(shortest(|ready| ready.alone), 8);
        items.extend(inputs.sample(shortest(|ready| ready.wave), 24));
        let answers = inputs.part(&items).compute(self.cpu)?;
        let known = items.into_iter().zip(answers.iter().map(<[u64]>::to_vec)).collect();
        Ok(Powers { inputs, known })
    }

    fn add(&self, powers: &Powers, ready: Ready, window: u32, share: Duration, findings: &mut Findings) {
        let Ready { variant, wave, alone } = ready;
        let direct = Reads { window: direct_window(powers.inputs.shape.bits), masked: false };
        let masked = Reads { window, masked: true };
        let time = |reads, count| self.median_seconds(powers, variant, reads, count, share / 3);
        let times = || Ok((time(masked, wave)?, time(direct, wave)?, time(masked, alone)?));
        match times() {
            Ok((wave_seconds, direct_seconds, alone_seconds)) => findings.timings.push(Timing {
                bits: powers.inputs.shape.bits,
                family: variant.family,
                layout: variant.layout,
                window,
                wave,
                wave_seconds,
                direct_seconds,
                alone_seconds,
            }),
            Err(why) => {
                findings.wrong |= why == WRONG;
                findings.failed.push((variant, why));
            }
        }
    }

    /// The median of a few calls, after one that is checked; that one counts if it took all the time.
    fn median_seconds(
        &self,
        powers: &Powers,
        variant: Variant,
        Reads { window, masked }: Reads,
        count: usize,
        share: Duration,
    ) -> Result<f64, String> {
        let job = powers.inputs.job(count);
        let run = || self.cuda.pow_by(variant, window, masked, &job).map_err(|error| error.to_string());
        let is_right = |run: &Run| {
            powers.known.range(..count).all(|(&item, answer)| run.answers.get(item) == answer.as_slice())
        };
        let start = Instant::now();
        let first = run()?;
        if !is_right(&first) {
            return Err(WRONG.to_owned());
        }
        let mut seconds = Vec::new();
        while seconds.len() < CALLS && start.elapsed() < share {
            seconds.push(run()?.kernel_seconds);
        }
        if seconds.is_empty() {
            return Ok(first.kernel_seconds);
        }
        seconds.sort_by(f64::total_cmp);
        Ok(seconds[seconds.len() / 2])
    }
}

/// Whether a timing is one of a variant's.
fn of(timing: &Timing, variant: Variant) -> bool {
    (timing.family, timing.layout) == (variant.family, variant.layout)
}

/// A window that is about right: products for the table and the digits, and for every digit the
/// reading of a whole table, some dozens of entries in the time of a product.
fn likely_window(bits: usize) -> u32 {
    let cost = |window: u32| {
        let table = f64::from(1u32 << window);
        table + (bits as f64 / f64::from(window)).ceil() * (1.0 + table / 64.0)
    };
    (2..=6).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(4)
}

/// A table with new timings in place of old ones: of the families at the sizes that were measured. What
/// another device did at these sizes does not count.
pub(crate) fn merge(old: &Table, device: &str, families: &[Family], bits: &[usize], new: &[Timing]) -> Table {
    let stays = |timing: &&Timing| {
        let again = old.estimated || old.device != device || families.contains(&timing.family);
        !(bits.contains(&timing.bits) && again)
    };
    let timings = old.timings.iter().filter(stays).chain(new).copied().collect();
    let mut table = Table::measured(device, timings);
    table.keep_winners();
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill::cuda::Layout;

    #[test]
    fn windows_grow_with_exponents() {
        assert_eq!([64, 1024, 8192].map(likely_window), [3, 4, 5]);
    }

    #[test]
    fn what_is_measured_again_is_replaced() {
        let layout = Layout { threads: 1, block: 128, resident: 3, cut: None };
        let timing = |bits, family, wave_seconds| Timing {
            bits,
            family,
            layout,
            window: 4,
            wave: 1000,
            wave_seconds,
            direct_seconds: wave_seconds,
            alone_seconds: wave_seconds / 2.0,
        };
        let table = |device: &str, timings: Vec<Timing>| Table::measured(device, timings);
        let (old, wide) = (timing(256, Family::Row, 0.1), timing(256, Family::Wide, 0.05));
        let (new, other) = (timing(256, Family::Row, 0.2), timing(512, Family::Row, 0.4));
        let merged = |device: &str| {
            merge(&table(device, vec![old, wide, other]), "mine", &[Family::Row], &[256], &[new]).timings
        };
        assert_eq!(merged("mine"), [wide, new, other]);
        assert_eq!(merged("another"), [new, other]);
    }
}
