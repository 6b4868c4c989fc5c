//! Errors.

use arrow_schema::ArrowError;
use std::io;

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The data contradict themselves or their format.
    #[error("{0}")]
    Malformed(String),
    /// The data are of a kind that the caller does not take.
    #[error("{0}")]
    Refused(String),
    /// The data take more memory than the caller allows.
    #[error("{0}")]
    TooLong(String),
    /// The input cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl TableError {
    pub(crate) fn malformed(text: impl Into<String>) -> Self {
        Self::Malformed(text.into())
    }
}

impl From<ArrowError> for TableError {
    /// Decoders read from memory: an error of theirs is one of the data.
    fn from(error: ArrowError) -> Self {
        Self::Malformed(match error {
            ArrowError::IoError(text, _) => text,
            other => other.to_string(),
        })
    }
}
