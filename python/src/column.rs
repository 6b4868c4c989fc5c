//! Numbers in: one argument of a call, as a batch of the engine or as one number for all items.

use crate::limb_arrays::LimbArray;
use crate::on_device::OnDevice;
use modmill::{Batch, BatchView, Modulus, Operand, ResidentModuli};
use modmill_core::limbs;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;

/// The form that numbers were given in, or are wanted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One integer.
    Int,
    /// One big-endian byte string.
    Bytes,
    /// A list of integers.
    Ints,
    /// A list of big-endian byte strings.
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

/// The memory that holds the numbers.
pub(crate) enum Held {
    Batch(Batch),
    Array(LimbArray),
    Device(Arc<OnDevice>),
}

/// The numbers of one argument.
pub(crate) struct Column {
    /// The name of the argument.
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) held: Held,
    /// The items that are negative, of which the absolute value is held, by rising index.
    pub(crate) negative: Vec<usize>,
    /// The items that are null, at which zero is held, by rising index.
    pub(crate) null: Vec<usize>,
    /// The items that are longer than the call allows, at which zero is held, by rising index, with their
    /// bits.
    pub(crate) long: Vec<(usize, usize)>,
}

impl Column {
    pub(crate) fn new(name: &'static str, form: Form, batch: Batch) -> Self {
        Self {
            name,
            form,
            held: Held::Batch(batch),
            negative: Vec::new(),
            null: Vec::new(),
            long: Vec::new(),
        }
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
            Held::Batch(batch) => batch.view().try_to_batch(),
            Held::Array(array) => array.view().try_to_batch(),
            Held::Device(held) => held.numbers.download(),
        }
    }

    /// [`Column::batch`] of a column that is used up: a batch is not copied.
    pub(crate) fn into_batch(self) -> Result<Batch, modmill::Error> {
        match self.held {
            Held::Batch(batch) => Ok(batch),
            _ => self.batch(),
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
        self.all().limbs(if self.form.is_scalar() { 0 } else { item })
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

    /// The numbers as moduli of a call of `count` items. A single zero is an error, unless
    /// `zeros_fail_alone`: then each item has it for its modulus.
    pub(crate) fn moduli(&self, count: usize, zeros_fail_alone: bool) -> PyResult<Moduli<'_>> {
        let (name, is_single) = (self.name, self.form.is_scalar());
        if let Some(item) = self.negative.first() {
            let place = if is_single { String::new() } else { format!(": item {item}") };
            return Err(PyValueError::new_err(format!("{name}{place} is negative")));
        }
        if is_single {
            return match Modulus::new(self.get(0)) {
                Ok(modulus) => Ok(Moduli::Shared(modulus)),
                Err(_) if zeros_fail_alone => {
                    Ok(Moduli::Zeros(Batch::try_zeros(1, count).map_err(|error| named(name, &error))?))
                }
                Err(_) => Err(PyValueError::new_err(format!("{name} is zero"))),
            };
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
    /// A zero for each item.
    Zeros(Batch),
    Resident(&'a ResidentModuli),
}

impl Moduli<'_> {
    pub(crate) fn of_engine(&self) -> modmill::Moduli<'_> {
        match self {
            Self::Each(view) => modmill::Moduli::Each(*view),
            Self::Shared(modulus) => modmill::Moduli::Shared(modulus),
            Self::Zeros(batch) => modmill::Moduli::from(batch),
            Self::Resident(moduli) => modmill::Moduli::Resident(moduli),
        }
    }
}

/// Whether a number is zero.
pub(crate) fn is_zero(value: &[u64]) -> bool {
    limbs::bit_length(value) == 0
}

/// An error of the engine about an argument.
pub(crate) fn named(name: &str, error: &modmill::Error) -> PyErr {
    let text = format!("{name}: {error}");
    match error {
        modmill::Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
