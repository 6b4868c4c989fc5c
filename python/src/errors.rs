//! Errors of the engine as exceptions of Python. The classes are in `modmill/errors.py`.

use modmill::Error;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::prelude::*;

/// An exception of the class `name` of `modmill.errors`.
pub(crate) fn exception<'py>(py: Python<'py>, name: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let make = || py.import("modmill.errors")?.getattr(name)?.call1(arguments);
    match make() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// The exception of an error that concerns a whole call. Errors of single items are handled with the answers.
pub(crate) fn of_call(py: Python<'_>, error: &Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
        Error::Device(_) => exception(py, "DeviceError", (text,)),
        Error::Unavailable(_) => exception(py, "UnavailableError", (text,)),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        _ => PyValueError::new_err(text),
    }
}
