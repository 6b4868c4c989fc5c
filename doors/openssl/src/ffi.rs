//! The types of OpenSSL's interface to providers (`core.h`), and the way into and out of Rust.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `OSSL_DISPATCH`: a function and its number.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Dispatch {
    pub(crate) id: c_int,
    pub(crate) function: *const c_void,
}

// SAFETY: the pointer is that of a function, which every thread may call.
unsafe impl Sync for Dispatch {}

/// The end of a table of functions.
pub(crate) const END: Dispatch = Dispatch { id: 0, function: std::ptr::null() };

/// A row of a table of functions.
macro_rules! dispatch {
    ($($id:expr => $function:expr,)*) => {
        &[$($crate::ffi::Dispatch { id: $id, function: $function as *const std::ffi::c_void },)* $crate::ffi::END]
    };
}
pub(crate) use dispatch;

/// `OSSL_ALGORITHM`: names, properties and functions of an algorithm.
#[repr(C)]
pub(crate) struct Algorithm {
    pub(crate) names: *const c_char,
    pub(crate) properties: *const c_char,
    pub(crate) functions: *const Dispatch,
    pub(crate) description: *const c_char,
}

// SAFETY: all pointers are those of constants.
unsafe impl Sync for Algorithm {}

/// The end of a list of algorithms.
pub(crate) const NO_ALGORITHM: Algorithm = Algorithm {
    names: std::ptr::null(),
    properties: std::ptr::null(),
    functions: std::ptr::null(),
    description: std::ptr::null(),
};

/// `OSSL_ITEM`: a number and a text.
#[repr(C)]
pub(crate) struct Item {
    pub(crate) id: c_uint,
    pub(crate) text: *const c_char,
}

// SAFETY: the pointer is that of a constant.
unsafe impl Sync for Item {}

/// `OSSL_PARAM`: a parameter by name.
#[repr(C)]
pub(crate) struct Param {
    pub(crate) key: *const c_char,
    pub(crate) data_type: c_uint,
    pub(crate) data: *mut c_void,
    pub(crate) data_size: usize,
    pub(crate) return_size: usize,
}

// SAFETY: parameters that are shared are constants that describe others, and have no data.
unsafe impl Sync for Param {}

/// The end of a list of parameters.
pub(crate) const LAST: Param =
    Param { key: std::ptr::null(), data_type: 0, data: std::ptr::null_mut(), data_size: 0, return_size: 0 };

/// `OSSL_CALLBACK`.
pub(crate) type Callback = unsafe extern "C" fn(params: *const Param, argument: *mut c_void) -> c_int;

/// Calls `work`, and returns `otherwise` if it panics: no panic may pass into C.
pub(crate) fn guard<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// The bytes at `data`, none if there are none.
///
/// # Safety
/// `data` is null, or `len` bytes can be read there that nobody changes while the answer is used.
pub(crate) unsafe fn octets<'a>(data: *const u8, len: usize) -> &'a [u8] {
    match data.is_null() || len == 0 || len > isize::MAX as usize {
        true => &[],
        // SAFETY: as the caller promises.
        false => unsafe { std::slice::from_raw_parts(data, len) },
    }
}
