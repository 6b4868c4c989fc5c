//! The activity of a connection, which is closed when there is none for too long.

use super::limits::HttpLimits;
use super::peer::Peer;
use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;

/// The activity of a connection: requests under way, and answers that wait for the client.
pub(super) struct Activity {
    under_way: AtomicUsize,
    has_asked: AtomicBool,
    /// The time at which the last request ended, or the connection began.
    last: Mutex<Instant>,
    unread: Mutex<Unread>,
}

/// Answers of which the client has to take a part.
#[derive(Default)]
struct Unread {
    /// The number of the next part.
    next: u64,
    /// The parts that wait, and since when, in the order of their numbers.
    since: VecDeque<(u64, Instant)>,
}

impl Activity {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            under_way: AtomicUsize::new(0),
            has_asked: AtomicBool::new(false),
            last: Mutex::new(Instant::now()),
            unread: Mutex::default(),
        })
    }

    /// Returns when nothing was asked in time, or an answer was not taken in time.
    pub(super) async fn overdue(&self, limits: &HttpLimits) {
        loop {
            let left = self.left(limits);
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }

    /// The time after which the connection may be overdue.
    fn left(&self, limits: &HttpLimits) -> Duration {
        let quiet = self.last.lock().elapsed();
        let left = match (self.has_asked.load(Ordering::Acquire), self.under_way.load(Ordering::Acquire)) {
            (false, _) => limits.header_timeout.saturating_sub(quiet),
            (true, 0) => limits.idle_timeout.saturating_sub(quiet),
            (true, _) => limits.idle_timeout,
        };
        // A part that will wait is seen in time if it is looked for as often as parts may wait.
        let unread = self.unread().since.front().map_or(Duration::ZERO, |(_, since)| since.elapsed());
        left.min(limits.write_timeout.saturating_sub(unread))
    }

    fn unread(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock()
    }
}

/// A request under way: until its answer was sent.
pub(super) struct UnderWay {
    activity: Arc<Activity>,
    place: OnceLock<Option<OwnedSemaphorePermit>>,
}

impl UnderWay {
    pub(super) fn new(activity: &Arc<Activity>) -> Self {
        activity.under_way.fetch_add(1, Ordering::AcqRel);
        activity.has_asked.store(true, Ordering::Release);
        Self { activity: Arc::clone(activity), place: OnceLock::new() }
    }

    /// Whether no other request of the connection is under way.
    pub(super) fn is_alone(&self) -> bool {
        self.activity.under_way.load(Ordering::Acquire) == 1
    }

    /// Waits until `peer` may have this request served.
    pub(super) async fn admit(&self, peer: &Peer) {
        let place = peer.admit().await;
        let _ = self.place.set(place);
    }

    /// Notes that the client has to take a part of the answer from now on. Returns the part's number.
    pub(super) fn wait(&self) -> u64 {
        let mut unread = self.activity.unread();
        unread.next += 1;
        let part = unread.next;
        unread.since.push_back((part, Instant::now()));
        part
    }

    /// Notes that the client has taken the part with this number.
    pub(super) fn taken(&self, part: u64) {
        let mut unread = self.activity.unread();
        // Parts are in the order of their numbers.
        if let Ok(place) = unread.since.binary_search_by_key(&part, |(number, _)| *number) {
            unread.since.remove(place);
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        *self.activity.last.lock() = Instant::now();
        self.activity.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}
