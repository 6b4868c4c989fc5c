//! Checks of arguments.

use modmill::{Error, TRANSFORM_MAX_BITS};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use std::ops::RangeInclusive;

/// A whole number that a caller chose.
pub(crate) fn whole(name: &str, object: &Bound<'_, PyAny>, range: RangeInclusive<usize>) -> PyResult<usize> {
    let text = |found: String| {
        format!("{name} is {found}; it must be an int from {} to {}", range.start(), range.end())
    };
    match object.extract::<usize>() {
        Ok(number) if range.contains(&number) => Ok(number),
        Ok(number) => Err(PyValueError::new_err(text(number.to_string()))),
        Err(_) if object.hasattr(intern!(object.py(), "__index__"))? => {
            // Python refuses to write integers of some thousands of digits.
            let shown = object.str().and_then(|shown| Ok(shown.to_str()?.to_owned()));
            Err(PyValueError::new_err(text(shown.unwrap_or_else(|_| "out of range".to_owned()))))
        }
        Err(_) => Err(PyTypeError::new_err(text(format!("of type {}", type_name(object))))),
    }
}

/// The name of an object's type.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name().and_then(|name| Ok(name.to_str()?.to_owned()));
    name.unwrap_or_else(|_| "an unknown type".to_owned())
}

/// No number is longer than the engine takes.
pub(crate) fn check_length(what: &'static str, bits: usize) -> Result<(), Error> {
    match bits > TRANSFORM_MAX_BITS {
        true => Err(Error::TooLong { what, bits, limit: TRANSFORM_MAX_BITS }),
        false => Ok(()),
    }
}
