//! Handlers of `fork`.
#![allow(unsafe_code)]

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

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
