//! The one queue of a process, and what happens to it around a fork.

use super::Queue;
use crate::{Error, fork};
use modmill::Engine;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// How long a fork waits for batches under way. A callback that forks would otherwise wait for itself.
const FORK_PATIENCE: Duration = Duration::from_secs(2);

/// The queue of this process. A child of `fork` gives up its parent's queue, whose locks may be held by
/// threads that the child does not have, and makes its own.
static CURRENT: AtomicPtr<Queue> = AtomicPtr::new(std::ptr::null_mut());

/// The queue of this process.
#[allow(unsafe_code)]
pub(crate) fn current() -> &'static Queue {
    let known = CURRENT.load(Ordering::Acquire);
    // SAFETY: a pointer in CURRENT comes of Box::leak below and is never freed.
    if let Some(queue) = unsafe { known.as_ref() } {
        return queue;
    }
    watch_forks();
    let queue: &'static mut Queue = Box::leak(Box::default());
    let made: *mut Queue = queue;
    // If two threads come at once, one queue stays unused. It has started nothing, and is small.
    match CURRENT.compare_exchange(std::ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: as above.
        Ok(_) => unsafe { &*made },
        // SAFETY: as above, and the pointer is not null, because the exchange found another than null.
        Err(other) => unsafe { &*other },
    }
}

/// A number that differs between this process and its children.
pub(crate) fn generation() -> usize {
    watch_forks();
    fork::generation()
}

/// Has forks noticed from now on.
fn watch_forks() {
    fork::register(before_fork, after_fork_in_parent, after_fork_in_child);
}

/// The queue that exists already.
#[allow(unsafe_code)]
fn existing() -> Option<&'static Queue> {
    // SAFETY: a pointer in CURRENT comes of Box::leak and is never freed.
    unsafe { CURRENT.load(Ordering::Acquire).as_ref() }
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
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
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
