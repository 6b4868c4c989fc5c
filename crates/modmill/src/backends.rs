//! Which backend computes a group of items, and who finishes what a device could not.

use crate::long::factors_fit;
use modmill_core::{Backend, Batch, Error, Family, Job, MAX_BITS, Op, Operand, Path, Plan};
use modmill_cpu::Cpu;
use modmill_cuda::{Cuda, Device, Run};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What the caller fixed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wishes {
    pub(crate) backend: Option<Backend>,
    /// No backend is wanted, not even the one that the environment names.
    pub(crate) any_backend: bool,
    pub(crate) cpu: modmill_cpu::Settings,
    pub(crate) cuda: modmill_cuda::Settings,
    pub(crate) devices: Option<Vec<Device>>,
    pub(crate) no_fallback: bool,
}

/// The backends of an engine.
pub(crate) struct Backends {
    pub(crate) cpu: Cpu,
    pub(crate) cuda: Option<Cuda>,
    /// Everything that GPUs have goes to them, not only what they do sooner.
    always_cuda: bool,
    no_fallback: bool,
    faults: Mutex<Vec<String>>,
    /// What GPUs have computed so far.
    kernel_nanoseconds: AtomicU64,
}

/// What decides who computes a group of items.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) op: Op,
    pub(crate) bits: usize,
    pub(crate) count: usize,
    pub(crate) exponent_bits: usize,
}

/// Name of the environment variable that forces a backend.
const FORCE: &str = "MODMILL_BACKEND";

/// The backend that the environment asks for: the name of one, or `auto`.
fn forced_backend() -> Result<Option<Backend>, Error> {
    match std::env::var_os(FORCE) {
        Some(text) if text != "auto" && !text.is_empty() => match text.to_string_lossy().parse::<Backend>() {
            Ok(backend) => Ok(Some(backend)),
            Err(why) => Err(Error::Unavailable(format!("{FORCE}: {why}"))),
        },
        _ => Ok(None),
    }
}

/// Whether GPUs have kernels of a family.
fn is_on_gpus(family: Family) -> bool {
    modmill_cuda::FAMILIES.contains(&family)
}

impl Backends {
    pub(crate) fn start(wishes: Wishes) -> Result<Self, Error> {
        let Wishes { backend, any_backend, mut cpu, cuda, devices, no_fallback } = wishes;
        let wanted = match backend {
            None if !any_backend => forced_backend()?,
            backend => backend,
        };
        let always_cuda = wanted == Some(Backend::Cuda);
        // Who limits the CPU's instructions wants to see the CPU compute.
        let wants_cpu = wanted == Some(Backend::Cpu) || (!always_cuda && cpu.isa.is_some());
        let mut faults = Vec::new();
        let cuda = if wants_cpu || cuda.family.is_some_and(|family| !is_on_gpus(family)) {
            None
        } else {
            let found = match devices {
                Some(devices) => Ok(Cuda::on(devices, cuda)),
                None => Cuda::open(cuda),
            };
            match found {
                Ok(cuda) => Some(cuda),
                Err(error) if always_cuda => return Err(Error::Unavailable(error.to_string())),
                Err(error) => {
                    faults.push(error.to_string());
                    None
                }
            }
        };
        if always_cuda && cuda.is_none() {
            return Err(Error::Unavailable("no kernel for GPUs has this algorithm".to_owned()));
        }
        // A family that only GPUs have leaves the CPU free to choose for what GPUs do not have.
        if cuda.is_some()
            && cpu.family.is_some_and(|family| {
                Cpu::new(modmill_cpu::Settings { family: Some(family), ..cpu }).is_err()
            })
        {
            cpu.family = None;
        }
        Ok(Self {
            cpu: Cpu::new(cpu)?,
            cuda,
            always_cuda,
            no_fallback,
            faults: Mutex::new(faults),
            kernel_nanoseconds: AtomicU64::new(0),
        })
    }

    /// Every path that may be chosen.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let cpu = self.cpu.paths().iter().map(|path| Path {
            backend: Backend::Cpu,
            isa: Some(path.isa()),
            family: path.family(),
        });
        let gpu = self.cuda.iter().flat_map(Cuda::families);
        let gpu = gpu.map(|family| Path { backend: Backend::Cuda, isa: None, family });
        if self.always_cuda { gpu.collect() } else { cpu.chain(gpu).collect() }
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The GPUs, if they have the operation and are done before the CPU.
    fn cuda_for(&self, shape: Shape) -> Option<&Cuda> {
        let Shape { op, bits, count, exponent_bits } = shape;
        let cuda = self.cuda.as_ref().filter(|cuda| cuda.has(op))?;
        let seconds = cuda.seconds(op, bits, count, exponent_bits)?;
        let is_sooner = seconds < self.cpu.seconds(op, bits, count, exponent_bits);
        (self.always_cuda || is_sooner).then_some(cuda)
    }

    pub(crate) fn plan(&self, op: Op, bits: usize, count: usize, shared: bool) -> Plan {
        let cpu = || self.cpu.plan(op, bits, count, bits, shared);
        let shape = Shape { op, bits, count, exponent_bits: bits };
        let Some(cuda) = self.cuda_for(shape) else { return cpu() };
        let Some(mut plan) = cuda.plan(op, bits, count, bits) else { return cpu() };
        if !self.always_cuda {
            let seconds = self.cpu.seconds(op, bits, count, bits);
            plan.reason.push_str(&format!("; the CPU takes about {:.2} ms", 1e3 * seconds));
        }
        let is_modular = !matches!(op, Op::Mul | Op::Square);
        if is_modular && plan.family == Family::Fft && !shared {
            plan.reason
                .push_str("; before that, the CPU finds the first bits of a reciprocal of every modulus");
        }
        plan
    }

    /// Full products.
    pub(crate) fn mul(&self, a: Operand<'_>, b: Operand<'_>, count: usize) -> Result<Batch, Error> {
        let shape = Shape { op: Op::Mul, bits: a.bits().max(b.bits()), count, exponent_bits: 0 };
        let answers = self.on_gpus(shape, |cuda| cuda.mul(a, b, count).map(answers_and_seconds))?;
        Ok(answers.unwrap_or_else(|| self.cpu.mul(a, b, count)))
    }

    /// Full squares.
    pub(crate) fn square(&self, a: Operand<'_>, count: usize) -> Result<Batch, Error> {
        let shape = Shape { op: Op::Square, bits: a.bits(), count, exponent_bits: 0 };
        let answers = self.on_gpus(shape, |cuda| cuda.square(a, count).map(answers_and_seconds))?;
        Ok(answers.unwrap_or_else(|| self.cpu.square(a, count)))
    }

    /// Computes a group of items.
    pub(crate) fn run(&self, op: Op, job: &Job<'_>) -> Result<Batch, Error> {
        let shape = Shape { op, bits: job.bits, count: job.items.len(), exponent_bits: job.b.bits() };
        let Shape { bits, count, exponent_bits, .. } = shape;
        if let Some(cuda) =
            self.cuda.as_ref().filter(|cuda| cuda.is_by_transforms(op, bits, count, exponent_bits))
        {
            if factors_fit(op, job) {
                return Ok(self.run_long(op, job)?.unwrap_or_else(|| self.run_on_cpu(op, job)));
            }
            // Other families reduce longer factors first; where there is none, the CPU does.
            if bits > MAX_BITS || cuda.choose(op, bits, count, exponent_bits).is_none() {
                return Ok(self.run_on_cpu(op, job));
            }
        }
        let run = |cuda: &Cuda| {
            let run = match op {
                Op::Pow => cuda.pow(job),
                Op::PowVartime => cuda.pow_vartime(job),
                Op::SquareMod => cuda.square_mod(job),
                _ => cuda.mul_mod(job),
            };
            run.map(answers_and_seconds)
        };
        Ok(self.on_gpus(shape, run)?.unwrap_or_else(|| self.run_on_cpu(op, job)))
    }

    fn run_on_cpu(&self, op: Op, job: &Job<'_>) -> Batch {
        match op {
            Op::Pow => self.cpu.pow(job),
            Op::PowVartime => self.cpu.pow_vartime(job),
            Op::SquareMod => self.cpu.square_mod(job),
            _ => self.cpu.mul_mod(job),
        }
    }

    /// Something that GPUs compute, with their kernels' seconds; nothing if they are not asked because the CPU
    /// is done before, or failed and the CPU may finish.
    pub(crate) fn on_gpus<T>(
        &self,
        shape: Shape,
        run: impl FnOnce(&Cuda) -> modmill_cuda::Result<(T, f64)>,
    ) -> Result<Option<T>, Error> {
        let Some(cuda) = self.cuda_for(shape) else { return Ok(None) };
        match run(cuda) {
            Ok((answers, seconds)) => {
                self.kernel_nanoseconds.fetch_add((1e9 * seconds) as u64, Ordering::Relaxed);
                Ok(Some(answers))
            }
            Err(error) if self.no_fallback => Err(Error::Device(error.to_string())),
            Err(error) => {
                let Shape { op, count, .. } = shape;
                let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
                faults.push(format!("{op} of {count} items went to the CPU: {error}"));
                Ok(None)
            }
        }
    }

    pub(crate) fn kernel_seconds(&self) -> f64 {
        self.kernel_nanoseconds.load(Ordering::Relaxed) as f64 / 1e9
    }
}

pub(crate) fn answers_and_seconds(run: Run) -> (Batch, f64) {
    (run.answers, run.kernel_seconds)
}
