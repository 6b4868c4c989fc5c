//! The reasons why a call gets no answer.

use modmill_rsa::ItemError;
use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The queue is full. Callers try again.
    #[error("the service is busy: try again in {0:?}")]
    Overloaded(Duration),
    /// The answer is of no use any more.
    #[error("the request took too long")]
    Late,
    /// No more calls are taken.
    #[error("the service is shutting down")]
    Draining,
    /// The item has no answer: wrong ciphertext, wrong signature, wrong length.
    #[error(transparent)]
    Item(#[from] ItemError),
    /// The engine failed.
    #[error("the operation failed: {0}")]
    Failed(String),
}
