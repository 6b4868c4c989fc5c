//! Watching a call from another thread: how far it has come, and asking it to stop.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many items of the calls of an engine are done, and whether the calls should stop.
///
/// A call counts its items as they are done, some at a time: a processor after each group that a thread
/// computes side by side, a GPU after each chunk. Another thread reads the count and may stop the call, which
/// then returns [`Error::Interrupted`](crate::Error::Interrupted) as soon as the groups under way are done. A
/// watch that is stopped stays stopped, so that each call that may be stopped alone has a watch of its own.
///
/// # Examples
///
/// ```
/// use modmill_core::Watch;
///
/// let watch = Watch::new();
/// assert_eq!(watch.run(8, || "answers"), Some("answers"));
/// watch.stop();
/// assert_eq!(watch.run(8, || "answers"), None);
/// assert_eq!((watch.done(), watch.is_stopped()), (8, true));
/// ```
#[derive(Debug, Default)]
pub struct Watch {
    done: AtomicUsize,
    stopped: AtomicBool,
}

impl Watch {
    /// A watch with no items done.
    #[must_use]
    pub const fn new() -> Self {
        Self { done: AtomicUsize::new(0), stopped: AtomicBool::new(false) }
    }

    /// The number of items that are done. Items that a device could not finish are counted again when the CPU
    /// has computed them.
    #[must_use]
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// Asks the calls that are watched to stop.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the calls were asked to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Counts `items` more items as done.
    pub fn add(&self, items: usize) {
        self.done.fetch_add(items, Ordering::Relaxed);
    }

    /// Runs `compute`, which computes `items` items, and counts them; `None` if the calls were asked to stop.
    pub fn run<T>(&self, items: usize, compute: impl FnOnce() -> T) -> Option<T> {
        if self.is_stopped() {
            return None;
        }
        let answer = compute();
        self.add(items);
        Some(answer)
    }
}

/// [`Watch::run`] where there may be no watch.
pub fn watched<T>(watch: Option<&Watch>, items: usize, compute: impl FnOnce() -> T) -> Option<T> {
    match watch {
        Some(watch) => watch.run(items, compute),
        None => Some(compute()),
    }
}
