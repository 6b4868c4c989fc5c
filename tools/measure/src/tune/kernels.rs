//! Measures the variants of a GPU's kernels. At each length every layout of every family is measured with
//! one window, and the best layouts with the neighbouring windows too.

use super::findings::{Candidate, Findings, WRONG};
use crate::inputs::{Inputs, Workload};
use modmill::{Engine, Family, Op, Request};
use modmill_core::Call;
use modmill_core::sync::Mutex;
use modmill_cuda::{Cuda, Run, Table, Timing, Variant, direct_window};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A GPU that is measured, and a CPU that computes the right answers.
pub(super) struct KernelTuner<'a> {
    pub(super) cuda: &'a Cuda,
    pub(super) cpu: &'a Engine,
}

/// The powers to compute, and the right answers of some of them.
struct Powers {
    inputs: Inputs,
    right_answers: BTreeMap<usize, Vec<u64>>,
}

/// A compiled variant.
#[derive(Clone, Copy)]
struct Ready {
    variant: Variant,
    /// Powers that the device computes at once.
    wave: usize,
    /// Powers that give every multiprocessor a single warp.
    alone: usize,
}

/// How a power reads its window table.
#[derive(Clone, Copy)]
struct Reads {
    window: u32,
    /// Every entry is read under a mask, to hide the exponent.
    masked: bool,
}

/// Threads of a warp.
const WARP: usize = 32;

/// The most calls of which the median is taken.
const CALLS: usize = 7;

impl KernelTuner<'_> {
    /// Measures the families at a length, for about `time` besides compiling. `tell` is called with each
    /// variant before it is measured.
    pub(super) fn measure(
        &self,
        bits: usize,
        families: &[Family],
        time: Duration,
        findings: &mut Findings,
        mut tell: impl FnMut(Variant),
    ) -> Result<(), modmill::Error> {
        findings.measured.extend(families.iter().map(|&family| (family, bits)));
        let before = findings.timings.len();
        let ready = self.compile(bits, self.candidates(bits, families), findings);
        if ready.is_empty() {
            return Ok(());
        }
        let powers = self.powers(bits, &ready)?;
        // Half of the time is for all variants, and half for the windows of the best ones.
        let share = time / 2 / ready.len() as u32;
        let window = likely_window(bits);
        for &ready in &ready {
            tell(ready.variant);
            let window = ready.variant.secret_window().unwrap_or(window);
            self.add(&powers, ready, window, share, findings);
        }
        let mut best = Table::measured("", findings.timings[before..].to_vec());
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
                self.add(&powers, ready, window, share, findings);
            }
        }
        Ok(())
    }

    /// The variants to measure.
    fn candidates(&self, bits: usize, families: &[Family]) -> Vec<Variant> {
        let limits = self.cuda.limits();
        families.iter().flat_map(|&family| Variant::candidates(family, bits, &limits)).collect()
    }

    /// Compiles the variants on all cores. A variant that does not compile is added to `findings`.
    fn compile(&self, bits: usize, variants: Vec<Variant>, findings: &mut Findings) -> Vec<Ready> {
        let queue = Mutex::new(variants.iter().copied());
        let next = || queue.lock().next();
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
                Err(error) => findings.fail(bits, Candidate::Kernels(variant), error.to_string()),
            }
        }
        // Restores the order of the candidates.
        ready.sort_by_key(|ready| variants.iter().position(|variant| *variant == ready.variant));
        ready
    }

    fn powers(&self, bits: usize, ready: &[Ready]) -> Result<Powers, modmill::Error> {
        let count = ready.iter().map(|ready| ready.wave).max().unwrap_or(1);
        let (shared_modulus, is_remainder) = (false, false);
        let workload =
            Workload { op: Op::Pow, bits, exponent_bits: bits, count, shared_modulus, is_remainder };
        let inputs = Inputs::random(workload, 1);
        let shortest = |length: fn(&Ready) -> usize| ready.iter().map(length).min().unwrap_or(1);
        let mut items = inputs.sample(shortest(|ready| ready.alone), 8);
        items.extend(inputs.sample(shortest(|ready| ready.wave), 24));
        let answers = inputs.part(&items).compute(self.cpu)?;
        let right_answers = items.into_iter().zip(answers.iter().map(<[u64]>::to_vec)).collect();
        Ok(Powers { inputs, right_answers })
    }

    fn add(&self, powers: &Powers, ready: Ready, window: u32, share: Duration, findings: &mut Findings) {
        let Ready { variant, wave, alone } = ready;
        let direct = Reads { window: direct_window(powers.inputs.workload.bits), masked: false };
        let masked = Reads { window, masked: true };
        let time = |reads, count| self.median_seconds(powers, variant, reads, count, share / 3);
        let times = || Ok((time(masked, wave)?, time(direct, wave)?, time(masked, alone)?));
        match times() {
            Ok((wave_seconds, direct_seconds, alone_seconds)) => findings.timings.push(Timing {
                bits: powers.inputs.workload.bits,
                family: variant.family,
                layout: variant.layout,
                window,
                wave,
                wave_seconds,
                direct_seconds,
                alone_seconds,
            }),
            Err(reason) => {
                findings.fail(powers.inputs.workload.bits, Candidate::Kernels(variant), reason);
            }
        }
    }

    /// The median kernel time of a few calls, in seconds. The first call is checked, and counts only if it
    /// used up the time.
    fn median_seconds(
        &self,
        powers: &Powers,
        variant: Variant,
        Reads { window, masked }: Reads,
        count: usize,
        share: Duration,
    ) -> Result<f64, String> {
        let job = powers.inputs.job(count);
        let op = if masked { Op::Pow } else { Op::PowVartime };
        let request = Request::new(op, job.bits, count).exponents_of(job.b.bits());
        let plan = self.cuda.plan_by(variant, window, &request).map_err(|error| error.to_string())?;
        let run = || self.cuda.run_new(&plan, Call::Modular(op, &job)).map_err(|error| error.to_string());
        let is_right = |run: &Run| {
            powers
                .right_answers
                .range(..count)
                .all(|(&item, answer)| run.answers.get(item) == answer.as_slice())
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

/// Whether a timing belongs to a variant.
fn of(timing: &Timing, variant: Variant) -> bool {
    (timing.family, timing.layout) == (variant.family, variant.layout)
}

/// A window that is nearly the best. It minimises the products for the table and for the digits, plus the
/// reading of the whole table for every digit, where 64 entries take the time of a product.
fn likely_window(bits: usize) -> u32 {
    let cost = |window: u32| {
        let table = f64::from(1u32 << window);
        table + (bits as f64 / f64::from(window)).ceil() * (1.0 + table / 64.0)
    };
    (2..=6).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_with_exponents() {
        assert_eq!([64, 1024, 8192].map(likely_window), [3, 4, 5]);
    }
}
