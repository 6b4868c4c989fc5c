//! Columns of Arrow out: a class of our own that other libraries read without a copy.

use crate::arrow_values;
use crate::column::named;
use crate::watching::look_at_signals;
use arrow_array::builder::StringBuilder;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::{Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, LargeBinaryArray, StructArray};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::Field;
use modmill::{Batch, Engine};
use modmill_core::{limbs, try_vector};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList, PySlice, PyTuple};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// A column of answers, which Arrow libraries read without a copy.
#[pyclass(frozen, module = "modmill")]
pub(crate) struct Column {
    array: ArrayRef,
    /// The metadata of the column's field.
    metadata: HashMap<String, String>,
}

#[pymethods]
impl Column {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.array.data_type());
        let schema = schema.and_then(|schema| schema.with_metadata(&self.metadata)).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // The interface lets a producer answer with its own type where it does not convert.
        let _ = requested_schema;
        let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) =
            to_ffi(&self.array.to_data()).map_err(failed)?;
        let schema = schema.with_metadata(&self.metadata).map_err(failed)?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        PyTuple::new(py, [schema, PyCapsule::new_with_value(py, array, c"arrow_array")?])
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// Arrow's name of the column's type.
    #[getter]
    fn r#type(&self) -> String {
        self.array.data_type().to_string()
    }

    /// The number of null items.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
    }

    /// An item, or a column of the items of a slice without a step.
    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let len = self.array.len();
        if let Ok(slice) = index.cast::<PySlice>() {
            let range = slice.indices(len as isize)?;
            if range.step != 1 {
                return Err(PyValueError::new_err("slices of a column have the step 1"));
            }
            let array = self.array.slice(range.start as usize, range.slicelength);
            return Ok(Bound::new(py, Self { array, metadata: self.metadata.clone() })?.into_any());
        }
        let index: isize = index.extract()?;
        let row = if index < 0 { index.checked_add_unsigned(len) } else { Some(index) };
        match row.and_then(|row| usize::try_from(row).ok()).filter(|&row| row < len) {
            Some(row) => arrow_values::object(py, &self.array, row),
            None => Err(PyIndexError::new_err(format!("there is no item {index} among {len}"))),
        }
    }

    /// The items as a list: numbers are big-endian bytes, and null is None.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for row in 0..self.array.len() {
            look_at_signals(py, row)?;
            list.append(arrow_values::object(py, &self.array, row)?)?;
        }
        Ok(list)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let octets = arrow_values::to_octets(&self.array, &self.metadata).map_err(failed)?;
        let make = py.get_type::<Self>().getattr(intern!(py, "_unpickle"))?;
        Ok((make, (PyBytes::new(py, &octets),)))
    }

    #[staticmethod]
    fn _unpickle(data: &[u8]) -> PyResult<Self> {
        let (array, metadata) = arrow_values::from_octets(data).map_err(failed)?;
        Ok(Self { array, metadata })
    }

    /// The metadata of the column's field.
    #[getter]
    fn metadata(&self) -> HashMap<String, String> {
        self.metadata.clone()
    }

    /// Shows the shape and never the values, which may be secret.
    fn __repr__(&self) -> String {
        let nulls = match self.array.null_count() {
            0 => String::new(),
            1 => ", 1 null".to_owned(),
            count => format!(", {count} nulls"),
        };
        format!("<modmill.Column of {} x {}{nulls}>", self.array.len(), self.array.data_type())
    }
}

fn failed(error: arrow_schema::ArrowError) -> PyErr {
    PyValueError::new_err(format!("the column cannot be handed over: {error}"))
}

impl Column {
    /// An array as it is.
    pub(crate) fn of(array: ArrayRef) -> Self {
        Self { array, metadata: HashMap::new() }
    }

    /// This column with metadata of its field.
    pub(crate) fn with_metadata(self, metadata: HashMap<String, String>) -> Self {
        Self { metadata, ..self }
    }

    /// A table of this column, whose field has a name and the column's metadata.
    pub(crate) fn named(self, name: &str) -> Self {
        let is_nullable = self.array.null_count() > 0;
        let field =
            Field::new(name, self.array.data_type().clone(), is_nullable).with_metadata(self.metadata);
        Self::of(Arc::new(StructArray::from(vec![(Arc::new(field), self.array)])))
    }

    /// Big-endian numbers of `size` bytes each, one after the other, without a copy.
    pub(crate) fn octets(octets: Vec<u8>, size: usize) -> PyResult<Self> {
        let count = octets.len() / size;
        Self::fixed(octets, size, count, None)
    }

    /// Big-endian numbers of fixed size, null at the items of `failed`.
    pub(crate) fn numbers(engine: &Engine, batch: &Batch, failed: &[usize]) -> PyResult<Self> {
        let bytes = batch.bits().div_ceil(8).max(1);
        let values = try_vector(bytes.saturating_mul(batch.len()));
        let mut values = values.map_err(|error| named("the answers", &error))?;
        engine.install(|| {
            let rows = values.par_chunks_mut(bytes).enumerate().with_min_len(1024);
            rows.for_each(|(row, out)| limbs::write_be_bytes(batch.get(row), out));
        });
        Self::fixed(values, bytes, batch.len(), nulls(batch.len(), failed))
    }

    fn fixed(octets: Vec<u8>, size: usize, count: usize, nulls: Option<NullBuffer>) -> PyResult<Self> {
        let size =
            i32::try_from(size).map_err(|_| PyValueError::new_err("numbers are too long for Arrow"))?;
        let array = FixedSizeBinaryArray::try_new_with_len(size, Buffer::from_vec(octets), nulls, count);
        Ok(Self::of(Arc::new(array.map_err(failed)?)))
    }

    /// Byte strings: of fixed size if they all have the same size.
    pub(crate) fn strings(strings: &[Option<&[u8]>]) -> Self {
        let size = strings.iter().flatten().next().map_or(0, |string| string.len());
        let is_fixed = size > 0 && strings.iter().flatten().all(|string| string.len() == size);
        let fixed = is_fixed.then(|| {
            let rows = strings.iter().copied();
            FixedSizeBinaryArray::try_from_sparse_iter_with_size(rows, size as i32).ok()
        });
        match fixed.flatten() {
            Some(array) => Self::of(Arc::new(array)),
            None => Self::of(Arc::new(LargeBinaryArray::from_iter(strings))),
        }
    }

    /// Truth values, null at the items of `failed`.
    pub(crate) fn booleans(values: &[bool], failed: &[usize]) -> Self {
        Self::of(Arc::new(BooleanArray::new(values.into(), nulls(values.len(), failed))))
    }

    /// The reasons of failed items, null at the others.
    pub(crate) fn reasons(count: usize, failed: &[(usize, String)]) -> Self {
        let mut builder = StringBuilder::new();
        let mut failed = failed.iter().peekable();
        for item in 0..count {
            match failed.next_if(|(index, _)| *index == item) {
                Some((_, reason)) => builder.append_value(reason),
                None => builder.append_null(),
            }
        }
        Self::of(Arc::new(builder.finish()))
    }
}

/// The mask of valid items, if not all are.
fn nulls(count: usize, failed: &[usize]) -> Option<NullBuffer> {
    if failed.is_empty() {
        return None;
    }
    let mut valid = vec![true; count];
    failed.iter().for_each(|&item| valid[item] = false);
    Some(NullBuffer::from(valid))
}
