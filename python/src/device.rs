//! The methods of the class `DeviceBatch`.

use crate::answers::{Answers, OnFailure, Target};
use crate::column::Form;
use crate::dlpack;
use crate::engine::Engine;
use crate::errors::{OrRaise, exception};
use crate::on_device::DeviceBatch;
use modmill::DeviceAddress;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

impl DeviceBatch {
    /// The address of the numbers, if they are in the memory of a GPU.
    fn address(&self, py: Python<'_>) -> PyResult<DeviceAddress> {
        let none = || {
            let text = "the batch is not in the memory of a GPU; download() brings it to NumPy".to_owned();
            exception(py, "UnavailableError", (text,))
        };
        self.held.numbers.address().ok_or_else(none)
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
        let batch = py.detach(|| self.held.numbers.download()).or_raise(py)?;
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
            return Err(PyBufferError::new_err("the batch is handed over where it is, without a copy"));
        }
        dlpack::capsule(py, &self.held.numbers, address)
    }

    fn __repr__(&self) -> String {
        let numbers = &self.held.numbers;
        format!("<modmill.DeviceBatch of {} x {} bits>", numbers.len(), numbers.bits())
    }
}
