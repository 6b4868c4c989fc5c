//! Functions of ASYNC in the libcrypto that loaded the provider. They are not among those that it hands over.

use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;

type Cleanup = unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void);

/// The functions of ASYNC.
#[derive(Clone, Copy)]
pub(crate) struct Async {
    pub(crate) get_current_job: unsafe extern "C" fn() -> *mut c_void,
    pub(crate) get_wait_ctx: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    pub(crate) pause_job: unsafe extern "C" fn() -> c_int,
    pub(crate) get_fd:
        unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_int, *mut *mut c_void) -> c_int,
    pub(crate) set_wait_fd:
        unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void, Option<Cleanup>) -> c_int,
}

impl Async {
    /// The functions of the library that holds the code at `function`. `None` if that library does not have them, as
    /// where OpenSSL is linked into the program and its functions are not exported: operations then are not asynchronous.
    pub(crate) fn of(function: *const c_void) -> Option<Self> {
        let mut place = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: dladdr looks the address up and writes what it finds. Zeros are a value of the structure.
        let place = unsafe {
            if libc::dladdr(function, place.as_mut_ptr()) == 0 {
                return None;
            }
            place.assume_init()
        };
        if place.dli_fname.is_null() {
            return None;
        }
        // SAFETY: the name ends with a zero. With RTLD_NOLOAD nothing is loaded that is not there already.
        let library = unsafe { libc::dlopen(place.dli_fname, libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        // Where the program itself has the functions, they are found by the default order.
        let library = if library.is_null() { libc::RTLD_DEFAULT } else { library };
        let symbol = |name: &CStr| {
            // SAFETY: the name ends with a zero, and the library stays loaded: it calls this one.
            let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!symbol.is_null()).then_some(symbol)
        };
        // SAFETY: the names are those of functions with these types in every OpenSSL since 1.1.0 (async.h).
        unsafe {
            Some(Self {
                get_current_job: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> *mut c_void>(
                    symbol(c"ASYNC_get_current_job")?,
                ),
                get_wait_ctx: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*mut c_void) -> *mut c_void,
                >(symbol(c"ASYNC_get_wait_ctx")?),
                pause_job: std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(symbol(
                    c"ASYNC_pause_job",
                )?),
                get_fd: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_int, *mut *mut c_void) -> c_int,
                >(symbol(c"ASYNC_WAIT_CTX_get_fd")?),
                set_wait_fd: std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(
                        *mut c_void,
                        *const c_void,
                        c_int,
                        *mut c_void,
                        Option<Cleanup>,
                    ) -> c_int,
                >(symbol(c"ASYNC_WAIT_CTX_set_wait_fd")?),
            })
        }
    }
}

/// Keeps this library loaded until the process ends. Its worker threads run its code, and OpenSSL would unload it under
/// them when the provider is unloaded.
pub(crate) fn stay_loaded() {
    let mut place = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: as in Async::of. The address is that of a function of this library. The handle is not closed, which is what
    // keeps the library.
    unsafe {
        if libc::dladdr(stay_loaded as *const c_void, place.as_mut_ptr()) != 0 {
            let name = place.assume_init().dli_fname;
            if !name.is_null() {
                libc::dlopen(name, libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
            }
        }
    }
}
