//! Arrays of limbs: two dimensions, one row for each number, 64-bit words with the lowest one first. NumPy's
//! arrays come and go in this form through Python's buffer protocol.
#![allow(unsafe_code)] // reads the memory of arrays without copying it

use modmill::{Batch, BatchView};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A contiguous array of limbs, in the memory of the caller's array. Nothing may write to the array while a
/// call reads it, as with every function that works without the interpreter's lock.
pub(crate) struct LimbArray {
    buffer: PyBuffer<u64>,
    /// The number of limbs of each number.
    stride: usize,
}

impl LimbArray {
    /// The array, if its rows stand together in memory.
    pub(crate) fn new(buffer: PyBuffer<u64>) -> Option<Self> {
        let stride = stride(&buffer)?;
        buffer.is_c_contiguous().then_some(Self { buffer, stride })
    }

    pub(crate) fn view(&self) -> BatchView<'_> {
        let limbs = match self.buffer.as_slice_ptr() {
            // SAFETY: the buffer holds its memory until it is dropped; it is contiguous, aligned and typed,
            // which `PyBuffer` has checked; nobody writes to it, by the contract above.
            Some(limbs) => unsafe { limbs.as_ref() },
            None => &[],
        };
        BatchView::from_limbs(64 * self.stride, limbs).expect("rows are whole")
    }
}

/// The number of limbs of each number; `None` if there are none or the shape is another.
pub(crate) fn stride(buffer: &PyBuffer<u64>) -> Option<usize> {
    match *buffer.shape() {
        [_] => Some(1),
        [_, stride] if stride > 0 => Some(stride),
        _ => None,
    }
}

/// A new NumPy array with the numbers of a batch.
pub(crate) fn numpy<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyAny>> {
    let array = py.import("numpy")?.call_method1("empty", ((batch.len(), batch.stride()), "uint64"))?;
    if !batch.is_empty() {
        PyBuffer::<u64>::get(&array)?.copy_from_slice(py, batch.as_limbs())?;
    }
    Ok(array)
}

/// Writes the numbers of a batch to the caller's array.
pub(crate) fn write(array: &Bound<'_, PyAny>, batch: &Batch) -> PyResult<()> {
    let wrong =
        || PyTypeError::new_err("out must be a writable, contiguous array of uint64 with two dimensions");
    let buffer = PyBuffer::<u64>::get(array).map_err(|_| wrong())?;
    if buffer.readonly() || !buffer.is_c_contiguous() {
        return Err(wrong());
    }
    let expected = [batch.len(), batch.stride()];
    if buffer.shape() != expected {
        let text = format!("out has the shape {:?}; the answers have {expected:?}", buffer.shape());
        return Err(PyValueError::new_err(text));
    }
    if batch.is_empty() { Ok(()) } else { buffer.copy_from_slice(array.py(), batch.as_limbs()) }
}
