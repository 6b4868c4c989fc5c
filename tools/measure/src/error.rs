//! Why a measurement ended without results.

use std::io;
use std::path::PathBuf;

/// Why a measurement ended without results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The engine refused a call.
    #[error(transparent)]
    Engine(#[from] modmill::Error),
    /// RSA refused a call.
    #[error(transparent)]
    Rsa(#[from] modmill_rsa::Error),
    /// A GPU could not be used.
    #[error(transparent)]
    Device(#[from] modmill_cuda::Error),
    /// The request names something that cannot be measured on this machine.
    #[error("{0}")]
    Unsupported(String),
    /// An answer that others depend on is wrong.
    #[error("{0}")]
    WrongAnswer(String),
    /// A file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A peer does not compute the inputs.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A library's function reported failure: it does not compute numbers of this kind or length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{function} refuses {what}")]
pub struct Refusal {
    pub(crate) function: &'static str,
    pub(crate) what: String,
}
