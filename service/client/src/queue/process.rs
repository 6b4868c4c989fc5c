//! The one queue of a process, and what happens to it around a fork.

use super::Queue;
use crate::Error;
use crate::fork::{self, OfProcess};
use modmill::Engine;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long a fork waits for batches under way. A callback that forks would otherwise wait for itself.
const FORK_PATIENCE: Duration = Duration::from_secs(2);

/// The queue of this process.
static CURRENT: OfProcess<Queue> = OfProcess::new();

/// The queue of this process.
pub(crate) fn current() -> &'static Queue {
    CURRENT.get_or_make(generation(), Queue::default)
}

/// A number that differs between this process and its children. Forks are noticed from now on.
pub(crate) fn generation() -> usize {
    fork::register(before_fork, after_fork_in_parent, after_fork_in_child);
    fork::generation()
}

/// The queue that exists already.
fn existing() -> Option<&'static Queue> {
    CURRENT.get(fork::generation())
}

extern "C" fn before_fork() {
    if let Some(queue) = existing() {
        queue.hold(FORK_PATIENCE);
    }
}

extern "C" fn after_fork_in_parent() {
    if let Some(queue) = existing() {
        queue.release();
    }
}

extern "C" fn after_fork_in_child() {
    fork::count();
}

/// The counts of what the queue of this process has computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Private operations.
    pub operations: usize,
    /// Batches in which they were computed.
    pub batches: usize,
    /// The operations of the largest batch.
    pub largest: usize,
}

/// The counts of what the queue of this process has computed since the process began, or since it was forked.
#[must_use]
pub fn statistics() -> Statistics {
    let Some(queue) = existing() else { return Statistics::default() };
    let [operations, batches, largest] =
        [&queue.operations, &queue.batches, &queue.largest].map(|figure| figure.load(Ordering::Relaxed));
    Statistics { operations, batches, largest }
}

/// Calls `work` with the engine of this process, which has one thread: the calling one. For public operations
/// and for the generation of keys. A fork waits until `work` is done.
pub fn with_engine<T>(work: impl FnOnce(&Engine) -> T) -> Result<T, Error> {
    let queue = current();
    let engine = queue.engine()?;
    queue.enter();
    // Leaves also if `work` panics.
    let _left = Left(queue);
    Ok(work(engine))
}

/// Lets no batch begin until [`resume`], and waits until none is computed, for two seconds at most. For
/// libraries that are about to lose something that their operations need, such as when the program ends.
pub fn rest() {
    if let Some(queue) = existing() {
        queue.hold(FORK_PATIENCE);
    }
}

/// Lets batches begin again after [`rest`].
pub fn resume() {
    if let Some(queue) = existing() {
        queue.release();
    }
}

struct Left<'a>(&'a Queue);

impl Drop for Left<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.beside -= 1;
        self.0.tell_fork(&state);
    }
}
