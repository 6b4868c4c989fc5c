//! The origin of a task, and the reasons why a task gets no answer.

use crate::credentials::Principal;
use modmill_rsa::ItemError;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The origin of an operation, for fairness between principals and for the audit log.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The principal that asks.
    pub principal: Arc<Principal>,
    /// The door: `kms`, `transit`, `bulk`, `privacy_pass`.
    pub door: &'static str,
    /// The operation as its door names it: `Sign`.
    pub operation: &'static str,
    /// The key's identifier.
    pub key_id: Arc<str>,
    /// The request's identifier.
    pub request_id: Arc<str>,
    /// The time from which on the answer is of no use.
    pub deadline: Instant,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The queue is full. Clients try again.
    #[error("the service is busy: try again in {0:?}")]
    Overloaded(Duration),
    /// The deadline passed before the operation was computed.
    #[error("the request took too long")]
    Late,
    /// The service is shutting down and takes no more requests.
    #[error("the service is shutting down")]
    Draining,
    /// The item has no answer: wrong ciphertext, wrong signature, wrong length.
    #[error(transparent)]
    Item(#[from] ItemError),
    /// The engine failed.
    #[error("the operation failed: {0}")]
    Failed(String),
}
