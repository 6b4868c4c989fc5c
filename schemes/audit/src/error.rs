//! Errors of an audit and of one entry.

use modmill_container::FileError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why an audit has no findings at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine could not compute.
    #[error(transparent)]
    Engine(#[from] modmill::Error),
    /// A file of a corpus, of a scratch folder or of recovered keys cannot be used.
    #[error("{}: {fault}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault.
        fault: FileError,
    },
    /// Another program is using a folder.
    #[error("{}: another program is using this folder", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// A folder is no corpus, or its list of files is damaged.
    #[error("{}: {reason}", path.display())]
    Corpus {
        /// The file or folder.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
}

impl Error {
    pub(crate) fn file(path: &Path, fault: impl Into<FileError>) -> Self {
        Self::File { path: path.to_owned(), fault: fault.into() }
    }

    pub(crate) fn corpus(path: &Path, reason: impl Into<String>) -> Self {
        Self::Corpus { path: path.to_owned(), reason: reason.into() }
    }
}

/// [`Error::file`] for a fault of the operating system.
pub(crate) fn at<T>(path: &Path, result: io::Result<T>) -> Result<T, Error> {
    result.map_err(|error| Error::file(path, error))
}

/// The reason why an entry of a collection is not audited.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EntryError {
    /// It is no key that can be read.
    #[error("{0}")]
    Format(String),
    /// It is a private key. Nothing of it was kept.
    #[error("this is a private key, which does not belong in a collection of public ones")]
    Private,
    /// It is a key of another algorithm.
    #[error("the key is for {0}, not for RSA")]
    Algorithm(String),
    /// Its modulus is zero or one.
    #[error("the modulus is {0}")]
    Trivial(u64),
    /// Its modulus is longer than what is audited.
    #[error("the modulus has {bits} bits; at most {limit} are audited")]
    TooLong {
        /// The length of the modulus.
        bits: usize,
        /// The greatest length.
        limit: usize,
    },
}

impl From<modmill_rsa::KeyError> for EntryError {
    fn from(error: modmill_rsa::KeyError) -> Self {
        match error {
            modmill_rsa::KeyError::Algorithm(name) => Self::Algorithm(name),
            error => Self::Format(error.to_string()),
        }
    }
}
