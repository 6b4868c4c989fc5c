//! Columns that are copied to a device.

use crate::column::Column;
use crate::errors::OrRaise;
use crate::on_device::DeviceBatch;
use crate::reader::Reader;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Copies a column to a device.
pub(crate) fn upload(
    py: Python<'_>,
    engine: &modmill::Engine,
    numbers: &Bound<'_, PyAny>,
    width: Option<usize>,
) -> PyResult<DeviceBatch> {
    let column = Reader { engine, width, max_bits: None }.read("numbers", numbers)?;
    refuse_marks(&column)?;
    let batch = column.into_batch().or_raise(py)?;
    let resident = py.detach(|| engine.upload(&batch));
    Ok(DeviceBatch::new(resident.or_raise(py)?))
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
