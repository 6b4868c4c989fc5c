//! The time at which the next request starts.

use crate::arrivals::Arrivals;
use modmill_server::histogram::Histogram;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// The rule by which workers start their next request.
pub(super) enum Pace {
    /// As soon as the last one is answered, until a time.
    Closed(Instant),
    /// At the time that it is due, whatever became of the others.
    Open(Queue),
}

impl Pace {
    /// The time at which the next request is meant to start, once that time has come; `None` at the end of
    /// the run.
    pub(super) async fn next(&self) -> Option<Instant> {
        match self {
            Self::Closed(end) => Some(Instant::now()).filter(|now| now < end),
            Self::Open(queue) => queue.next().await,
        }
    }
}

/// Requests that are due and wait for a connection.
pub(super) struct Queue {
    due: Mutex<VecDeque<Instant>>,
    /// A permit for each entry of `due`, and at the end one for each worker.
    ready: Semaphore,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self { due: Mutex::default(), ready: Semaphore::new(0) }
    }

    async fn next(&self) -> Option<Instant> {
        self.ready.acquire().await.ok()?.forget();
        self.due.lock().pop_front()
    }

    /// Lets requests become due until `end`, and then tells the workers that there are no more. Blocks its
    /// thread, because the timers of tokio are a millisecond coarse. Returns how much later than intended
    /// requests became due.
    pub(super) fn fill(
        &self,
        arrivals: Arrivals,
        start: Instant,
        end: Duration,
        workers: usize,
    ) -> Histogram {
        let mut late = Histogram::new();
        for at in arrivals.take_while(|&at| at < end) {
            let when = start + at;
            let wait = when.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                std::thread::sleep(wait);
            }
            late.record(when.elapsed());
            self.due.lock().push_back(when);
            self.ready.add_permits(1);
            if self.ready.is_closed() {
                break;
            }
        }
        self.ready.add_permits(workers);
        late
    }

    /// Takes away all requests that wait, and lets the workers end.
    pub(super) fn abandon(&self) -> Vec<Instant> {
        self.ready.close();
        std::mem::take(&mut *self.due.lock()).into()
    }
}
