//! Errors of the engine and the schemes as exceptions of Python. The classes are in `modmill/errors.py`.

use modmill::Error;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{
    PyConnectionError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyOverflowError, PyValueError,
};
use pyo3::prelude::*;

/// An exception of the class `name` of `modmill.errors`.
pub(crate) fn exception<'py>(py: Python<'py>, name: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let make = || py.import("modmill.errors")?.getattr(name)?.call1(arguments);
    match make() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Errors that have an exception. Errors of single items are handled with the answers.
pub(crate) trait Raised {
    /// The exception.
    fn raised(self, py: Python<'_>) -> PyErr;
}

/// Results whose error has an exception.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Raised> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| error.raised(py))
    }
}

impl Raised for Error {
    fn raised(self, py: Python<'_>) -> PyErr {
        let text = self.to_string();
        match self {
            Self::OutOfMemory { .. } => PyMemoryError::new_err(text),
            Self::Device(_) => exception(py, "DeviceError", (text,)),
            Self::Unavailable(_) => exception(py, "UnavailableError", (text,)),
            Self::Interrupted => PyKeyboardInterrupt::new_err(()),
            _ => PyValueError::new_err(text),
        }
    }
}

impl Raised for modmill_rsa::Error {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Engine(error) => error.raised(py),
            error => PyValueError::new_err(error.to_string()),
        }
    }
}

impl Raised for modmill_rsa::KeyError {
    fn raised(self, _: Python<'_>) -> PyErr {
        PyValueError::new_err(self.to_string())
    }
}

impl Raised for modmill_paillier::Error {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Engine(error) => error.raised(py),
            error @ (Self::Overflow { .. }
            | Self::Headroom { .. }
            | Self::TooLarge { .. }
            | Self::NotEncoded { .. }) => PyOverflowError::new_err(error.to_string()),
            error => PyValueError::new_err(error.to_string()),
        }
    }
}

impl Raised for modmill_paillier::KeyError {
    fn raised(self, _: Python<'_>) -> PyErr {
        PyValueError::new_err(self.to_string())
    }
}

impl Raised for modmill_audit::Error {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Engine(error) => error.raised(py),
            error @ modmill_audit::Error::File { .. } => PyOSError::new_err(error.to_string()),
            error => PyValueError::new_err(error.to_string()),
        }
    }
}

impl Raised for modmill_psi::Error {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Engine(error) => error.raised(py),
            // An exception of the stream's own methods is raised as it is.
            Self::Io { source, .. } if source.get_ref().is_some_and(|error| error.is::<PyErr>()) => {
                source.into()
            }
            error @ Self::Io { .. } => PyOSError::new_err(error.to_string()),
            error @ Self::Peer(_) => PyConnectionError::new_err(error.to_string()),
            error => PyValueError::new_err(error.to_string()),
        }
    }
}
