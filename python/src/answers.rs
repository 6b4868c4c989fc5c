//! Numbers out: answers in the form that the caller wants, with the items that have none.

use crate::arrow_out::Column as ArrowColumn;
use crate::column::Form;
use crate::errors::{OrRaise, exception};
use crate::ints::Ints;
use crate::limb_arrays;
use crate::on_device::DeviceBatch;
use crate::watching::look_at_signals;
use modmill::{Batch, Engine};
use modmill_core::limbs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyList, PyString, PyTuple};

/// The answers of a call.
pub(crate) struct Answers {
    pub(crate) batch: Batch,
    /// The items whose answer is negative, by rising index.
    pub(crate) negative: Vec<usize>,
    /// The items that have no answer, with the reasons, by rising index. Their numbers are zero.
    pub(crate) failed: Vec<(usize, String)>,
}

impl Answers {
    pub(crate) fn new(batch: Batch) -> Self {
        Self { batch, negative: Vec::new(), failed: Vec::new() }
    }
}

/// The form that a caller wants answers in.
pub(crate) enum Out<'py> {
    /// The form of the first column among the arguments.
    Like,
    Ints,
    Bytes,
    Numpy,
    Arrow,
    Device,
    /// An array of the caller's.
    Array(Bound<'py, PyAny>),
}

impl<'py> Out<'py> {
    /// Reads `out`.
    pub(crate) fn read(out: &Bound<'py, PyAny>) -> PyResult<Self> {
        let Ok(name) = out.cast::<PyString>() else {
            return match out.hasattr("__array_interface__")? {
                true => Ok(Self::Array(out.clone())),
                false => Err(PyTypeError::new_err("out must be the name of a form or an array of uint64")),
            };
        };
        match name.to_str()? {
            "like" => Ok(Self::Like),
            "ints" => Ok(Self::Ints),
            "bytes" => Ok(Self::Bytes),
            "numpy" => Ok(Self::Numpy),
            "arrow" => Ok(Self::Arrow),
            "device" => Ok(Self::Device),
            other => {
                let text = format!(
                    "out is {other:?}; it must be \"like\", \"ints\", \"bytes\", \"numpy\", \"arrow\", \"device\" or \
                     an array"
                );
                Err(PyValueError::new_err(text))
            }
        }
    }
}

/// The form of the answers.
pub(crate) enum Target<'py> {
    New(Form),
    /// An array of the caller's.
    Array(Bound<'py, PyAny>),
}

impl<'py> Target<'py> {
    /// Reads `out`. `forms` are those of the arguments.
    pub(crate) fn read(out: &Bound<'py, PyAny>, forms: &[Form]) -> PyResult<Self> {
        Ok(Self::of(&Out::read(out)?, forms))
    }

    /// The form that `out` stands for where the arguments have `forms`.
    pub(crate) fn of(out: &Out<'py>, forms: &[Form]) -> Self {
        let is_column = |form: &&Form| !form.is_scalar();
        Self::New(match (out, forms.iter().all(|form| form.is_scalar())) {
            // Numbers that are on a device stay there.
            (Out::Like, _) if forms.contains(&Form::Device) => Form::Device,
            (Out::Like, _) => *forms.iter().find(is_column).unwrap_or(&forms[0]),
            (Out::Ints, true) => Form::Int,
            (Out::Ints, false) => Form::Ints,
            (Out::Bytes, true) => Form::Bytes,
            (Out::Bytes, false) => Form::BytesList,
            (Out::Numpy, _) => Form::Limbs,
            (Out::Arrow, _) => Form::Arrow,
            (Out::Device, _) => Form::Device,
            (Out::Array(array), _) => return Self::Array(array.clone()),
        })
    }

    pub(crate) fn form(&self) -> Form {
        match self {
            Self::New(form) => *form,
            Self::Array(_) => Form::Limbs,
        }
    }
}

/// The way in which a call tells of failed items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// The call raises `ItemError`.
    Raise,
    /// The call returns the answers and a column of reasons.
    Column,
}

/// Python's objects for answers whose items failed or not: the answers, or the answers and the reasons.
pub(crate) fn deliver<'py>(
    py: Python<'py>,
    object: Bound<'py, PyAny>,
    count: usize,
    failed: Vec<(usize, String)>,
    form: Form,
    on_failure: OnFailure,
) -> PyResult<Bound<'py, PyAny>> {
    match on_failure {
        OnFailure::Raise if failed.is_empty() => Ok(object),
        OnFailure::Raise => Err(exception(py, "ItemError", (summary(&failed), failed, object))),
        OnFailure::Column => {
            let reasons = reasons(py, count, &failed, form)?;
            Ok(PyTuple::new(py, [object, reasons])?.into_any())
        }
    }
}

/// The first failed item and the number of the others.
pub(crate) fn summary(failed: &[(usize, String)]) -> String {
    let (index, reason) = &failed[0];
    match failed.len() {
        1 => format!("item {index}: {reason}"),
        2 => format!("item {index}: {reason} (and 1 more item)"),
        count => format!("item {index}: {reason} (and {} more items)", count - 1),
    }
}

/// The reasons of failed items and nothing at the others, as a column.
fn reasons<'py>(
    py: Python<'py>,
    count: usize,
    failed: &[(usize, String)],
    form: Form,
) -> PyResult<Bound<'py, PyAny>> {
    match form {
        Form::Arrow => Ok(Bound::new(py, ArrowColumn::reasons(count, failed))?.into_any()),
        Form::Int | Form::Bytes => Ok(failed.first().map(|(_, reason)| reason).into_pyobject(py)?),
        Form::Ints | Form::BytesList | Form::Limbs | Form::Device => {
            let mut reasons: Vec<Option<&str>> = vec![None; count];
            failed.iter().for_each(|(index, reason)| reasons[*index] = Some(reason));
            Ok(PyList::new(py, reasons)?.into_any())
        }
    }
}

impl Answers {
    /// Python's objects for these answers.
    pub(crate) fn deliver<'py>(
        self,
        py: Python<'py>,
        engine: &Engine,
        target: &Target<'py>,
        on_failure: OnFailure,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = match target {
            Target::New(form) => self.object(py, engine, *form)?,
            Target::Array(array) => {
                self.check_signs("an array")?;
                limb_arrays::write(array, &self.batch)?;
                array.clone()
            }
        };
        deliver(py, object, self.batch.len(), self.failed, target.form(), on_failure)
    }

    pub(crate) fn object<'py>(
        &self,
        py: Python<'py>,
        engine: &Engine,
        form: Form,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut failed = vec![false; if self.failed.is_empty() { 0 } else { self.batch.len() }];
        self.failed.iter().for_each(|(index, _)| failed[*index] = true);
        let is_failed = |index: usize| failed.get(index).is_some_and(|&is_failed| is_failed);
        let objects = |answer: &dyn Fn(usize) -> PyResult<Bound<'py, PyAny>>| {
            let object = |index: usize| {
                look_at_signals(py, index)?;
                if is_failed(index) { Ok(py.None().into_bound(py)) } else { answer(index) }
            };
            if form.is_scalar() {
                return object(0);
            }
            let list = PyList::empty(py);
            (0..self.batch.len()).try_for_each(|index| list.append(object(index)?))?;
            Ok(list.into_any())
        };
        match form {
            Form::Int | Form::Ints => {
                let ints = Ints::new(py)?;
                objects(&|index| {
                    ints.read(self.batch.get(index), self.negative.binary_search(&index).is_ok())
                })
            }
            Form::Bytes | Form::BytesList => {
                self.check_signs("bytes")?;
                let size = self.batch.bits().div_ceil(8);
                objects(&|index| {
                    let string = PyBytes::new_with(py, size, |bytes| {
                        limbs::write_be_bytes(self.batch.get(index), bytes);
                        Ok(())
                    });
                    string.map(Bound::into_any)
                })
            }
            Form::Limbs => {
                self.check_signs("an array")?;
                limb_arrays::numpy(py, &self.batch)
            }
            Form::Device => {
                self.check_signs("a device")?;
                let numbers = py.detach(|| engine.upload(&self.batch)).or_raise(py)?;
                Ok(Bound::new(py, DeviceBatch::new(numbers))?.into_any())
            }
            Form::Arrow => {
                self.check_signs("a column of Arrow")?;
                let failed: Vec<usize> = self.failed.iter().map(|(index, _)| *index).collect();
                let column = py.detach(|| ArrowColumn::numbers(engine, &self.batch, &failed))?;
                Ok(Bound::new(py, column)?.into_any())
            }
        }
    }

    /// Only integers of Python can be negative.
    fn check_signs(&self, form: &str) -> PyResult<()> {
        match self.negative.first() {
            Some(item) => {
                Err(PyValueError::new_err(format!("item {item} is negative, which {form} cannot hold")))
            }
            None => Ok(()),
        }
    }
}

/// Python's objects for truth values.
pub(crate) fn truth_values<'py>(
    py: Python<'py>,
    values: &[bool],
    failed: &[(usize, String)],
    form: Form,
) -> PyResult<Bound<'py, PyAny>> {
    let indices: Vec<usize> = failed.iter().map(|(index, _)| *index).collect();
    let object = |index: usize| match indices.binary_search(&index) {
        Ok(_) => py.None().into_bound(py),
        Err(_) => PyBool::new(py, values[index]).to_owned().into_any(),
    };
    match form {
        Form::Int | Form::Bytes => Ok(object(0)),
        Form::Ints | Form::BytesList | Form::Device => {
            Ok(PyList::new(py, (0..values.len()).map(object))?.into_any())
        }
        Form::Limbs => py.import("numpy")?.call_method1("array", (values.to_vec(), "bool")),
        Form::Arrow => Ok(Bound::new(py, ArrowColumn::booleans(values, &indices))?.into_any()),
    }
}
