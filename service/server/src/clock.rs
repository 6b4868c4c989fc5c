//! The time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The clock that the service reads. Clones are the same clock. Tests move it.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    offset_ms: Arc<AtomicI64>,
}

impl Clock {
    /// Milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        u64::try_from(now.saturating_add(self.offset_ms.load(Ordering::Relaxed))).unwrap_or(0)
    }

    /// Moves the clock by `ms` milliseconds from where it is.
    pub fn move_by(&self, ms: i64) {
        self.offset_ms.fetch_add(ms, Ordering::Relaxed);
    }
}
