//! Why an operation has no answer.

use modmill_rsa::{ItemError, KeyError};
use thiserror::Error as ThisError;

/// The reason why an operation has no answer.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The operation is not possible with this input and this key.
    #[error(transparent)]
    Item(#[from] ItemError),
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The engine could not compute, or did not start.
    #[error("the engine failed: {0}")]
    Engine(String),
    /// The service cannot be reached, or the connection to it broke and could not be made again.
    #[error("the service at {path} cannot be reached: {problem}")]
    Unreachable {
        /// The file of the socket.
        path: String,
        /// The fault, in words.
        problem: String,
    },
    /// The service refused the operation.
    #[error("the service refused the operation: {0}")]
    Refused(String),
    /// The service has no key of this name that the caller may use.
    #[error("the service has no key {0:?} that may be used here")]
    NoSuchKey(String),
    /// The service sent something that is not part of the protocol.
    #[error("the service sent an answer that cannot be understood: {0}")]
    Protocol(&'static str),
}
