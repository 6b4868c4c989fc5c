//! The origin of a task.

use crate::credentials::Principal;
use modmill_gather::{Caller, Reply};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;

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

impl Caller for Origin {
    type Way = oneshot::Sender<Reply>;

    fn principal(&self) -> &str {
        &self.principal.name
    }

    fn is_late(&self, now: Instant) -> bool {
        self.deadline <= now
    }

    fn is_wanted(way: &Self::Way) -> bool {
        !way.is_closed()
    }

    fn send(way: Self::Way, reply: Reply) {
        let _ = way.send(reply);
    }
}
