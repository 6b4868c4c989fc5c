//! Numbers in: one argument of a call as a batch of the engine, or as one number for all items.

use crate::arrow_in;
use crate::device::{DeviceBatch, OnDevice};
use crate::ints::Ints;
use crate::limb_arrays::{self, LimbArray};
use modmill::{Batch, BatchView, Engine, Modulus, Operand, ResidentModuli};
use modmill_core::limbs;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyString};
use std::sync::Arc;

/// The form that numbers were given in, or are wanted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One integer.
    Int,
    /// One big-endian octet string.
    Bytes,
    /// A list of integers.
    Ints,
    /// A list of big-endian octet strings.
    BytesList,
    /// An array of limbs.
    Limbs,
    /// A column of Arrow.
    Arrow,
    /// A batch on a device.
    Device,
}

impl Form {
    /// Whether one number serves all items of a call.
    pub(crate) fn is_scalar(self) -> bool {
        matches!(self, Self::Int | Self::Bytes)
    }
}

/// Where the numbers are.
enum Held {
    Batch(Batch),
    Array(LimbArray),
    Device(Arc<OnDevice>),
}

/// The numbers of one argument.
pub(crate) struct Column {
    /// The name of the argument.
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    held: Held,
    /// The items that are negative, of which the absolute value is held, by rising index.
    pub(crate) negative: Vec<usize>,
    /// The items that are null, at which zero is held, by rising index.
    pub(crate) null: Vec<usize>,
}

impl Column {
    fn new(name: &'static str, form: Form, batch: Batch) -> Self {
        Self { name, form, held: Held::Batch(batch), negative: Vec::new(), null: Vec::new() }
    }

    /// The numbers as the engine takes them.
    fn all(&self) -> Operand<'_> {
        match &self.held {
            Held::Batch(batch) => batch.into(),
            Held::Array(array) => array.view().into(),
            Held::Device(held) => (&held.numbers).into(),
        }
    }

    /// A copy of the numbers in the memory of the host.
    pub(crate) fn batch(&self) -> Result<Batch, modmill::Error> {
        match &self.held {
            Held::Batch(batch) => Ok(batch.clone()),
            Held::Array(array) => Ok(array.view().to_batch()),
            Held::Device(held) => held.numbers.download(),
        }
    }

    /// The number of items; `None` if one number serves all items.
    pub(crate) fn len(&self) -> Option<usize> {
        self.all().len().filter(|_| !self.form.is_scalar())
    }

    pub(crate) fn bits(&self) -> usize {
        self.all().bits()
    }

    pub(crate) fn is_on_device(&self) -> bool {
        self.form == Form::Device
    }

    /// The number of item `item`, which is in the memory of the host.
    pub(crate) fn get(&self, item: usize) -> &[u64] {
        self.all().get(if self.form.is_scalar() { 0 } else { item })
    }

    /// Whether the number of item `item` is negative.
    pub(crate) fn is_negative(&self, item: usize) -> bool {
        let item = if self.form.is_scalar() { 0 } else { item };
        self.negative.binary_search(&item).is_ok()
    }

    /// The absolute values, as an operand of the engine.
    pub(crate) fn operand(&self) -> Operand<'_> {
        match self.form.is_scalar() {
            true => Operand::Shared { bits: self.bits(), value: self.get(0) },
            false => self.all(),
        }
    }

    /// The numbers as moduli.
    pub(crate) fn moduli(&self) -> PyResult<Moduli<'_>> {
        if let Some(item) = self.negative.first() {
            return Err(PyValueError::new_err(format!("{}: item {item} is negative", self.name)));
        }
        if self.form.is_scalar() {
            let modulus = Modulus::new(self.get(0));
            let zero = |_| PyValueError::new_err(format!("{} is zero", self.name));
            return Ok(Moduli::Shared(modulus.map_err(zero)?));
        }
        match &self.held {
            Held::Batch(batch) => Ok(Moduli::Each(batch.view())),
            Held::Array(array) => Ok(Moduli::Each(array.view())),
            Held::Device(held) => {
                Ok(Moduli::Resident(held.moduli().map_err(|error| named(self.name, &error))?))
            }
        }
    }
}

/// The moduli of a call.
pub(crate) enum Moduli<'a> {
    Each(BatchView<'a>),
    Shared(Modulus),
    Resident(&'a ResidentModuli),
}

impl Moduli<'_> {
    pub(crate) fn of_engine(&self) -> modmill::Moduli<'_> {
        match self {
            Self::Each(view) => modmill::Moduli::Each(*view),
            Self::Shared(modulus) => modmill::Moduli::Shared(modulus),
            Self::Resident(moduli) => modmill::Moduli::Resident(moduli),
        }
    }
}

/// What a column is read with.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) engine: &'a Engine,
    /// The declared width of columns in bits; without it the width follows from the way the numbers are written.
    pub(crate) width: Option<usize>,
}

impl Reader<'_> {
    /// Reads an argument.
    pub(crate) fn read(self, name: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Column> {
        let py = object.py();
        if let Some(bytes) = octets(object) {
            return Ok(Column::new(name, Form::Bytes, one(Batch::from_be_bytes([bytes]))));
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
            let (dtype, dimensions): (String, usize) = (dtype.str()?.to_string(), dimensions.extract()?);
            match (dtype.as_str(), dimensions) {
                // A scalar of NumPy.
                (_, 0) => return self.read(name, &object.call_method0(intern!(py, "item"))?),
                ("uint64", _) if !object.hasattr(intern!(py, "__arrow_c_stream__"))? => {
                    return self.array(name, object);
                }
                // Integers of any size, octet strings, or small integers: an array or a series of pandas.
                ("object" | "int64" | "int32" | "int16" | "int8" | "uint32" | "uint16" | "uint8", 1) => {
                    return self.list(name, &object.call_method0(intern!(py, "tolist"))?);
                }
                _ => {}
            }
        }
        if let Some(chunks) = arrow_in::read(name, object)? {
            let (batch, null) = py.detach(|| (chunks.batch(self.engine, self.width), chunks.nulls()));
            let batch = batch.map_err(|item| self.misfit(name, item))?;
            return Ok(Column { null, ..Column::new(name, Form::Arrow, batch) });
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
            object.get_type().name()?
        )))
    }

    fn misfit(self, name: &str, item: usize) -> PyErr {
        let width = self.width.unwrap_or(0);
        PyValueError::new_err(format!("{name}: item {item} does not fit in {width} bits"))
    }

    /// One integer for all items. It has its own length, whatever the width of columns.
    fn scalar(self, name: &'static str, number: &Bound<'_, PyInt>) -> PyResult<Column> {
        let ints = Ints::new(number.py())?;
        let mut batch = Batch::zeros(ints.bits(number)?.max(1), 1);
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
        let is_whole = buffer.is_c_contiguous() && self.width.is_none_or(|width| width == 64 * stride);
        if !is_whole {
            let mut batch = Batch::zeros(64 * stride, buffer.shape()[0]);
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

    /// A list of integers or of octet strings; `None` is a null item.
    fn list(self, name: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Column> {
        let items: Vec<Bound<'_, PyAny>> = object.try_iter()?.collect::<PyResult<_>>()?;
        match items.iter().find(|item| !item.is_none()) {
            Some(first) if octets(first).is_some() => self.octet_strings(name, &items),
            Some(_) => self.ints(name, &items),
            None => {
                let batch = Batch::zeros(self.width.unwrap_or(1).max(1), items.len());
                let null = (0..items.len()).collect();
                Ok(Column { null, ..Column::new(name, Form::Ints, batch) })
            }
        }
    }

    fn ints(self, name: &'static str, items: &[Bound<'_, PyAny>]) -> PyResult<Column> {
        let Some(py) = items.first().map(Bound::py) else {
            return Ok(Column::new(name, Form::Ints, Batch::zeros(self.width.unwrap_or(1).max(1), 0)));
        };
        let ints = Ints::new(py)?;
        let mut numbers = Vec::with_capacity(items.len());
        let (mut bits, mut null) = (0, Vec::new());
        for (index, item) in items.iter().enumerate() {
            if item.is_none() {
                null.push(index);
                numbers.push(None);
                continue;
            }
            let number = int(item).map_err(|_| unlike(name, index, item, "an int"))?;
            let length = ints.bits(&number)?;
            if self.width.is_some_and(|width| length > width) {
                return Err(self.misfit(name, index));
            }
            bits = bits.max(length);
            numbers.push(Some(number));
        }
        let mut batch = Batch::zeros(self.width.unwrap_or(bits).max(1), items.len());
        let mut negative = Vec::new();
        for (index, number) in numbers.iter().enumerate() {
            if let Some(number) = number
                && ints.write(number, batch.get_mut(index))?
            {
                negative.push(index);
            }
        }
        Ok(Column { negative, null, ..Column::new(name, Form::Ints, batch) })
    }

    fn octet_strings(self, name: &'static str, items: &[Bound<'_, PyAny>]) -> PyResult<Column> {
        let mut null = Vec::new();
        let mut strings = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            if item.is_none() {
                null.push(index);
            }
            let string = if item.is_none() { Some(Vec::new()) } else { octets(item) };
            strings.push(string.ok_or_else(|| unlike(name, index, item, "bytes"))?);
        }
        let batch = one(Batch::from_be_bytes(&strings));
        let batch = match self.width {
            Some(width) => batch.with_bits(width).map_err(|error| named(name, &error))?,
            None => batch,
        };
        Ok(Column { null, ..Column::new(name, Form::BytesList, batch) })
    }
}

/// The same batch with a width of at least one bit, as the empty octet string has none.
fn one(batch: Batch) -> Batch {
    if batch.bits() == 0 { Batch::zeros(1, batch.len()) } else { batch }
}

/// An error of the engine about an argument.
fn named(name: &str, error: &modmill::Error) -> PyErr {
    PyValueError::new_err(format!("{name}: {error}"))
}

fn unlike(name: &str, index: usize, item: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let found = item.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("{name}: item {index} is of type {found}; {expected} was expected"))
}

/// The integer that an object is or stands for.
fn int<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyInt>> {
    match object.cast::<PyInt>() {
        Ok(number) => Ok(number.clone()),
        Err(_) => Ok(object.call_method0(intern!(object.py(), "__index__"))?.cast_into::<PyInt>()?),
    }
}

/// The octets of `bytes` or `bytearray`.
fn octets(object: &Bound<'_, PyAny>) -> Option<Vec<u8>> {
    match object.cast::<PyBytes>() {
        Ok(bytes) => Some(bytes.as_bytes().to_vec()),
        Err(_) => object.cast::<PyByteArray>().ok().map(|bytes| bytes.to_vec()),
    }
}

/// Whether a number is zero.
pub(crate) fn is_zero(value: &[u64]) -> bool {
    limbs::bit_length(value) == 0
}
