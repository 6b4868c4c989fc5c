//! The class `Engine`: an engine with its settings, by which it is pickled and made again in another process.

use crate::checks::whole;
use crate::errors::{OrRaise, exception};
use crate::on_device::DeviceBatch;
use crate::upload::upload;
use modmill::cuda::Device;
use modmill::{Backend, MAX_THREADS, Op, Request, TRANSFORM_MAX_BITS};
use modmill_core::sync::Mutex;
use modmill_cuda::compiler;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::path::PathBuf;
use std::process;
use std::sync::Arc;

/// The settings that a caller may fix.
#[derive(Debug, Clone, Default)]
struct Settings {
    backend: Option<Backend>,
    threads: Option<usize>,
    devices: Option<Vec<u32>>,
}

/// Threads and GPUs that compute.
///
/// `Engine(backend=None, threads=None, devices=None)` fixes some things, and the engine chooses the others by
/// measured times.
///
/// backend: "cpu", "cuda", or None or "auto" for the one that finishes a batch first.
/// threads: the number of worker threads; None for one per core.
/// devices: a list of the numbers of GPUs; None for all.
///
/// An engine is pickled as its settings, and made again in every process that uses it.
#[pyclass(frozen, module = "modmill")]
pub(crate) struct Engine {
    settings: Settings,
    /// The engine, and the process that made it.
    made: Mutex<(u32, Arc<modmill::Engine>)>,
}

impl Engine {
    fn start(py: Python<'_>, settings: Settings) -> PyResult<Self> {
        let engine = make(py, &settings)?;
        Ok(Self { settings, made: Mutex::new((process::id(), Arc::new(engine))) })
    }

    /// The engine of this process.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<Arc<modmill::Engine>> {
        let lock = || self.made.lock();
        let known =
            |made: &(u32, Arc<modmill::Engine>)| (made.0 == process::id()).then(|| Arc::clone(&made.1));
        if let Some(engine) = known(&lock()) {
            return Ok(engine);
        }
        // This process is a fork. The lock is not held while the engine is made, because that lets other
        // threads of Python run, which may want the lock.
        let engine = Arc::new(make(py, &self.settings)?);
        let mut made = lock();
        if let Some(engine) = known(&made) {
            return Ok(engine);
        }
        // The engine that the process inherited has no threads here, and threads that do not exist may hold
        // its locks.
        std::mem::forget(std::mem::replace(&mut *made, (process::id(), Arc::clone(&engine))));
        Ok(engine)
    }

    /// The engine of this process that a call names, or the one that calls share.
    pub(crate) fn or_shared(
        py: Python<'_>,
        engine: Option<&Bound<'_, Self>>,
    ) -> PyResult<Arc<modmill::Engine>> {
        match engine {
            Some(engine) => engine.get().get(py),
            None => Self::shared(py)?.get().get(py),
        }
    }

    /// The engine that calls use if they name none.
    fn shared(py: Python<'_>) -> PyResult<&Py<Self>> {
        static SHARED: PyOnceLock<Py<Engine>> = PyOnceLock::new();
        SHARED.get_or_try_init(py, || Py::new(py, Self::start(py, Settings::default())?))
    }
}

fn make(py: Python<'_>, settings: &Settings) -> PyResult<modmill::Engine> {
    let mut builder = modmill::Engine::builder();
    if let Some(backend) = settings.backend {
        builder = builder.backend(backend);
    }
    if let Some(threads) = settings.threads {
        builder = builder.threads(threads);
    }
    if let Some(wanted) = &settings.devices {
        let unavailable = |text: String| exception(py, "UnavailableError", (text,));
        let found = Device::from_environment().map_err(|error| unavailable(error.to_string()))?.devices;
        let device = |ordinal: &u32| {
            let device = found.iter().find(|device| device.properties().ordinal == *ordinal);
            device.cloned().ok_or_else(|| unavailable(format!("there is no GPU {ordinal}")))
        };
        builder = builder.devices(wanted.iter().map(device).collect::<PyResult<_>>()?);
    }
    py.detach(|| builder.build()).or_raise(py)
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (backend=None, threads=None, devices=None))]
    fn new(
        py: Python<'_>,
        backend: Option<&str>,
        threads: Option<&Bound<'_, PyAny>>,
        devices: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let threads = threads.map(|threads| whole("threads", threads, 1..=MAX_THREADS)).transpose()?;
        let backend = match backend {
            None | Some("auto") => None,
            Some(name) => Some(name.parse::<Backend>().map_err(PyValueError::new_err)?),
        };
        Self::start(py, Settings { backend, threads, devices })
    }

    /// The number of worker threads.
    #[getter]
    fn threads(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.get(py)?.threads())
    }

    /// The names of the GPUs that the engine uses.
    #[getter]
    fn devices(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let engine = self.get(py)?;
        let devices = engine.cuda().into_iter().flat_map(|cuda| cuda.devices());
        Ok(devices.map(|device| device.properties().name.clone()).collect())
    }

    /// Tells how `count` items of `bits` bits are computed by `op`, such as "powmod" or "invert", and why.
    #[pyo3(signature = (op, bits, count))]
    fn explain(&self, py: Python<'_>, op: &str, bits: usize, count: usize) -> PyResult<String> {
        let name = match op {
            "powmod" => "pow",
            "mulmod" => "mul_mod",
            "invert" => "inv",
            name => name,
        };
        let op: Op = name.parse().map_err(PyValueError::new_err)?;
        let plan = self.get(py)?.plan(&Request::new(op, bits, count)).or_raise(py)?;
        Ok(plan.to_string())
    }

    /// Lists the memory of each GPU in bytes: a dictionary with "device", "total", "free", "resident" and
    /// "kept".
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let devices = self.get(py)?.memory().or_raise(py)?;
        let dictionary = |device: modmill::DeviceMemoryUse| {
            let dictionary = PyDict::new(py);
            dictionary.set_item("device", device.device)?;
            dictionary.set_item("total", device.total)?;
            dictionary.set_item("free", device.free)?;
            dictionary.set_item("resident", device.resident)?;
            dictionary.set_item("kept", device.kept)?;
            Ok(dictionary)
        };
        devices.into_iter().map(dictionary).collect()
    }

    /// Copies a column to a GPU, where it stays as a DeviceBatch. Without a GPU it stays in the engine's own
    /// memory.
    #[pyo3(signature = (numbers, width=None))]
    fn upload(
        &self,
        py: Python<'_>,
        numbers: &Bound<'_, PyAny>,
        width: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<DeviceBatch> {
        let width = width.map(|width| whole("width", width, 1..=TRANSFORM_MAX_BITS)).transpose()?;
        upload(py, &*self.get(py)?, numbers, width)
    }

    /// Lists what went wrong with GPUs without costing an answer.
    fn faults(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.get(py)?.faults())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let Settings { backend, threads, devices } = &self.settings;
        let arguments = (backend.map(Backend::name), *threads, devices.clone());
        Ok((py.get_type::<Self>(), arguments.into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        let Settings { backend, threads, devices } = &self.settings;
        let mut arguments = Vec::new();
        arguments.extend(backend.map(|backend| format!("backend={:?}", backend.name())));
        arguments.extend(threads.map(|threads| format!("threads={threads}")));
        arguments.extend(devices.as_ref().map(|devices| format!("devices={devices:?}")));
        format!("modmill.Engine({})", arguments.join(", "))
    }
}

/// The version of the compiler of GPU kernels, and the file that it was loaded from, where that is known.
#[pyfunction]
pub(crate) fn nvrtc(py: Python<'_>) -> PyResult<(String, Option<PathBuf>)> {
    let version = py.detach(compiler::version);
    let version = version.map_err(|text| exception(py, "UnavailableError", (text,)))?;
    Ok((version, compiler::file()))
}
