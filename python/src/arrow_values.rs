//! Items of a column of Arrow as objects of Python, and columns as bytes.

use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::HashMap;
use std::sync::Arc;

/// Item `row` as an object of Python: `bytes`, `bool`, `str`, `int`, `float` or `None`, or a list or a
/// dictionary of them.
pub(crate) fn object<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    macro_rules! number {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value(row).into_bound_py_any(py)
        };
    }
    let octets = |octets: &[u8]| Ok(PyBytes::new(py, octets).into_any());
    match array.data_type() {
        DataType::FixedSizeBinary(_) => octets(array.as_fixed_size_binary().value(row)),
        DataType::Binary => octets(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => octets(array.as_binary::<i64>().value(row)),
        DataType::Boolean => array.as_boolean().value(row).into_bound_py_any(py),
        DataType::Utf8 => array.as_string::<i32>().value(row).into_bound_py_any(py),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(row);
            let items: Vec<_> =
                (0..items.len()).map(|row| object(py, &items, row)).collect::<PyResult<_>>()?;
            items.into_bound_py_any(py)
        }
        DataType::Struct(fields) => {
            let found = PyDict::new(py);
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                found.set_item(field.name(), object(py, column, row)?)?;
            }
            Ok(found.into_any())
        }
        other => Err(PyTypeError::new_err(format!(
            "items of a column of {other} are read by pyarrow.array(column)"
        ))),
    }
}

/// A column, with the metadata of its field, as a stream of Arrow's IPC format.
pub(crate) fn to_octets(array: &ArrayRef, metadata: &HashMap<String, String>) -> Result<Vec<u8>, ArrowError> {
    let field = Field::new("column", array.data_type().clone(), true).with_metadata(metadata.clone());
    let schema = Arc::new(Schema::new(vec![field]));
    let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
    writer.write(&RecordBatch::try_new(schema, vec![array.clone()])?)?;
    writer.into_inner()
}

/// The column of a stream that [`to_octets`] wrote, and the metadata of its field.
pub(crate) fn from_octets(octets: &[u8]) -> Result<(ArrayRef, HashMap<String, String>), ArrowError> {
    let mut batches = StreamReader::try_new(octets, None)?;
    let none = || ArrowError::IpcError("the stream has no column".to_owned());
    let rows = batches.next().ok_or_else(none)??;
    let array = rows.columns().first().cloned().ok_or_else(none)?;
    Ok((array, rows.schema_ref().field(0).metadata().clone()))
}
