//! The settings that a caller fixes for an engine.

use crate::gpu::Device;
use modmill_core::{Backend, Error, Family, Isa, Path, Recorder};
use std::sync::Arc;

/// The environment variable that names a backend.
const BACKEND: &str = "MODMILL_BACKEND";

/// The settings that a caller fixed; everything else is chosen by measured times.
#[derive(Debug, Clone)]
pub(crate) struct EngineConfig {
    pub(crate) backend: Option<Backend>,
    /// Whether `MODMILL_BACKEND` is not looked at.
    pub(crate) ignores_environment: bool,
    pub(crate) cpu: modmill_cpu::Settings,
    pub(crate) cuda: crate::gpu::Settings,
    pub(crate) devices: Option<Vec<Device>>,
    pub(crate) has_fallback: bool,
    pub(crate) recorder: Option<Arc<Recorder>>,
}

impl EngineConfig {
    /// The backend that the caller or the environment asks for.
    pub(crate) fn wanted_backend(&self) -> Result<Option<Backend>, Error> {
        match self.backend {
            None if !self.ignores_environment => named_backend(),
            backend => Ok(backend),
        }
    }
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            backend: None,
            ignores_environment: false,
            cpu: modmill_cpu::Settings::default(),
            cuda: crate::gpu::Settings::default(),
            devices: None,
            has_fallback: true,
            recorder: None,
        }
    }
}

/// The backend that the environment names; `auto` and the empty string name none.
fn named_backend() -> Result<Option<Backend>, Error> {
    match std::env::var_os(BACKEND) {
        Some(text) if !text.eq_ignore_ascii_case("auto") && !text.is_empty() => {
            let unknown = |why| Error::Unavailable(format!("{BACKEND}: {why}"));
            text.to_string_lossy().parse::<Backend>().map(Some).map_err(unknown)
        }
        _ => Ok(None),
    }
}

/// Settings of an [`Engine`](crate::Engine). Whatever is not set is chosen by measured times.
///
/// ```
/// use modmill::{Backend, Engine, Family};
///
/// let engine = Engine::builder().backend(Backend::Cpu).family(Family::Row).threads(2).build()?;
/// assert_eq!(engine.threads(), 2);
/// # Ok::<(), modmill::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct EngineBuilder {
    pub(crate) config: EngineConfig,
}

impl EngineBuilder {
    /// Uses one backend. By default every batch goes to the backend that finishes it first. Operations that a
    /// GPU does not have run on the CPU all the same.
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.config.backend = Some(backend);
        self
    }

    /// Lets batches go to the backend that finishes first, whatever `MODMILL_BACKEND` says.
    #[must_use]
    pub fn ignore_backend_env(mut self) -> Self {
        self.config.backend = None;
        self.config.ignores_environment = true;
        self
    }

    /// Uses no higher instruction set than `isa` on the CPU. `MODMILL_CPU` does the same from outside.
    #[must_use]
    pub fn isa(mut self, isa: Isa) -> Self {
        self.config.cpu.isa = Some(isa);
        self
    }

    /// Uses one family of algorithms for everything; an error if no backend here has it.
    #[must_use]
    pub fn family(mut self, family: Family) -> Self {
        self.config.cpu.family = Some(family);
        self.config.cuda.family = Some(family);
        self
    }

    /// Uses one path for every operation that the path has.
    #[must_use]
    pub fn path(self, path: Path) -> Self {
        let builder = self.backend(path.backend).family(path.family);
        match path.isa {
            Some(isa) => builder.isa(isa),
            None => builder,
        }
    }

    /// Number of worker threads; one per core by default.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.config.cpu.threads = Some(threads);
        self
    }

    /// Starts no worker threads: the CPU computes every call on its caller's thread, as it does for
    /// [`Engine::here`](crate::Engine::here). [`threads`](Self::threads) then has no effect. What the host
    /// computes for GPUs takes threads of the process.
    #[must_use]
    pub fn here(mut self) -> Self {
        self.config.cpu.is_here = true;
        self
    }

    /// Uses these devices instead of the GPUs of this machine.
    #[must_use]
    pub fn devices(mut self, devices: Vec<Device>) -> Self {
        self.config.devices = Some(devices);
        self
    }

    /// Settings of the GPUs' kernels.
    #[must_use]
    pub fn cuda(mut self, settings: crate::gpu::Settings) -> Self {
        self.config.cuda = crate::gpu::Settings { family: self.config.cuda.family, ..settings };
        self
    }

    /// Whether the CPU finishes what a device could not; it does by default.
    #[must_use]
    pub fn fallback(mut self, has_fallback: bool) -> Self {
        self.config.has_fallback = has_fallback;
        self
    }

    /// Tells `recorder` what every call executes: for tests that hold it against
    /// [`Engine::plan`](crate::Engine::plan).
    #[must_use]
    pub fn recorder(mut self, recorder: Arc<Recorder>) -> Self {
        self.config.recorder = Some(recorder);
        self
    }
}
