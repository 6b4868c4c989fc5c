//! Python's integers: their limbs, and integers from limbs.

use modmill_core::limbs;
use pyo3::exceptions::PyOverflowError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString};

/// Methods of Python's type `int`, looked up once for a column.
pub(crate) struct Ints<'py> {
    to_bytes: Bound<'py, PyAny>,
    from_bytes: Bound<'py, PyAny>,
    bit_length: Bound<'py, PyAny>,
    little: Bound<'py, PyString>,
}

impl<'py> Ints<'py> {
    pub(crate) fn new(py: Python<'py>) -> PyResult<Self> {
        let class = py.get_type::<PyInt>();
        Ok(Self {
            to_bytes: class.getattr(intern!(py, "to_bytes"))?,
            from_bytes: class.getattr(intern!(py, "from_bytes"))?,
            bit_length: class.getattr(intern!(py, "bit_length"))?,
            little: intern!(py, "little").clone(),
        })
    }

    /// The length of the absolute value in bits.
    pub(crate) fn bits(&self, value: &Bound<'py, PyInt>) -> PyResult<usize> {
        self.bit_length.call1((value,))?.extract()
    }

    /// Writes the absolute value of `value` to `out`, which has the limbs that it needs; returns whether
    /// `value` is negative.
    pub(crate) fn write(&self, value: &Bound<'py, PyInt>, out: &mut [u64]) -> PyResult<bool> {
        let to_bytes = |value: &Bound<'py, PyAny>| self.to_bytes.call1((value, 8 * out.len(), &self.little));
        // Negative numbers are rare, and Python tells them by an error.
        let (bytes, is_negative) = match to_bytes(value.as_any()) {
            Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
                (to_bytes(&value.neg()?)?, true)
            }
            bytes => (bytes?, false),
        };
        let bytes = bytes.cast::<PyBytes>()?.as_bytes();
        for (limb, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
            *limb = u64::from_le_bytes(*bytes);
        }
        Ok(is_negative)
    }

    /// The integer with these limbs.
    pub(crate) fn read(&self, value: &[u64], is_negative: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = self.little.py();
        let used = limbs::bit_length(value).div_ceil(64);
        let bytes = PyBytes::new_with(py, 8 * used, |bytes| {
            for (bytes, limb) in bytes.as_chunks_mut().0.iter_mut().zip(value) {
                *bytes = limb.to_le_bytes();
            }
            Ok(())
        })?;
        let number = self.from_bytes.call1((bytes, &self.little))?;
        if is_negative { number.neg() } else { Ok(number) }
    }
}
