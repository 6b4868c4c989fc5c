//! Keys and contexts of operations, which OpenSSL holds by a pointer.

use crate::core_handle::Core;
use crate::failure::Failure;
use crate::ffi::guard;
use std::ffi::c_int;

/// A context of an operation.
pub(crate) trait Context: Clone {
    /// OpenSSL's handle, which takes the errors of the operation.
    fn core(&self) -> Core;
}

/// Frees a context.
///
/// # Safety
/// `context` is null, or the function that makes contexts in the same table made it as a `Box<T>`. It is
/// freed once.
pub(crate) unsafe extern "C" fn free<T>(context: *mut T) {
    guard((), || {
        if !context.is_null() {
            // SAFETY: as the caller promises.
            drop(unsafe { Box::from_raw(context) });
        }
    });
}

/// A copy of a context, or null for null.
///
/// # Safety
/// `context` is null, or the function that makes contexts in the same table made it as a `Box<T>`. No other
/// thread changes it.
pub(crate) unsafe extern "C" fn dup<T: Context>(context: *const T) -> *mut T {
    guard(std::ptr::null_mut(), || {
        // SAFETY: as the caller promises.
        unsafe { context.as_ref() }
            .map_or(std::ptr::null_mut(), |context| Box::into_raw(Box::new(context.clone())))
    })
}

/// Calls `work` with a context, and returns its status.
///
/// # Safety
/// `context` is null, or a context of this provider that no other thread uses.
#[track_caller]
pub(crate) unsafe fn with<T: Context>(
    context: *mut T,
    work: impl FnOnce(&mut T) -> Result<(), Failure>,
) -> c_int {
    guard(0, || {
        // SAFETY: as the caller promises.
        let Some(context) = (unsafe { context.as_mut() }) else { return 0 };
        let core = context.core();
        core.status(work(context))
    })
}
