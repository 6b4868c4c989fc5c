//! The figures that the service reports: counters for Prometheus, and the last minutes for the live page.

pub(crate) mod history;
mod registry;

pub(crate) use history::{History, Snapshot};

use modmill_gather::Refused;
use registry::Registered;
use std::sync::Arc;

/// The processor that computed a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BackendName {
    /// Workers of the CPU.
    Cpu,
    /// GPUs.
    Gpu,
}

impl BackendName {
    /// The name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Every item was computed. Wrong ciphertexts and signatures count as computed.
    Answered,
    /// The queue was full.
    Overloaded,
    /// The deadline passed.
    Late,
    /// The service was shutting down.
    Draining,
    /// The engine or the audit log failed.
    Failed,
}

impl Outcome {
    pub(crate) fn of<T>(reply: &Result<T, Refused>) -> Self {
        match reply {
            Ok(_) | Err(Refused::Item(_)) => Self::Answered,
            Err(Refused::Overloaded(_)) => Self::Overloaded,
            Err(Refused::Late) => Self::Late,
            Err(Refused::Draining) => Self::Draining,
            Err(Refused::Failed(_)) => Self::Failed,
        }
    }

    /// The name in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Overloaded => "overloaded",
            Self::Late => "late",
            Self::Draining => "draining",
            Self::Failed => "failed",
        }
    }
}

/// A call of the batcher that has ended.
pub struct Operation {
    /// The door.
    pub door: &'static str,
    /// The operation as its door names it.
    pub operation: &'static str,
    /// The key's identifier.
    pub key_id: Arc<str>,
    /// The number of items.
    pub items: usize,
    /// The outcome.
    pub outcome: Outcome,
    /// The seconds from the call to the answer.
    pub seconds: f64,
}

/// The figures of one service.
#[derive(Default)]
pub struct Metrics {
    registered: Registered,
    history: History,
}

impl Metrics {
    /// Notes a call of the batcher that has ended.
    pub fn operation(&self, operation: &Operation) {
        self.registered.operation(operation);
        self.history.operation(operation);
    }

    /// Notes a batch that was computed.
    pub fn batch(&self, backend: BackendName, is_private: bool, items: usize, seconds: f64) {
        self.registered.batch(backend, is_private, items, seconds);
        self.history.batch(backend, items, seconds);
    }

    /// Notes a failure of a device or an engine that was noticed.
    pub fn fault(&self) {
        self.registered.faults.inc();
    }

    /// Notes an HTTP request that was answered, and whether the live page is to count it among the errors.
    pub fn request(&self, door: &'static str, status: u16, is_error: bool, seconds: f64) {
        self.registered.request(door, status, seconds);
        if is_error {
            self.history.error(door);
        }
    }

    /// Notes a request that was refused because its principal asks too often.
    pub fn limited(&self) {
        self.registered.limited.inc();
    }

    /// Notes a request whose body found no room among those that are held, or came too slowly.
    pub fn refused_body(&self) {
        self.registered.refused_bodies.inc();
    }

    /// Notes that a connection was opened. It is closed when the value is dropped.
    pub fn connection(self: &Arc<Self>) -> Connection {
        self.registered.connections.inc();
        self.registered.accepted.inc();
        Connection(Arc::clone(self))
    }

    /// Notes a connection that was refused, and why: `full`, `address`, `tls`.
    pub fn refused_connection(&self, reason: &'static str) {
        self.registered.refused_connection(reason);
    }

    /// Notes how much waits.
    pub fn queue(&self, calls: usize, seconds: f64) {
        self.registered.queue_calls.set(i64::try_from(calls).unwrap_or(i64::MAX));
        self.registered.queue_seconds.set(seconds);
        self.history.queue(calls);
    }

    /// All figures in the text format of Prometheus.
    #[must_use]
    pub fn text(&self) -> String {
        self.registered.text()
    }

    /// The last minutes.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }
}

/// A connection that is open.
pub struct Connection(Arc<Metrics>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.registered.connections.dec();
    }
}
