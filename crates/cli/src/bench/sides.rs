//! The paths of ours that are measured, those of the CPU and of GPUs apart: what fills a GPU keeps a
//! CPU busy for minutes.

use super::chain::Chain;
use super::contender::{Call, Ours};
use super::inputs::{Inputs, Shape};
use super::measurand::Measurand;
use super::rsa::RsaOp;
use crate::failure::Failure;
use crate::peers::Peer;
use modmill::cuda::{Cuda, Device};
use modmill::{Backend, Engine, EngineBuilder, Error, Family, Op, Plan};

/// Which paths to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// What the engine chooses.
    Chosen,
    Family(Family),
    Every,
}

impl Wanted {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Chosen),
            "all" => Ok(Self::Every),
            _ => text.parse().map(Self::Family),
        }
    }
}

/// The engines of one number of threads.
pub(crate) struct Engines {
    /// The one that chooses by itself.
    pub(crate) chosen: Engine,
    pub(crate) sides: Vec<Side>,
}

/// The engines that are held to one backend.
pub(crate) struct Side {
    pub(crate) backend: Backend,
    engines: Vec<Engine>,
}

impl Engines {
    pub(crate) fn new(wanted: &[Wanted], settings: &EngineBuilder) -> Result<Self, Failure> {
        let chosen = settings.clone().build()?;
        let mut sides = Vec::new();
        for backend in [Backend::Cpu, Backend::Cuda] {
            let engines = if chosen.paths().iter().any(|path| path.backend == backend) {
                Side::engines(wanted, &settings.clone().backend(backend).fallback(false))?
            } else if backend == Backend::Cpu {
                // GPUs are asked for: the CPU does what they do not have.
                vec![settings.clone().build()?]
            } else {
                continue;
            };
            sides.push(Side { backend, engines });
        }
        let known: Vec<Family> = sides.iter().flat_map(Side::families).collect();
        let missing = |wish: &&Wanted| matches!(wish, Wanted::Family(family) if !known.contains(family));
        match wanted.iter().find(missing) {
            Some(Wanted::Family(family)) => {
                Err(settings.clone().family(*family).build().err().map_or_else(
                    || Failure::Usage(format!("nothing here computes by {family}")),
                    Failure::from,
                ))
            }
            _ => Ok(Self { chosen, sides }),
        }
    }

    /// Why no GPU takes part, if none does.
    pub(crate) fn without_gpu(&self) -> Option<String> {
        match self.chosen.cuda() {
            Some(_) => None,
            None => Some(self.chosen.faults().pop().unwrap_or("GPUs are not to be used".to_owned())),
        }
    }

    /// Every engine of a side that computes `op` of this shape by a path of its own, and whether it is
    /// the path that the engine chooses by itself.
    pub(crate) fn engines<'a>(&self, side: &'a Side, shape: Shape) -> Vec<(&'a Engine, Plan, bool)> {
        let mut found: Vec<(&Engine, Plan, bool)> = Vec::new();
        for engine in &side.engines {
            let plan = explain(engine, shape);
            if plan.backend == side.backend && found.iter().all(|(_, other, _)| other.path() != plan.path()) {
                let chosen = plan.path() == explain(&self.chosen, shape).path();
                found.push((engine, plan, chosen));
            }
        }
        found
    }

    /// Every path of a side to measure at a point, once each.
    pub(crate) fn contenders<'a>(
        &self,
        side: &'a Side,
        measurand: Measurand,
        inputs: &'a Inputs,
    ) -> Result<Vec<Ours<'a>>, Error> {
        let mut contenders: Vec<Ours<'a>> = Vec::new();
        for (engine, plan, chosen) in self.engines(side, inputs.shape) {
            // Inverses and divisors take the same road on every path.
            if matches!(plan.op, Op::Inv | Op::Gcd) && !contenders.is_empty() {
                continue;
            }
            let call = match (measurand, engine.cuda()) {
                (Measurand::Chain(_), Some(cuda)) => Call::Chain(Chain::new(cuda, inputs)?),
                (Measurand::Chain(_), None) => continue,
                _ => Call::Engine(engine),
            };
            contenders.push(Ours::new(call, plan, chosen, inputs)?);
        }
        Ok(contenders)
    }
}

fn explain(engine: &Engine, shape: Shape) -> Plan {
    let Shape { op, bits, count, shared_modulus, .. } = shape;
    match shared_modulus {
        true => engine.explain_one_modulus(op, bits, count),
        false => engine.explain(op, bits, count),
    }
}

/// Seconds of a call on a GPU, about, if nothing is said of its size.
const CALL_SECONDS: f64 = 0.4;

impl Side {
    fn engines(wanted: &[Wanted], settings: &EngineBuilder) -> Result<Vec<Engine>, Failure> {
        let free = settings.clone().build()?;
        let paths = free.paths();
        let mut families: Vec<Family> = paths.iter().map(|path| path.family).collect();
        families.dedup();
        // By default every family of the CPU but residues, which are there to be compared with, and transforms,
        // which the engine chooses where they are of use; a GPU's are measured where they are asked for.
        let mut default = vec![Wanted::Chosen];
        if free.cuda().is_none() {
            let fast = families.iter().copied().filter(|family| !matches!(family, Family::Rns | Family::Fft));
            default.extend(fast.map(Wanted::Family));
        }
        let wanted = if wanted.is_empty() { &default } else { wanted };
        let mut engines = Vec::new();
        if wanted.iter().any(|wish| matches!(wish, Wanted::Chosen | Wanted::Every)) {
            engines.push(free);
        }
        for wish in wanted {
            match *wish {
                Wanted::Family(family) if families.contains(&family) => {
                    engines.push(settings.clone().family(family).build()?);
                }
                Wanted::Every => {
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

    /// The GPUs, on their side.
    fn cuda(&self) -> Option<&Cuda> {
        self.engines.first()?.cuda().filter(|_| self.backend == Backend::Cuda)
    }

    /// Whether paths of this side are measured for it.
    pub(crate) fn has(&self, measurand: Measurand) -> bool {
        let on_gpus = |engine: &Engine| engine.cuda().is_some_and(|cuda| cuda.has(measurand.op()));
        self.engines.first().is_some_and(|engine| match (self.backend, measurand) {
            (Backend::Cuda, _) => on_gpus(engine),
            (_, Measurand::Call(_)) => !on_gpus(engine),
            (_, Measurand::Chain(_)) => false,
            (_, Measurand::Rsa(_)) => true,
        })
    }

    /// The peers that are measured on this side: they have operations, and are the CPU's.
    pub(crate) fn peers<'a>(&self, measurand: Measurand, peers: &'a [Box<dyn Peer>]) -> &'a [Box<dyn Peer>] {
        match (self.backend, measurand) {
            (Backend::Cpu, Measurand::Call(_) | Measurand::Rsa(_)) => peers,
            _ => &[],
        }
    }

    /// The GPUs' name, on their side.
    pub(crate) fn device(&self) -> Option<String> {
        let mut devices = self.cuda()?.devices();
        let name = devices.next().map(Device::properties)?.name.clone();
        Some(match devices.count() {
            0 => name,
            more => format!("{} x {name}", more + 1),
        })
    }

    /// As many items as a point has if nothing else is said.
    pub(crate) fn default_batch(
        &self,
        measurand: Measurand,
        bits: usize,
        threads: usize,
    ) -> Result<usize, Error> {
        let op = measurand.op();
        if let Some(cuda) = self.cuda().filter(|cuda| cuda.has(op)) {
            // A gigabit of factors, of which the longest make a batch of one.
            if matches!(op, Op::Mul | Op::Square) || cuda.is_by_transforms(op, bits, 1 << 10, bits) {
                let items = match op {
                    // Points for all multiprocessors.
                    Op::Pow | Op::PowVartime => 1 << 23,
                    _ => 1 << 29,
                } / bits;
                return Ok(items.clamp(1, 1 << 14) * cuda.devices().count());
            }
            let (bits, waves) = match measurand {
                Measurand::Call(Op::MulMod | Op::SquareMod) | Measurand::Rsa(RsaOp::Verify) => (bits, 16),
                Measurand::Rsa(_) => (bits / 2, 8),
                _ => (bits, 8),
            };
            // Among many waves the choice is the one with the highest throughput.
            let Some(choice) = cuda.choose(op, bits, 1 << 20, bits) else { return Ok(1) };
            let wave = cuda.wave(choice.variant).map_err(|error| Error::Device(error.to_string()))?;
            // Several chunks, so that what is done before the first and after the last shows less; but long numbers
            // take long.
            let in_time = CALL_SECONDS / (choice.seconds * wave as f64 / (1u32 << 20) as f64);
            let waves = waves.min((in_time as usize).max(2));
            return Ok(waves * wave * cuda.devices().count());
        }
        Ok(match op {
            _ if matches!(measurand, Measurand::Rsa(_)) => 64 * threads,
            Op::Pow | Op::PowVartime => 16 * threads,
            Op::Inv | Op::Gcd => (1usize << 20).div_ceil(bits).min(64) * threads,
            // Some tens of milliseconds, however long the numbers are.
            _ => (1usize << 22).div_ceil(bits).min(1024) * threads,
        })
    }
}
