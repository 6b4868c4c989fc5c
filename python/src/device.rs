//! Batches that stay in the memory of a GPU.

use crate::answers::{Answers, OnFailure, Target};
use crate::column::{Column, Form};
use crate::dlpack;
use crate::engine::Engine;
use crate::errors::{exception, of_call};
use crate::reader::Reader;
use modmill::{DeviceAddress, Error, Resident, ResidentModuli};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::sync::{Arc, OnceLock};

/// Numbers on a device, and what is known of them as moduli.
pub(crate) struct OnDevice {
    pub(crate) numbers: Resident,
    moduli: OnceLock<ResidentModuli>,
}

impl OnDevice {
    /// The numbers as moduli. The host keeps a copy, which is made once.
    pub(crate) fn moduli(&self) -> Result<&ResidentModuli, Error> {
        if let Some(moduli) = self.moduli.get() {
            return Ok(moduli);
        }
        let moduli = ResidentModuli::new(self.numbers.download()?, self.numbers.clone())?;
        Ok(self.moduli.get_or_init(|| moduli))
    }
}

/// A batch that stays in the memory of a GPU, or of an engine without GPUs. It never changes.
#[pyclass(frozen, module = "modmill")]
pub(crate) struct DeviceBatch {
    pub(crate) held: Arc<OnDevice>,
}

impl DeviceBatch {
    pub(crate) fn new(numbers: Resident) -> Self {
        Self { held: Arc::new(OnDevice { numbers, moduli: OnceLock::new() }) }
    }

    /// Copies a column to a device.
    pub(crate) fn upload(
        py: Python<'_>,
        engine: &modmill::Engine,
        numbers: &Bound<'_, PyAny>,
        width: Option<usize>,
    ) -> PyResult<Self> {
        let column = Reader { engine, width, max_bits: None }.read("numbers", numbers)?;
        refuse_marks(&column)?;
        let batch = column.into_batch().map_err(|error| of_call(py, &error))?;
        let resident = py.detach(|| engine.upload(&batch));
        Ok(Self::new(resident.map_err(|error| of_call(py, &error))?))
    }

    /// The address of the numbers, if they are in the memory of a GPU.
    fn address(&self, py: Python<'_>) -> PyResult<DeviceAddress> {
        let none = || {
            let text = "the batch is not in the memory of a GPU; download() brings it to NumPy".to_owned();
            exception(py, "UnavailableError", (text,))
        };
        self.held.numbers.address().ok_or_else(none)
    }
}

/// Numbers on a device have neither signs nor nulls.
pub(crate) fn refuse_marks(column: &Column) -> PyResult<()> {
    let long = column.long.iter().map(|(item, _)| item);
    match column.negative.iter().chain(&column.null).chain(long).min() {
        None => Ok(()),
        Some(item) => {
            let text = format!(
                "{}: item {item} is negative or null, or longer than max_bits, which a device cannot hold",
                column.name
            );
            Err(PyValueError::new_err(text))
        }
    }
}

#[pymethods]
impl DeviceBatch {
    fn __len__(&self) -> usize {
        self.held.numbers.len()
    }

    /// The width of the numbers in bits.
    #[getter]
    fn width(&self) -> usize {
        self.held.numbers.bits()
    }

    /// Bytes of the device's memory that the batch takes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.held.numbers.bytes()
    }

    /// Copies the numbers to the host.
    #[pyo3(signature = (out=None, *, engine=None))]
    fn download<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        engine: Option<Bound<'py, Engine>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let engine = Engine::or_shared(py, engine.as_ref())?;
        let target = match out {
            None => Target::New(Form::Limbs),
            Some(out) => Target::read(out, &[Form::Limbs])?,
        };
        let batch = py.detach(|| self.held.numbers.download()).map_err(|error| of_call(py, &error))?;
        Answers::new(batch).deliver(py, &engine, &target, OnFailure::Raise)
    }

    /// The batch in the terms of Numba's CUDA array interface. Consumers must not write to it.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let DeviceAddress { address, stride, .. } = self.address(py)?;
        let numbers = &self.held.numbers;
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (numbers.len(), numbers.bits().div_ceil(64)))?;
        interface.set_item("typestr", "<u8")?;
        // torch refuses memory that is marked as read-only.
        interface.set_item("data", (address, false))?;
        interface.set_item("strides", (8 * stride, 8))?;
        // Every operation has ended when its answers are here.
        interface.set_item("stream", py.None())?;
        Ok(interface)
    }

    /// The kind and the number of the device, in the terms of DLPack.
    fn __dlpack_device__(&self, py: Python<'_>) -> PyResult<(i32, i32)> {
        Ok((dlpack::CUDA, self.address(py)?.ordinal as i32))
    }

    /// A capsule of DLPack that keeps the numbers alive. Consumers must not write to them.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<Bound<'py, PyAny>>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Every operation has ended when its answers are here, so that any stream may read them; the oldest
        // version of the structure is one that every consumer reads.
        let _ = (stream, max_version);
        let address = self.address(py)?;
        if copy == Some(true)
            || dl_device.is_some_and(|device| device != (dlpack::CUDA, address.ordinal as i32))
        {
            return Err(pyo3::exceptions::PyBufferError::new_err(
                "the batch is handed over where it is, without a copy",
            ));
        }
        dlpack::capsule(py, &self.held.numbers, address)
    }

    fn __repr__(&self) -> String {
        let numbers = &self.held.numbers;
        format!("<modmill.DeviceBatch of {} x {} bits>", numbers.len(), numbers.bits())
    }
}
