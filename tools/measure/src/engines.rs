//! The engines that are measured. CPU and GPU paths are measured apart, because a batch that fills a GPU
//! takes a CPU minutes.

use crate::chain::Chain;
use crate::error::Error;
use crate::inputs::{Inputs, Workload};
use crate::op::{BenchOp, RsaOp};
use crate::our_path::{Call, OurPath};
use crate::peers::Peer;
use modmill::{Backend, Engine, EngineBuilder, Family, Op, Plan, Request, warm};
use modmill_cuda::{Cuda, Device};
use std::str::FromStr;

/// The algorithms to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlgorithmChoice {
    /// The engine's own choice.
    Auto,
    /// One family.
    Family(Family),
    /// Every path that this machine has.
    Every,
}

impl FromStr for AlgorithmChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "all" => Ok(Self::Every),
            _ => text.parse().map(Self::Family),
        }
    }
}

/// The engines with one number of threads.
pub(crate) struct Engines {
    /// The engine that chooses its path by itself.
    pub(crate) chosen: Engine,
    pub(crate) by_backend: Vec<BackendEngines>,
}

/// The engines that are restricted to one backend.
pub(crate) struct BackendEngines {
    pub(crate) backend: Backend,
    engines: Vec<Engine>,
}

impl Engines {
    pub(crate) fn new(wanted: &[AlgorithmChoice], settings: &EngineBuilder) -> Result<Self, Error> {
        let chosen = settings.clone().build()?;
        let mut by_backend = Vec::new();
        for backend in [Backend::Cpu, Backend::Cuda] {
            let engines = if chosen.paths().iter().any(|path| path.backend == backend) {
                BackendEngines::new_engines(wanted, &settings.clone().backend(backend).fallback(false))?
            } else if backend == Backend::Cpu {
                // With `--backend cuda`, the CPU computes the operations that GPUs do not have.
                vec![settings.clone().build()?]
            } else {
                continue;
            };
            by_backend.push(BackendEngines { backend, engines });
        }
        let known: Vec<Family> = by_backend.iter().flat_map(BackendEngines::families).collect();
        let missing = |wish: &&AlgorithmChoice| matches!(wish, AlgorithmChoice::Family(family) if !known.contains(family));
        match wanted.iter().find(missing) {
            Some(AlgorithmChoice::Family(family)) => {
                Err(settings.clone().family(*family).build().err().map_or_else(
                    || Error::Unsupported(format!("no path on this machine has the algorithm {family}")),
                    Error::from,
                ))
            }
            _ => Ok(Self { chosen, by_backend }),
        }
    }

    /// Why no GPU is used; `None` if one is.
    pub(crate) fn without_gpu(&self) -> Option<String> {
        match self.chosen.cuda() {
            Some(_) => None,
            None => Some(self.chosen.faults().pop().unwrap_or("GPUs are not to be used".to_owned())),
        }
    }

    /// The engines of a backend that compute this workload by different paths. The flag tells whether it
    /// is the path that the engine chooses by itself.
    pub(crate) fn engines<'a>(
        &self,
        backend: &'a BackendEngines,
        workload: Workload,
    ) -> Result<Vec<(&'a Engine, Plan, bool)>, Error> {
        let request = workload.request();
        // Steady rates are measured: what has to be compiled is compiled before.
        let chosen = warm::plan(&self.chosen, &request)?.path;
        let mut found: Vec<(&Engine, Plan, bool)> = Vec::new();
        for engine in &backend.engines {
            let plan = warm::plan(engine, &request)?;
            if plan.backend() == backend.backend && found.iter().all(|(_, other, _)| other.path != plan.path)
            {
                let is_chosen = plan.path == chosen;
                found.push((engine, plan, is_chosen));
            }
        }
        Ok(found)
    }

    /// Every path of a backend to measure at a point, once each.
    pub(crate) fn contenders<'a>(
        &self,
        backend: &'a BackendEngines,
        bench_op: BenchOp,
        inputs: &'a Inputs,
    ) -> Result<Vec<OurPath<'a>>, Error> {
        let mut contenders: Vec<OurPath<'a>> = Vec::new();
        for (engine, plan, chosen) in self.engines(backend, inputs.workload)? {
            let call = match (bench_op, engine.cuda()) {
                (BenchOp::Chain(_), Some(cuda)) => Call::Chain(Chain::new(cuda, inputs)?),
                (BenchOp::Chain(_), None) => continue,
                _ => Call::Engine(engine),
            };
            contenders.push(OurPath::new(call, plan, chosen, inputs)?);
        }
        Ok(contenders)
    }
}

/// The seconds that a default batch takes on a GPU, about.
const CALL_SECONDS: f64 = 0.4;

impl BackendEngines {
    fn new_engines(wanted: &[AlgorithmChoice], settings: &EngineBuilder) -> Result<Vec<Engine>, Error> {
        let free = settings.clone().build()?;
        let paths = free.paths();
        let mut families: Vec<Family> = paths.iter().map(|path| path.family).collect();
        families.dedup();
        // The default on the CPU is every family except residues, which are slower at every size, and
        // transforms, which the engine chooses where they help. On GPUs it is the engine's choice alone.
        let mut default = vec![AlgorithmChoice::Auto];
        if free.cuda().is_none() {
            let fast = families.iter().copied().filter(|family| !matches!(family, Family::Rns | Family::Fft));
            default.extend(fast.map(AlgorithmChoice::Family));
        }
        let wanted = if wanted.is_empty() { &default } else { wanted };
        let mut engines = Vec::new();
        if wanted.iter().any(|wish| matches!(wish, AlgorithmChoice::Auto | AlgorithmChoice::Every)) {
            engines.push(free);
        }
        for wish in wanted {
            match *wish {
                AlgorithmChoice::Family(family) if families.contains(&family) => {
                    engines.push(settings.clone().family(family).build()?);
                }
                AlgorithmChoice::Every => {
                    for &path in &paths {
                        engines.push(settings.clone().path(path).build()?);
                    }
                }
                _ => {}
            }
        }
        Ok(engines)
    }

    fn families(&self) -> impl Iterator<Item = Family> {
        self.engines.iter().flat_map(Engine::paths).map(|path| path.family)
    }

    /// The GPUs, if this is their backend.
    fn cuda(&self) -> Option<&Cuda> {
        self.engines.first()?.cuda().filter(|_| self.backend == Backend::Cuda)
    }

    /// Whether this backend is measured for an operation.
    pub(crate) fn has(&self, bench_op: BenchOp) -> bool {
        let on_gpus = |engine: &Engine| engine.cuda().is_some_and(|cuda| is_on_gpus(cuda, bench_op.op()));
        self.engines.first().is_some_and(|engine| match (self.backend, bench_op) {
            (Backend::Cuda, _) => on_gpus(engine),
            (_, BenchOp::Call(_) | BenchOp::Reduce) => !on_gpus(engine),
            (_, BenchOp::Chain(_)) => false,
            (_, BenchOp::Rsa(_) | BenchOp::Column(_)) => true,
        })
    }

    /// The peers that are compared with this backend: those on the CPU. Peers have no chains.
    pub(crate) fn peers<'a>(&self, bench_op: BenchOp, peers: &'a [Box<dyn Peer>]) -> &'a [Box<dyn Peer>] {
        match (self.backend, bench_op) {
            (Backend::Cpu, BenchOp::Call(_) | BenchOp::Reduce | BenchOp::Rsa(_) | BenchOp::Column(_)) => {
                peers
            }
            _ => &[],
        }
    }

    /// The name of the GPUs, if this is their backend.
    pub(crate) fn device(&self) -> Option<String> {
        let mut devices = self.cuda()?.devices();
        let name = devices.next().map(Device::properties)?.name.clone();
        Some(match devices.count() {
            0 => name,
            more => format!("{} x {name}", more + 1),
        })
    }

    /// The number of items in a batch where the user does not give one.
    pub(crate) fn default_batch(
        &self,
        bench_op: BenchOp,
        bits: usize,
        threads: usize,
    ) -> Result<usize, Error> {
        let op = bench_op.op();
        if let Some(cuda) = self.cuda().filter(|cuda| is_on_gpus(cuda, op)) {
            // An eighth of a gigabit, because inputs that have inverses are looked for on the CPU.
            if let Op::Inv | Op::Gcd | Op::Div = op {
                return Ok(((1 << 27) / bits).max(1) * cuda.devices().count());
            }
            // Half a gigabit of factors. The longest factors make a batch of one.
            let is_long = |plan: Plan| plan.family() == Family::Fft;
            if !op.is_modular() || cuda.plan(&Request::new(op, bits, 1 << 10)).is_some_and(is_long) {
                let items = match op {
                    // Enough points for all multiprocessors.
                    Op::Pow | Op::PowVartime => 1 << 23,
                    _ => 1 << 29,
                } / bits;
                return Ok(items.clamp(1, 1 << 14) * cuda.devices().count());
            }
            let (bits, waves) = match bench_op {
                BenchOp::Call(Op::MulMod | Op::SquareMod) | BenchOp::Reduce | BenchOp::Rsa(RsaOp::Verify) => {
                    (bits, 16)
                }
                BenchOp::Rsa(_) => (bits / 2, 8),
                _ => (bits, 8),
            };
            // For many items, the choice has the highest throughput.
            let Some(plan) = cuda.plan(&Request::new(op, bits, 1 << 20)) else { return Ok(1) };
            let Some(variant) = cuda.variant_of(&plan) else { return Ok(1) };
            let wave = cuda.wave(variant)?;
            // Several chunks hide the copies before the first and after the last one. Long numbers get
            // fewer chunks, to limit the time.
            let in_time = CALL_SECONDS / (plan.seconds * wave as f64 / (1u32 << 20) as f64);
            let waves = waves.min((in_time as usize).max(2));
            return Ok(waves * wave * cuda.devices().count());
        }
        Ok(match op {
            _ if matches!(bench_op, BenchOp::Rsa(_)) => 64 * threads,
            // A thread takes many groups of lanes through a table together.
            _ if matches!(bench_op, BenchOp::Column(_)) && op.is_power() => 256 * threads,
            Op::Pow | Op::PowVartime => 16 * threads,
            // Some tens of milliseconds for any length.
            Op::Mul | Op::Square | Op::MulMod | Op::SquareMod | Op::Div | Op::Isqrt => {
                (1usize << 22).div_ceil(bits).min(1024) * threads
            }
            _ => (1usize << 20).div_ceil(bits).min(64) * threads,
        })
    }
}

/// Whether GPUs have kernels for an operation.
fn is_on_gpus(cuda: &Cuda, op: Op) -> bool {
    match op {
        Op::Mul | Op::Square => cuda.families().contains(&Family::Fft),
        Op::MulMod | Op::SquareMod | Op::Pow | Op::PowVartime | Op::Inv | Op::Gcd | Op::Div => true,
        _ => false,
    }
}
