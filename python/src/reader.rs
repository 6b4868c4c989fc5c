//! Reads one argument of a call, in any form of numbers.

use crate::arrow_in;
use crate::checks::{check_length, type_name};
use crate::column::{Column, Form, Held, named};
use crate::ints::Ints;
use crate::limb_arrays::{self, LimbArray};
use crate::on_device::DeviceBatch;
use crate::strings::octets;
use crate::watching::look_at_signals;
use modmill::{Batch, Engine, Error};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The engine and the options that a column is read with.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) engine: &'a Engine,
    /// The declared width of columns in bits; without it the width follows from the way the numbers are
    /// written.
    pub(crate) width: Option<usize>,
    /// Longer items of lists and columns of Arrow are not read.
    pub(crate) max_bits: Option<usize>,
}

impl Reader<'_> {
    /// Reads an argument.
    pub(crate) fn read(self, name: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Column> {
        let py = object.py();
        if let Some(bytes) = octets(object) {
            let batch = Batch::try_from_be_bytes([bytes]).map_err(|error| named(name, &error))?;
            return Ok(Column::new(name, Form::Bytes, batch));
        }
        if let Ok(number) = object.cast::<PyInt>() {
            return self.scalar(name, number);
        }
        if let Ok(batch) = object.cast::<DeviceBatch>() {
            let held = Held::Device(Arc::clone(&batch.get().held));
            return Ok(Column { held, ..Column::new(name, Form::Device, Batch::zeros(1, 0)) });
        }
        if let Ok(dtype) = object.getattr(intern!(py, "dtype"))
            && let Ok(dimensions) = object.getattr(intern!(py, "ndim"))
        {
            let (dtype, dimensions): (String, usize) =
                (dtype.str()?.to_str()?.to_owned(), dimensions.extract()?);
            match (dtype.as_str(), dimensions) {
                // A scalar of NumPy.
                (_, 0) => return self.read(name, &object.call_method0(intern!(py, "item"))?),
                ("uint64", _) if !object.hasattr(intern!(py, "__arrow_c_stream__"))? => {
                    return self.array(name, object);
                }
                // Integers of any size, byte strings, or small integers: an array or a series of pandas.
                ("object" | "int64" | "int32" | "int16" | "int8" | "uint32" | "uint16" | "uint8", 1) => {
                    return self.list(name, &object.call_method0(intern!(py, "tolist"))?);
                }
                _ => {}
            }
        }
        if let Some(chunks) = arrow_in::read(name, object)? {
            let (batch, negative, null, long) = py.detach(|| {
                let batch = chunks.batch(self.engine, self.width, self.max_bits);
                (batch, chunks.negative(self.engine), chunks.nulls(), chunks.longer_than(self.max_bits))
            });
            let batch = batch.map_err(|error| named(name, &error))?;
            return Ok(Column { negative, null, long, ..Column::new(name, Form::Arrow, batch) });
        }
        if object.hasattr(intern!(py, "__index__"))? && !object.hasattr(intern!(py, "__iter__"))? {
            let number = object.call_method0(intern!(py, "__index__"))?;
            return self.scalar(name, number.cast::<PyInt>()?);
        }
        let is_list = object.hasattr(intern!(py, "__iter__"))? && object.cast::<PyString>().is_err();
        if is_list {
            return self.list(name, object);
        }
        Err(PyTypeError::new_err(format!(
            "{name} must be an int, bytes, a list of ints or of bytes, an array of uint64 with two dimensions or a \
             column of Arrow; it is of type {}",
            type_name(object)
        )))
    }

    /// A batch of `count` zeros, as wide as the caller or the longest number says.
    fn zeros(self, name: &str, longest: usize, count: usize) -> PyResult<Batch> {
        let bits = self.width.unwrap_or(longest).max(1);
        Batch::try_zeros(bits, count).map_err(|error| named(name, &error))
    }

    /// One integer for all items. It has its own length, whatever the width of columns.
    fn scalar(self, name: &'static str, number: &Bound<'_, PyInt>) -> PyResult<Column> {
        let ints = Ints::new(number.py())?;
        let bits = ints.bits(number)?.max(1);
        check_length("the number", bits).map_err(|error| named(name, &error))?;
        let mut batch = Batch::try_zeros(bits, 1).map_err(|error| named(name, &error))?;
        let is_negative = ints.write(number, batch.as_limbs_mut())?;
        let negative = if is_negative { vec![0] } else { Vec::new() };
        Ok(Column { negative, ..Column::new(name, Form::Int, batch) })
    }

    /// An array of limbs.
    fn array(self, name: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Column> {
        let wrong = |what: String| {
            PyTypeError::new_err(format!("{name}: an array has the shape (items, limbs) and uint64; {what}"))
        };
        let buffer = PyBuffer::<u64>::get(object).map_err(|error| wrong(error.to_string()))?;
        let Some(stride) = limb_arrays::stride(&buffer) else {
            return Err(wrong(format!("this one has the shape {:?}", buffer.shape())));
        };
        if let Some(limit) = self.max_bits.filter(|&limit| 64 * stride > limit) {
            let error = Error::TooLong { what: "a row", bits: 64 * stride, limit };
            return Err(named(name, &error));
        }
        let is_whole = buffer.is_c_contiguous() && self.width.is_none_or(|width| width == 64 * stride);
        if !is_whole {
            let batch = Batch::try_zeros(64 * stride, buffer.shape()[0]);
            let mut batch = batch.map_err(|error| named(name, &error))?;
            buffer.copy_to_slice(object.py(), batch.as_limbs_mut())?;
            let batch = match self.width {
                Some(width) => batch.with_bits(width).map_err(|error| named(name, &error))?,
                None => batch,
            };
            return Ok(Column::new(name, Form::Limbs, batch));
        }
        let array = LimbArray::new(buffer).ok_or_else(|| wrong("this one is not contiguous".to_owned()))?;
        Ok(Column { held: Held::Array(array), ..Column::new(name, Form::Limbs, Batch::zeros(1, 0)) })
    }

    /// A list of integers or of byte strings; `None` is a null item.
    fn list(self, name: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Column> {
        let mut items = Vec::new();
        for (index, item) in object.try_iter()?.enumerate() {
            look_at_signals(object.py(), index)?;
            items.push(item?);
        }
        match items.iter().find(|item| !item.is_none()) {
            Some(first) if octets(first).is_some() => self.octet_strings(name, &items),
            Some(_) => self.ints(name, &items),
            None => {
                let batch = self.zeros(name, 1, items.len())?;
                let null = (0..items.len()).collect();
                Ok(Column { null, ..Column::new(name, Form::Ints, batch) })
            }
        }
    }

    fn ints(self, name: &'static str, items: &[Bound<'_, PyAny>]) -> PyResult<Column> {
        let Some(py) = items.first().map(Bound::py) else {
            return Ok(Column::new(name, Form::Ints, self.zeros(name, 1, 0)?));
        };
        let ints = Ints::new(py)?;
        let mut numbers = Vec::with_capacity(items.len());
        let (mut bits, mut null, mut long) = (0, Vec::new(), Vec::new());
        for (index, item) in items.iter().enumerate() {
            look_at_signals(py, index)?;
            if item.is_none() {
                null.push(index);
                numbers.push(None);
                continue;
            }
            let number = int(item).map_err(|_| unlike(name, index, item, "an int"))?;
            let length = ints.bits(&number)?;
            if self.max_bits.is_some_and(|most| length > most) {
                long.push((index, length));
                numbers.push(None);
                continue;
            }
            if let Some(bits) = self.width.filter(|&width| length > width) {
                return Err(named(name, &Error::DoesNotFit { index, bits }));
            }
            bits = bits.max(length);
            numbers.push(Some((number, length)));
        }
        check_length("the longest number", bits).map_err(|error| named(name, &error))?;
        let mut batch = self.zeros(name, bits, items.len())?;
        let mut negative = Vec::new();
        for (index, number) in numbers.iter().enumerate() {
            look_at_signals(py, index)?;
            if let Some((number, length)) = number
                && ints.write(number, &mut batch.get_mut(index)[..length.div_ceil(64)])?
            {
                negative.push(index);
            }
        }
        Ok(Column { negative, null, long, ..Column::new(name, Form::Ints, batch) })
    }

    fn octet_strings(self, name: &'static str, items: &[Bound<'_, PyAny>]) -> PyResult<Column> {
        let (mut null, mut long) = (Vec::new(), Vec::new());
        let mut strings = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            look_at_signals(item.py(), index)?;
            if item.is_none() {
                null.push(index);
                strings.push(Zeroizing::default());
                continue;
            }
            let string = octets(item).ok_or_else(|| unlike(name, index, item, "bytes"))?;
            let bits = 8 * string.len();
            let is_long = self.max_bits.is_some_and(|most| bits > most);
            if is_long {
                long.push((index, bits));
            }
            strings.push(if is_long { Zeroizing::default() } else { string });
        }
        let batch = Batch::try_from_be_bytes(&strings).map_err(|error| named(name, &error))?;
        let batch = match self.width {
            Some(width) => batch.with_bits(width).map_err(|error| named(name, &error))?,
            None => batch,
        };
        Ok(Column { null, long, ..Column::new(name, Form::BytesList, batch) })
    }
}

fn unlike(name: &str, index: usize, item: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let found = type_name(item);
    PyTypeError::new_err(format!("{name}: item {index} is of type {found}; {expected} was expected"))
}

/// The integer that an object is or stands for.
fn int<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyInt>> {
    match object.cast::<PyInt>() {
        Ok(number) => Ok(number.clone()),
        Err(_) => Ok(object.call_method0(intern!(object.py(), "__index__"))?.cast_into::<PyInt>()?),
    }
}
