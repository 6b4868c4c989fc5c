//! Connections that cannot be accepted.

use std::io;
use std::time::{Duration, Instant};

/// How often trouble is logged.
const LOGGED: Duration = Duration::from_secs(60);
/// The time until a connection is accepted again. Files may have run out: connections that end give some
/// back.
const PAUSE: Duration = Duration::from_millis(50);

/// The faults of accepting connections, which are logged now and then.
#[derive(Default)]
pub(crate) struct Trouble {
    logged: Option<Instant>,
    since: usize,
}

impl Trouble {
    /// Notes an error, and waits a moment. The log has the first, and then the number of them once a minute.
    pub(crate) async fn wait(&mut self, error: &io::Error) {
        if let Some(times) = self.note(Instant::now()) {
            tracing::warn!(%error, times, "connections cannot be accepted");
        }
        tokio::time::sleep(PAUSE).await;
    }

    /// Counts an error. Returns how many are to be logged, if it is time.
    fn note(&mut self, now: Instant) -> Option<usize> {
        self.since += 1;
        if self.logged.is_some_and(|logged| now.saturating_duration_since(logged) < LOGGED) {
            return None;
        }
        self.logged = Some(now);
        Some(std::mem::take(&mut self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_logged_at_first_and_then_once_a_minute() {
        let (mut trouble, start) = (Trouble::default(), Instant::now());
        assert_eq!(trouble.note(start), Some(1));
        for second in 1..60 {
            assert_eq!(trouble.note(start + Duration::from_secs(second)), None);
        }
        assert_eq!(trouble.note(start + LOGGED), Some(60));
    }
}
