//! The one module of a process, and what becomes of it in a fork.
#![allow(unsafe_code)]

use crate::module::Module;
use crate::refusal::{Answer, Refusal, refuse};
use cryptoki_sys::*;
use modmill_core::sync::{RwLock, RwLockWriteGuard};
use std::cell::RefCell;
use std::sync::{Arc, Once};

/// The module, while it is initialised.
static CURRENT: RwLock<Option<Arc<Module>>> = RwLock::new(None);

/// The initialised module.
pub(crate) fn current() -> Answer<Arc<Module>> {
    let module = CURRENT.read().as_ref().map(Arc::clone);
    module.ok_or_else(|| {
        Refusal::new(CKR_CRYPTOKI_NOT_INITIALIZED, "C_Initialize was not called in this process")
    })
}

/// Initialises the module.
pub(crate) fn initialise() -> Answer {
    register();
    let mut current = CURRENT.write();
    if current.is_some() {
        return refuse(CKR_CRYPTOKI_ALREADY_INITIALIZED, "C_Initialize was called already");
    }
    *current = Some(Arc::new(Module::new()?));
    Ok(())
}

/// Ends the module. Calls that are under way in other threads end as they would have.
pub(crate) fn finalise() -> Answer {
    match CURRENT.write().take() {
        Some(_) => Ok(()),
        None => refuse(CKR_CRYPTOKI_NOT_INITIALIZED, "C_Initialize was not called in this process"),
    }
}

type Guard = RwLockWriteGuard<'static, Option<Arc<Module>>>;

thread_local! {
    /// The lock of [`CURRENT`], held by the thread that forks.
    static HELD: RefCell<Option<Guard>> = const { RefCell::new(None) };
}

/// Takes the lock, so that no other thread has it when the child begins.
extern "C" fn prepare() {
    let guard = CURRENT.write();
    // A thread that ends has no such place any more. Its lock is then free in both processes.
    let _ = HELD.try_with(|held| *held.borrow_mut() = Some(guard));
}

/// Frees the lock in the parent.
extern "C" fn parent() {
    let _ = HELD.try_with(|held| held.borrow_mut().take());
}

/// A child has no sessions: PKCS #11 asks it to call `C_Initialize` (section 6.6.1 of version 3.0). Locks
/// inside of the old module may be held by threads that the child does not have, so that it is left alone and
/// not taken apart.
extern "C" fn child() {
    let _ = HELD.try_with(|held| {
        if let Some(mut guard) = held.borrow_mut().take() {
            std::mem::forget(guard.take());
        }
    });
}

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the three functions take no arguments, do not unwind, and stay in memory, because the
        // library is never unloaded (build.rs).
        let status = unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
        // It fails only without memory for three pointers. A child would then see its parent's sessions.
        debug_assert_eq!(status, 0);
    });
}
