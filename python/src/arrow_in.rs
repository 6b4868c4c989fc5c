//! Columns of Arrow in, through the PyCapsule interface: pyarrow, polars, pandas, duckdb and others.
#![allow(unsafe_code)] // takes arrays over from other libraries

use crate::checks::check_length;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, cast::AsArray, make_array};
use arrow_schema::{DataType, Schema};
use modmill::{Batch, Engine, Error};
use modmill_core::limbs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyTuple};
use rayon::prelude::*;
use std::ffi::CStr;
use std::ptr::NonNull;

/// The chunks of a column of numbers.
pub(crate) struct Chunks {
    arrays: Vec<ArrayRef>,
    kind: DataType,
}

/// The column that an object offers; `None` if it offers none.
pub(crate) fn read(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Option<Chunks>> {
    let py = object.py();
    let is_offered = |method| object.hasattr(method);
    let (arrays, kind) = if is_offered(intern!(py, "__arrow_c_array__"))? {
        array(name, object)?
    } else if is_offered(intern!(py, "__arrow_c_stream__"))? {
        stream(name, object)?
    } else {
        return Ok(None);
    };
    let (arrays, kind) = only_field(name, arrays, kind)?;
    match kind {
        DataType::FixedSizeBinary(_)
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::Null => Ok(Some(Chunks { arrays, kind })),
        kind if kind.is_integer() => Ok(Some(Chunks { arrays, kind })),
        other => Err(not_numbers(name, &other.to_string())),
    }
}

fn not_numbers(name: &str, kind: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{name} is a column of {kind}; numbers are columns of fixed-size binary, binary, large binary, binary view \
         (big-endian) or integers of up to 64 bits"
    ))
}

/// The type that a schema says. Other libraries have types of their own besides those of Arrow.
fn kind_of(name: &str, schema: &FFI_ArrowSchema) -> PyResult<DataType> {
    DataType::try_from(schema).map_err(|_| not_numbers(name, &format!("the type {:?}", schema.format())))
}

/// One array from `__arrow_c_array__`.
fn array(name: &str, object: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, DataType)> {
    let pair = object.call_method0(intern!(object.py(), "__arrow_c_array__"))?;
    let pair = pair.cast::<PyTuple>()?;
    let schema = pointer::<FFI_ArrowSchema>(&pair.get_item(0)?, c"arrow_schema")?;
    let array = pointer::<FFI_ArrowArray>(&pair.get_item(1)?, c"arrow_array")?;
    // SAFETY: the capsules hold the structures that their names say, and live as long as `pair`. `from_raw`
    // moves the array out and leaves a released one behind, as the interface asks for.
    let (schema, array) = unsafe { (schema.as_ref(), FFI_ArrowArray::from_raw(array.as_ptr())) };
    let kind = kind_of(name, schema)?;
    Ok((vec![import(array, &kind)?], kind))
}

/// Rows from `__arrow_c_array__`: one array of structs.
pub(crate) fn structs(object: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let (mut arrays, kind) = array("the table", object)?;
    match (kind, arrays.pop()) {
        (DataType::Struct(_), Some(rows)) => Ok(rows),
        (other, _) => Err(PyTypeError::new_err(format!("rows are an array of structs, and not of {other}"))),
    }
}

/// The schema that an object offers.
pub(crate) fn schema(object: &Bound<'_, PyAny>) -> PyResult<Schema> {
    let capsule = object.call_method0(intern!(object.py(), "__arrow_c_schema__"))?;
    let schema = pointer::<FFI_ArrowSchema>(&capsule, c"arrow_schema")?;
    // SAFETY: the capsule holds the structure that its name says, and lives until the end of this function.
    Schema::try_from(unsafe { schema.as_ref() }).map_err(unreadable)
}

/// All chunks of `__arrow_c_stream__`.
fn stream(name: &str, object: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, DataType)> {
    let capsule = object.call_method0(intern!(object.py(), "__arrow_c_stream__"))?;
    let stream = pointer::<FFI_ArrowArrayStream>(&capsule, c"arrow_array_stream")?;
    // SAFETY: as above.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    let released = || unreadable("the stream was released");
    let (get_schema, get_next) =
        (stream.get_schema.ok_or_else(released)?, stream.get_next.ok_or_else(released)?);
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the functions of a stream are called with the stream and with memory for what they write.
    check(unsafe { get_schema(&mut stream, &mut schema) }, &mut stream)?;
    let kind = kind_of(name, &schema)?;
    let mut arrays = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as above.
        check(unsafe { get_next(&mut stream, &mut array) }, &mut stream)?;
        if array.is_released() {
            return Ok((arrays, kind));
        }
        arrays.push(import(array, &kind)?);
    }
}

/// The structure of a capsule with this name.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast())
}

fn import(array: FFI_ArrowArray, kind: &DataType) -> PyResult<ArrayRef> {
    // SAFETY: a producer of the interface says that the array is of this type.
    let data = unsafe { from_ffi_and_data_type(array, kind.clone()) };
    data.map(make_array).map_err(unreadable)
}

fn check(code: i32, stream: &mut FFI_ArrowArrayStream) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: as above; the text is the stream's until its next call.
    let text = stream.get_last_error.map(|get_last_error| unsafe { get_last_error(stream) });
    let reason = match text {
        // SAFETY: a text that is not null ends with a zero.
        Some(text) if !text.is_null() => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
        _ => format!("error {code}"),
    };
    Err(unreadable(reason))
}

fn unreadable(reason: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("the Arrow column cannot be read: {reason}"))
}

/// The only column of a table; a column is itself.
fn only_field(name: &str, arrays: Vec<ArrayRef>, kind: DataType) -> PyResult<(Vec<ArrayRef>, DataType)> {
    let DataType::Struct(fields) = &kind else { return Ok((arrays, kind)) };
    let [field] = fields.as_ref() else {
        let text = format!("{name} is a table of {} columns; give one column", fields.len());
        return Err(PyTypeError::new_err(text));
    };
    let column = |array: &ArrayRef| array.as_struct().column(0).clone();
    Ok((arrays.iter().map(column).collect(), field.data_type().clone()))
}

impl Chunks {
    /// All bytes of the items one after the other, without a copy. `None` if they lie otherwise: in several
    /// chunks, with nulls, or not as `width` bytes for each.
    pub(crate) fn rows(&self, width: usize) -> Option<&[u8]> {
        let [array] = &self.arrays[..] else { return None };
        let octets =
            array.as_fixed_size_binary_opt().filter(|array| array.value_length() as usize == width)?;
        (array.null_count() == 0).then(|| &octets.value_data()[..width * array.len()])
    }

    /// The bytes of each item; `None` at nulls. A column of integers has none.
    pub(crate) fn strings(&self) -> Vec<Option<&[u8]>> {
        self.values().map(|value| value?.octets()).collect()
    }

    /// The items that are null.
    pub(crate) fn nulls(&self) -> Vec<usize> {
        if self.arrays.iter().all(|array| array.logical_null_count() == 0) {
            return Vec::new();
        }
        self.values().enumerate().filter(|(_, value)| value.is_none()).map(|(item, _)| item).collect()
    }

    /// The items that are negative.
    pub(crate) fn negative(&self, engine: &Engine) -> Vec<usize> {
        let mut negative = Vec::new();
        if self.kind.is_signed_integer() {
            let mut first = 0;
            for array in &self.arrays {
                let value = values(array);
                let is_negative =
                    |&row: &usize| matches!(value(row), Some(Value::Integer(number)) if number < 0);
                let rows = 0..array.len();
                match array.len() {
                    0..MANY_ROWS => negative.extend(rows.filter(is_negative).map(|row| first + row)),
                    _ => engine.install(|| {
                        let rows = rows.into_par_iter().with_min_len(MANY_ROWS / 4);
                        negative.par_extend(rows.filter(is_negative).map(|row| first + row));
                    }),
                }
                first += array.len();
            }
        }
        negative
    }

    /// The items that are longer than `most` bits as they are written, with their bits.
    pub(crate) fn longer_than(&self, most: Option<usize>) -> Vec<(usize, usize)> {
        let Some(most) = most.filter(|&most| self.longest(usize::MAX) > most) else { return Vec::new() };
        let lengths = self.values().enumerate().filter_map(|(item, value)| Some((item, value?.bits())));
        lengths.filter(|(_, bits)| *bits > most).collect()
    }

    /// The numbers of all items; `None` at nulls.
    fn values(&self) -> impl Iterator<Item = Option<Value<'_>>> {
        self.arrays.iter().flat_map(|array| {
            let value = values(array);
            (0..array.len()).map(value)
        })
    }

    /// The absolute values of the numbers, in `width` bits or in as many as the longest item has bytes for.
    /// Zero stands at null items, and at those that are longer than `most` bits.
    pub(crate) fn batch(
        &self,
        engine: &Engine,
        width: Option<usize>,
        most: Option<usize>,
    ) -> Result<Batch, Error> {
        let most = most.unwrap_or(usize::MAX);
        let count = self.arrays.iter().map(|array| array.len()).sum();
        let bits = width.unwrap_or_else(|| self.longest(most));
        check_length("the longest item", bits)?;
        let mut batch = Batch::try_zeros(bits.max(1), count)?;
        let stride = batch.stride();
        let mut first = 0;
        let mut rest = batch.as_limbs_mut();
        for array in &self.arrays {
            let (rows, after) = rest.split_at_mut(array.len() * stride);
            rest = after;
            let value = values(array);
            let fill = |(row, out): (usize, &mut [u64])| match value(row) {
                Some(value) if value.bits() <= most => value.write(out, bits),
                _ => true,
            };
            let misfit = match array.len() {
                0..MANY_ROWS => rows.chunks_mut(stride).enumerate().position(|row| !fill(row)),
                _ => engine.install(|| {
                    let rows = rows.par_chunks_mut(stride).enumerate().with_min_len(MANY_ROWS / 4);
                    rows.map(fill).position_first(|fits| !fits)
                }),
            };
            if let Some(row) = misfit {
                return Err(Error::DoesNotFit { index: first + row, bits });
            }
            first += array.len();
        }
        Ok(batch)
    }

    /// Bits of the longest item as it is written, among those of at most `most` bits.
    fn longest(&self, most: usize) -> usize {
        let fits = |bits: &usize| *bits <= most;
        match self.kind {
            DataType::FixedSizeBinary(bytes) => Some(8 * bytes as usize).filter(fits).unwrap_or(0),
            _ if self.kind.is_integer() => Some(64).filter(fits).unwrap_or(0),
            _ => self.values().filter_map(|value| Some(value?.bits())).filter(fits).max().unwrap_or(0),
        }
    }
}

/// Rows from which on several threads convert them.
const MANY_ROWS: usize = 4096;

/// A number of a column.
enum Value<'a> {
    BigEndian(&'a [u8]),
    /// An integer of at most 64 bits, with or without a sign.
    Integer(i128),
}

impl<'a> Value<'a> {
    fn octets(&self) -> Option<&'a [u8]> {
        match *self {
            Self::BigEndian(bytes) => Some(bytes),
            Self::Integer(_) => None,
        }
    }

    fn bits(&self) -> usize {
        match self {
            Self::BigEndian(bytes) => 8 * bytes.len(),
            Self::Integer(_) => 64,
        }
    }

    /// Writes the absolute value of the number to `out`, which is zero; returns whether it fits in `bits`
    /// bits.
    fn write(&self, out: &mut [u64], bits: usize) -> bool {
        match *self {
            Self::BigEndian(bytes) => {
                let room = bytes.len().min(8 * out.len());
                let (high, low) = bytes.split_at(bytes.len() - room);
                limbs::copy_be_bytes(low, out);
                high.iter().all(|&byte| byte == 0) && (8 * room <= bits || limbs::bit_length(out) <= bits)
            }
            Self::Integer(number) => {
                out[0] = number.unsigned_abs() as u64;
                limbs::bit_length(out) <= bits
            }
        }
    }
}

/// The numbers of an array by row; `None` at nulls.
fn values<'a>(array: &'a ArrayRef) -> Box<dyn Fn(usize) -> Option<Value<'a>> + Sync + 'a> {
    macro_rules! octets {
        ($array:expr) => {{
            let array = $array;
            Box::new(move |row| array.is_valid(row).then(|| Value::BigEndian(array.value(row))))
        }};
    }
    macro_rules! integers {
        ($kind:ty) => {{
            let array = array.as_primitive::<$kind>();
            Box::new(move |row| array.is_valid(row).then(|| Value::Integer(array.value(row).into())))
        }};
    }
    match array.data_type() {
        DataType::FixedSizeBinary(_) => octets!(array.as_fixed_size_binary()),
        DataType::Binary => octets!(array.as_binary::<i32>()),
        DataType::LargeBinary => octets!(array.as_binary::<i64>()),
        DataType::BinaryView => octets!(array.as_binary_view()),
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        DataType::UInt8 => integers!(UInt8Type),
        DataType::UInt16 => integers!(UInt16Type),
        DataType::UInt32 => integers!(UInt32Type),
        DataType::UInt64 => integers!(UInt64Type),
        _ => Box::new(|_| None),
    }
}
