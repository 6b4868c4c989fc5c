//! The backends of an engine: who computes a request, and what went wrong with devices.

use crate::callers::small::SmallCalls;
use crate::config::EngineConfig;
use crate::gpu::{Cuda, Reciprocals};
use crate::host_memory::HostMemory;
use modmill_core::sync::Mutex;
use modmill_core::{Backend, Batch, Error, Location, Path, Plan, Request, Resident, TRANSFORM_MAX_BITS};
use modmill_cpu::Cpu;
use modmill_cpu::long::{Multiplier, reciprocal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zeroize::Zeroizing;

/// The backends of an engine.
#[derive(Clone)]
pub(crate) struct Backends {
    pub(crate) cpu: Arc<Cpu>,
    pub(crate) cuda: Option<Arc<Cuda>>,
    /// Whether GPUs compute everything they have kernels for, not only what they finish first.
    always_cuda: bool,
    /// Whether the CPU finishes what a device could not.
    has_fallback: bool,
    faults: Arc<Mutex<Vec<String>>>,
    /// Nanoseconds that kernels of GPUs have computed so far.
    kernel_nanoseconds: Arc<AtomicU64>,
    /// Small calls under way.
    pub(crate) small: Arc<SmallCalls>,
}

impl Backends {
    pub(crate) fn start(config: EngineConfig) -> Result<Self, Error> {
        let wanted = config.wanted_backend()?;
        let EngineConfig { mut cpu, cuda, devices, has_fallback, recorder, .. } = config;
        let always_cuda = wanted == Some(Backend::Cuda);
        let cuda = crate::gpu::Settings { asked_for: always_cuda, ..cuda };
        // A caller who limits the CPU's instructions wants to see the CPU compute.
        let wants_cpu = wanted == Some(Backend::Cpu) || (!always_cuda && cpu.isa.is_some());
        let is_on_gpus = cuda.family.is_none_or(|family| crate::gpu::FAMILIES.contains(&family));
        let mut faults = Vec::new();
        let cuda = if wants_cpu || !is_on_gpus {
            None
        } else {
            let found = match devices {
                Some(devices) => Cuda::try_on(devices, cuda),
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
        // A family that only GPUs have leaves the CPU free to choose for the operations that GPUs do not
        // have.
        let is_on_cpu =
            |family| Cpu::new(modmill_cpu::Settings { family: Some(family), is_here: true, ..cpu }).is_ok();
        if cuda.is_some() && cpu.family.is_some_and(|family| !is_on_cpu(family)) {
            cpu.family = None;
        }
        let mut cpu = Cpu::new(cpu)?;
        let mut cuda = cuda.map(|cuda| cuda.divided_by(Arc::new(CpuReciprocals(cpu.multiplier()))));
        if let Some(pool) = cpu.pool() {
            cuda = cuda.map(|cuda| cuda.moved_by(pool));
        }
        if let Some(recorder) = recorder {
            cpu = cpu.recorded_by(recorder.clone());
            cuda = cuda.map(|cuda| cuda.recorded_by(recorder));
        }
        let (kernel_nanoseconds, small) = Default::default();
        Ok(Self {
            cpu: Arc::new(cpu),
            cuda: cuda.map(Arc::new),
            always_cuda,
            has_fallback,
            faults: Arc::new(Mutex::new(faults)),
            kernel_nanoseconds,
            small,
        })
    }

    /// These backends, without the GPUs or with GPUs wherever they have kernels.
    pub(crate) fn limited_to(&self, backend: Backend) -> Result<Self, Error> {
        let cuda = match (backend, &self.cuda) {
            (Backend::Cpu, _) => None,
            (Backend::Cuda, Some(cuda)) => Some(Arc::clone(cuda)),
            (Backend::Cuda, None) => return Err(Error::Unavailable("the engine has no GPU".to_owned())),
        };
        Ok(Self { cuda, always_cuda: backend == Backend::Cuda, ..self.clone() })
    }

    /// These backends without worker threads.
    pub(crate) fn here(&self) -> Self {
        Self { cpu: Arc::new(self.cpu.here()), ..self.clone() }
    }

    /// The backend that computes whatever it can, if one was asked for or there is no other.
    pub(crate) fn only(&self) -> Option<Backend> {
        match &self.cuda {
            None => Some(Backend::Cpu),
            Some(_) => self.always_cuda.then_some(Backend::Cuda),
        }
    }

    /// Every path that may be chosen.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let cpu = self.cpu.paths().iter().map(|path| Path {
            backend: Backend::Cpu,
            isa: Some(path.isa()),
            family: path.family(),
        });
        let gpu = self.cuda.iter().flat_map(|cuda| cuda.families());
        let gpu = gpu.map(|family| Path { backend: Backend::Cuda, isa: None, family });
        if self.always_cuda { gpu.collect() } else { cpu.chain(gpu).collect() }
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        self.faults.lock().clone()
    }

    /// Adds to the time that kernels of GPUs have computed.
    pub(crate) fn add_kernel_seconds(&self, seconds: f64) {
        self.kernel_nanoseconds.fetch_add((1e9 * seconds) as u64, Ordering::Relaxed);
    }

    pub(crate) fn kernel_seconds(&self) -> f64 {
        self.kernel_nanoseconds.load(Ordering::Relaxed) as f64 / 1e9
    }

    /// How a request is computed: by the backend that finishes first, or by GPUs wherever they have kernels
    /// if they were asked for. This is the only place where backends are compared. `None` if no backend has
    /// an algorithm for the whole operation, so that its parts are computed one by one.
    pub(crate) fn choose(&self, request: &Request) -> Option<Plan> {
        let gpu = self.cuda.as_ref().and_then(|cuda| self.plan_on_gpus(cuda, request));
        match gpu {
            Some(gpu) if self.always_cuda => Some(gpu),
            Some(gpu) => match self.plan_on_cpu(request) {
                Ok(cpu) if gpu.seconds >= cpu.seconds => Some(cpu),
                Ok(_) | Err(_) => Some(gpu),
            },
            None => self.plan_on_cpu(request).ok(),
        }
    }

    /// How a request is computed; an error if no backend computes it.
    pub(crate) fn plan(&self, request: &Request) -> Result<Plan, Error> {
        self.choose(request).ok_or_else(|| no_plan(request))
    }

    /// The plan of a request, with the other plans that were possible, fastest first.
    pub(crate) fn explain(&self, request: &Request) -> Result<Plan, Error> {
        let mut plan = self.plan(request)?;
        let cpu = self.plan_on_cpu(request).ok();
        let gpu = self.cuda.as_ref().and_then(|cuda| Some((cuda, self.plan_on_gpus(cuda, request)?)));
        match (plan.backend(), gpu) {
            (Backend::Cuda, Some((cuda, _))) => {
                plan.others = cuda.alternatives(&plan);
                if !self.always_cuda {
                    plan.others.extend(cpu.map(|cpu| cpu.as_alternative()));
                }
            }
            (Backend::Cuda | Backend::Cpu, gpu) => {
                plan.others = self.cpu.alternatives(&plan);
                plan.others.extend(gpu.map(|(_, gpu)| gpu.as_alternative()));
            }
        }
        plan.others.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Ok(plan)
    }

    /// How the CPU computes a request. Copies of numbers between a device and the host count.
    pub(crate) fn plan_on_cpu(&self, request: &Request) -> Result<Plan, Error> {
        let mut plan = self.cpu.plan(request).ok_or_else(|| no_plan(request))?;
        let bytes = bytes_on_devices(request);
        if bytes > 0.0 {
            plan.seconds += COPY_SECONDS + bytes / COPY_RATE;
            plan.reason.push_str("; the numbers on the device are copied");
        }
        Ok(plan)
    }

    /// How GPUs compute a request, with a word about operands on a device.
    fn plan_on_gpus(&self, cuda: &Cuda, request: &Request) -> Option<Plan> {
        let mut plan = cuda.plan(request)?;
        plan.reason.push_str(match request.operands {
            Location::Host => "",
            Location::Device => "; the operands are on the device",
            Location::Mixed => "; the operands on the host are copied to the others' device",
        });
        Some(plan)
    }

    /// The answers that GPUs computed; `None` if they failed and the CPU may finish. The seconds of their
    /// kernels are counted.
    pub(crate) fn outcome<T>(
        &self,
        request: &Request,
        run: crate::gpu::Result<(T, f64)>,
    ) -> Result<Option<T>, Error> {
        let Request { op, count, .. } = request;
        let answers = run.map(|(answers, seconds)| {
            self.add_kernel_seconds(seconds);
            answers
        });
        self.or_fault(|| format!("{op} of {count} items"), answers)
    }

    /// The result of GPUs; `None` if they failed and the CPU may finish. Memory that ran out is an error.
    pub(crate) fn or_fault_but_memory<T>(
        &self,
        what: impl FnOnce() -> String,
        run: crate::gpu::Result<T>,
    ) -> Result<Option<T>, Error> {
        match run {
            Err(error @ crate::gpu::Error::OutOfMemory { .. }) => Err(error.into()),
            run => self.or_fault(what, run),
        }
    }

    /// The answers; `None` if GPUs failed and the CPU may finish. The fault is kept.
    pub(crate) fn or_fault<T>(
        &self,
        what: impl FnOnce() -> String,
        run: crate::gpu::Result<T>,
    ) -> Result<Option<T>, Error> {
        match run {
            Ok(answers) => Ok(Some(answers)),
            Err(crate::gpu::Error::Interrupted) => Err(Error::Interrupted),
            Err(error) if self.may_finish(what, &error) => Ok(None),
            Err(error) => Err(Error::Device(error.to_string())),
        }
    }

    /// Whether the CPU may finish what GPUs could not do. The fault is then kept.
    pub(crate) fn may_finish(&self, what: impl FnOnce() -> String, error: &impl std::fmt::Display) -> bool {
        if self.has_fallback {
            self.faults.lock().push(format!("{} went to the CPU: {error}", what()));
        }
        self.has_fallback
    }

    /// The GPUs with their plan of a request, if they are chosen for it.
    pub(crate) fn gpus_for(&self, request: &Request) -> Option<(&Cuda, Plan)> {
        let plan = self.choose(request).filter(|plan| plan.backend() == Backend::Cuda)?;
        Some((self.cuda.as_deref()?, plan))
    }

    /// Answers that the host computed, on the device with this index, or on any.
    pub(crate) fn upload_answers(&self, answers: Batch, index: Option<usize>) -> Result<Resident, Error> {
        match &self.cuda {
            Some(cuda) => cuda.upload(answers.view(), index).map_err(Error::from),
            None => Ok(HostMemory::resident(answers)),
        }
    }
}

/// Bytes that go between a device and the host in a second.
const COPY_RATE: f64 = 20e9;

/// Seconds to begin a copy between a device and the host, and to wait for its end.
const COPY_SECONDS: f64 = 20e-6;

/// The error of a request that no backend computes.
fn no_plan(request: &Request) -> Error {
    match request.bits > TRANSFORM_MAX_BITS {
        true => Error::TooLong { what: "a number", bits: request.bits, limit: TRANSFORM_MAX_BITS },
        false => {
            Error::Unavailable(format!("no path has {} of {} bits as a whole", request.op, request.bits))
        }
    }
}

/// Bytes of the operands and answers of a request that are on a device.
fn bytes_on_devices(request: &Request) -> f64 {
    let operand_bits = match request.operands {
        Location::Host => 0,
        Location::Device | Location::Mixed => request.factor_bits.saturating_add(request.exponent_bits()),
    };
    let answer_bits = if request.answers == Location::Host { 0 } else { request.bits };
    let operand_bits = request.terms.saturating_mul(operand_bits);
    request.count as f64 * operand_bits.saturating_add(answer_bits) as f64 / 8.0
}

/// Reciprocals by the CPU's transforms, for GPUs.
struct CpuReciprocals(Multiplier);

impl Reciprocals for CpuReciprocals {
    fn reciprocal(&self, divisor: &[u64]) -> Zeroizing<Vec<u64>> {
        reciprocal(&self.0, divisor)
    }
}
