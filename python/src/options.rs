//! The options of a call, as the package's Python files hand them over.

use crate::answers::{OnFailure, Out};
use crate::checks::{type_name, whole};
use crate::engine::Engine;
use modmill::TRANSFORM_MAX_BITS;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// The width in bits, the form of the answers, what becomes of failed items, the engine, the listener of the
/// progress and, where a call takes it, the bits of the longest item that is not refused.
#[derive(FromPyObject)]
pub(crate) struct Options<'py>(Bound<'py, PyTuple>);

/// The options after they were checked.
pub(crate) struct Chosen<'py> {
    pub(crate) width: Option<usize>,
    pub(crate) out: Out<'py>,
    pub(crate) on_failure: OnFailure,
    pub(crate) engine: Option<Bound<'py, Engine>>,
    pub(crate) progress: Option<Bound<'py, PyAny>>,
    pub(crate) max_bits: Option<usize>,
}

impl<'py> Options<'py> {
    pub(crate) fn read(&self) -> PyResult<Chosen<'py>> {
        let item = |index: usize| match self.0.len() > index {
            true => self.0.get_item(index).map(|item| (!item.is_none()).then_some(item)),
            false => Ok(None),
        };
        let bits = |name: &str, index: usize| {
            item(index)?.map(|bits| whole(name, &bits, 1..=TRANSFORM_MAX_BITS)).transpose()
        };
        Ok(Chosen {
            width: bits("width", 0)?,
            out: Out::read(&self.0.get_item(1)?)?,
            on_failure: on_failure(&self.0.get_item(2)?)?,
            engine: item(3)?.map(engine).transpose()?,
            progress: item(4)?,
            max_bits: bits("max_bits", 5)?,
        })
    }
}

fn on_failure(object: &Bound<'_, PyAny>) -> PyResult<OnFailure> {
    let name = object.cast::<PyString>().map_err(|_| PyTypeError::new_err("errors must be a str"))?;
    match name.to_str()? {
        "raise" => Ok(OnFailure::Raise),
        "column" => Ok(OnFailure::Column),
        other => {
            let text = format!("errors is {other:?}; it must be \"raise\" or \"column\"");
            Err(PyValueError::new_err(text))
        }
    }
}

fn engine(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, Engine>> {
    object.cast_into::<Engine>().map_err(|error| {
        let found = type_name(&error.into_inner());
        PyTypeError::new_err(format!("engine is of type {found}; it must be a modmill.Engine"))
    })
}
