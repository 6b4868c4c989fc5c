//! Handlers of `fork`, and values that every process makes for itself.
#![allow(unsafe_code)]

use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// How often this process or one of its parents was forked into it.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

/// A number that differs between a process and its children, if the handlers count the forks.
pub(crate) fn generation() -> usize {
    GENERATION.load(Ordering::Acquire)
}

/// Counts a fork, in the child.
pub(crate) fn count() {
    GENERATION.fetch_add(1, Ordering::AcqRel);
}

/// Has the functions called around every `fork` of this process: `prepare` before it, `parent` and `child`
/// after it in each process. A second call does nothing.
///
/// `child` runs while only the thread that forked exists, so that it must take no lock.
pub(crate) fn register(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the three functions live as long as the code of this library, take no arguments and do not
        // unwind. The C library forgets them when the library that registered them is unloaded.
        let status = unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
        // Without memory for three pointers nothing else works either. A child would then use its parent's
        // queue.
        debug_assert_eq!(status, 0);
    });
}

/// A value of one process. A child of `fork` gives up its parent's, whose locks may be held by threads that
/// the child does not have, and makes its own. Values are never freed.
pub(crate) struct OfProcess<T: Send + Sync + 'static>(AtomicPtr<(usize, T)>);

impl<T: Send + Sync> OfProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// The value of the process of a generation, if there is one.
    pub(crate) fn get(&self, generation: usize) -> Option<&'static T> {
        of_generation(self.0.load(Ordering::Acquire), generation)
    }

    /// The value of the process of a generation, which `make` makes.
    pub(crate) fn get_or_make(&self, generation: usize, make: impl FnOnce() -> T) -> &'static T {
        let known = self.0.load(Ordering::Acquire);
        if let Some(value) = of_generation(known, generation) {
            return value;
        }
        let made = Box::leak(Box::new((generation, make())));
        let shared: *mut _ = made;
        // If two threads come at once, one value stays unused.
        match self.0.compare_exchange(known, shared, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: the pointer comes of Box::leak, and nobody writes to what it points to.
            Ok(_) => unsafe { &(*shared).1 },
            // SAFETY: the same holds for every pointer that is stored, and this one is not null, because
            // another thread of this process has just stored it.
            Err(other) => unsafe { &(*other).1 },
        }
    }
}

/// The value behind a pointer, if it is of this generation.
fn of_generation<T>(known: *mut (usize, T), generation: usize) -> Option<&'static T> {
    // SAFETY: a pointer that is not null comes of Box::leak, is never freed, and nobody writes to what it
    // points to.
    let (of, value) = unsafe { known.as_ref() }?;
    (*of == generation).then_some(value)
}
