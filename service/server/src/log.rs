//! The log of the process: lines that could not be written, and panics.
//!
//! A log that cannot be written is no reason to refuse a request. Lines that are lost are counted, and
//! `/ready` and the metrics say how many.

use std::sync::atomic::{AtomicU64, Ordering};

static LOST: AtomicU64 = AtomicU64::new(0);

/// Counts a line that could not be written.
pub fn lose() {
    LOST.fetch_add(1, Ordering::Relaxed);
}

/// The lines that could not be written since the process began.
#[must_use]
pub fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// Writes panics as lines of the log from now on, in its format.
pub fn take_panics() {
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a thread or a task has failed")));
}
