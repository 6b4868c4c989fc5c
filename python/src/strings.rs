//! Byte strings in and out: messages, signatures and ciphertexts, which are not numbers.

use crate::arrow_in::{self, Chunks};
use crate::arrow_out::Column as ArrowColumn;
use crate::column::Form;
use crate::watching::look_at_signals;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyString};
use zeroize::Zeroizing;

/// The memory that holds the strings.
enum Held {
    Own(Vec<Option<Zeroizing<Vec<u8>>>>),
    Arrow(Chunks),
}

/// Byte strings of one argument; `None` stands for null.
pub(crate) struct Strings {
    pub(crate) form: Form,
    held: Held,
}

impl Strings {
    /// Reads `bytes`, a list of `bytes`, or a column of Arrow.
    pub(crate) fn read(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if let Some(string) = octets(object) {
            return Ok(Self { form: Form::Bytes, held: Held::Own(vec![Some(string)]) });
        }
        let is_object = object
            .getattr(intern!(py, "dtype"))
            .is_ok_and(|dtype| dtype.str().is_ok_and(|name| name == "object"));
        if !is_object && let Some(chunks) = arrow_in::read(name, object)? {
            return Ok(Self { form: Form::Arrow, held: Held::Arrow(chunks) });
        }
        if !object.hasattr(intern!(py, "__iter__"))? || object.cast::<PyString>().is_ok() {
            let found = object.get_type().name()?;
            let text =
                format!("{name} must be bytes, a list of bytes or a column of Arrow; it is of type {found}");
            return Err(PyTypeError::new_err(text));
        }
        let mut strings = Vec::new();
        for (index, item) in object.try_iter()?.enumerate() {
            look_at_signals(py, index)?;
            let item = item?;
            let string = octets(&item);
            if string.is_none() && !item.is_none() {
                let found = item.get_type().name()?;
                let text = format!("{name}: item {index} is of type {found}; bytes was expected");
                return Err(PyTypeError::new_err(text));
            }
            strings.push(string);
        }
        Ok(Self { form: Form::BytesList, held: Held::Own(strings) })
    }

    /// The strings in order.
    pub(crate) fn all(&self) -> Vec<Option<&[u8]>> {
        match &self.held {
            Held::Own(strings) => {
                strings.iter().map(|string| string.as_ref().map(|string| &string[..])).collect()
            }
            Held::Arrow(chunks) => chunks.strings(),
        }
    }
}

/// The bytes of `bytes` or `bytearray`.
pub(crate) fn octets(object: &Bound<'_, PyAny>) -> Option<Zeroizing<Vec<u8>>> {
    match object.cast::<PyBytes>() {
        Ok(bytes) => Some(Zeroizing::new(bytes.as_bytes().to_vec())),
        Err(_) => object.cast::<PyByteArray>().ok().map(|bytes| Zeroizing::new(bytes.to_vec())),
    }
}

/// Python's objects for strings, with nothing where there is none.
pub(crate) fn objects<'py>(
    py: Python<'py>,
    strings: &[Option<&[u8]>],
    form: Form,
) -> PyResult<Bound<'py, PyAny>> {
    let object = |string: &Option<&[u8]>| match string {
        Some(string) => PyBytes::new(py, string).into_any(),
        None => py.None().into_bound(py),
    };
    match form {
        Form::Int | Form::Bytes => Ok(strings.first().map_or_else(|| py.None().into_bound(py), object)),
        Form::Ints | Form::BytesList | Form::Limbs | Form::Device => {
            Ok(PyList::new(py, strings.iter().map(object))?.into_any())
        }
        Form::Arrow => Ok(Bound::new(py, ArrowColumn::strings(strings))?.into_any()),
    }
}
