//! The options of a call, as the package's Python files hand them over.

use crate::answers::{OnFailure, Out};
use crate::checks::{type_name, whole};
use crate::engine::Engine;
use modmill::TRANSFORM_MAX_BITS;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The options that a caller gave, by their names.
#[derive(FromPyObject)]
pub(crate) struct Options<'py>(Bound<'py, PyDict>);

/// The options after they were checked.
pub(crate) struct Chosen<'py> {
    pub(crate) width: Option<usize>,
    pub(crate) out: Out<'py>,
    pub(crate) on_failure: OnFailure,
    pub(crate) engine: Option<Bound<'py, Engine>>,
    pub(crate) progress: Option<Bound<'py, PyAny>>,
    /// The bits of the longest item that is not refused.
    pub(crate) max_bits: Option<usize>,
}

impl<'py> Options<'py> {
    /// No options.
    pub(crate) fn none(py: Python<'py>) -> Self {
        Self(PyDict::new(py))
    }

    pub(crate) fn py(&self) -> Python<'py> {
        self.0.py()
    }

    /// Refuses options with other names.
    pub(crate) fn only(self, names: &[&str]) -> PyResult<Self> {
        for name in self.0.keys() {
            if !names.contains(&name.cast::<PyString>()?.to_str()?) {
                return Err(unexpected(&name.to_string()));
            }
        }
        Ok(self)
    }

    pub(crate) fn read(&self) -> PyResult<Chosen<'py>> {
        let (width, engine, progress, max_bits) = Default::default();
        let (out, on_failure) = (Out::Like, OnFailure::Raise);
        let mut chosen = Chosen { width, out, on_failure, engine, progress, max_bits };
        for (name, value) in self.0.iter() {
            let name = name.cast::<PyString>()?.to_str()?;
            let given = || (!value.is_none()).then(|| value.clone());
            let bits = || given().map(|bits| whole(name, &bits, 1..=TRANSFORM_MAX_BITS)).transpose();
            match name {
                "width" => chosen.width = bits()?,
                "max_bits" => chosen.max_bits = bits()?,
                "out" => chosen.out = Out::read(&value)?,
                "errors" => chosen.on_failure = on_failure_of(&value)?,
                "engine" => chosen.engine = given().map(engine_of).transpose()?,
                "progress" => chosen.progress = given(),
                _ => return Err(unexpected(name)),
            }
        }
        Ok(chosen)
    }
}

fn unexpected(name: &str) -> PyErr {
    PyTypeError::new_err(format!("got an unexpected keyword argument '{name}'"))
}

fn on_failure_of(object: &Bound<'_, PyAny>) -> PyResult<OnFailure> {
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

fn engine_of(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, Engine>> {
    object.cast_into::<Engine>().map_err(|error| {
        let found = type_name(&error.into_inner());
        PyTypeError::new_err(format!("engine is of type {found}; it must be a modmill.Engine"))
    })
}
