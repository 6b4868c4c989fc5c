//! Functions of the libcrypto that loaded the provider, besides those that it hands over: jobs of ASYNC, and
//! RSA of the default provider.

use crate::ffi::{Callback, Param};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::MaybeUninit;

/// A library that is loaded.
struct Library(*mut c_void);

impl Library {
    /// The library that holds the code at `function`.
    fn of(function: *const c_void) -> Option<Self> {
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
        // If the program itself has the functions, they are found by the default order.
        Some(Self(if library.is_null() { libc::RTLD_DEFAULT } else { library }))
    }

    fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the name ends with a zero, and the library stays loaded: it calls this one.
        let symbol = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!symbol.is_null()).then_some(symbol)
    }
}

/// A structure of functions, with a constructor that looks them up by their names.
macro_rules! functions {
    ($(#[$doc:meta])* $name:ident { $($field:ident = $symbol:literal: fn($($argument:ty),*) -> $result:ty;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl $name {
            /// The functions of the library that holds the code at `function`. `None` if that library does
            /// not have them, as where OpenSSL is linked into the program and its functions are not exported.
            pub(crate) fn of(function: *const c_void) -> Option<Self> {
                let library = Library::of(function)?;
                Some(Self {
                    $($field: {
                        let symbol = library.symbol($symbol)?;
                        // SAFETY: the names are those of public functions with these types in every
                        // OpenSSL 3.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> $result>(symbol)
                        }
                    },)*
                })
            }
        }
    };
}

/// A function that OpenSSL calls when a wait context gives up a descriptor.
pub(crate) type Cleanup = unsafe extern "C" fn(*mut c_void, *const c_void, c_int, *mut c_void);

functions! {
    /// The functions of ASYNC (`async.h`).
    Async {
        get_current_job = c"ASYNC_get_current_job": fn() -> *mut c_void;
        get_wait_ctx = c"ASYNC_get_wait_ctx": fn(*mut c_void) -> *mut c_void;
        pause_job = c"ASYNC_pause_job": fn() -> c_int;
        get_fd = c"ASYNC_WAIT_CTX_get_fd": fn(*mut c_void, *const c_void, *mut c_int, *mut *mut c_void) -> c_int;
        set_wait_fd = c"ASYNC_WAIT_CTX_set_wait_fd":
            fn(*mut c_void, *const c_void, c_int, *mut c_void, Option<Cleanup>) -> c_int;
    }
}

functions! {
    /// The functions of EVP that make keys of the default provider and compute with them (`evp.h`).
    Evp {
        context_of_name = c"EVP_PKEY_CTX_new_from_name":
            fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
        context_of_key = c"EVP_PKEY_CTX_new_from_pkey": fn(*mut c_void, *mut c_void, *const c_char) -> *mut c_void;
        free_context = c"EVP_PKEY_CTX_free": fn(*mut c_void) -> ();
        free_key = c"EVP_PKEY_free": fn(*mut c_void) -> ();
        fromdata_init = c"EVP_PKEY_fromdata_init": fn(*mut c_void) -> c_int;
        fromdata = c"EVP_PKEY_fromdata": fn(*mut c_void, *mut *mut c_void, c_int, *mut Param) -> c_int;
        keygen_init = c"EVP_PKEY_keygen_init": fn(*mut c_void) -> c_int;
        set_params = c"EVP_PKEY_CTX_set_params": fn(*mut c_void, *const Param) -> c_int;
        generate = c"EVP_PKEY_generate": fn(*mut c_void, *mut *mut c_void) -> c_int;
        export = c"EVP_PKEY_export": fn(*const c_void, c_int, Callback, *mut c_void) -> c_int;
        check = c"EVP_PKEY_check": fn(*mut c_void) -> c_int;
        encrypt_init = c"EVP_PKEY_encrypt_init_ex": fn(*mut c_void, *const Param) -> c_int;
        encrypt = c"EVP_PKEY_encrypt": fn(*mut c_void, *mut u8, *mut usize, *const u8, usize) -> c_int;
        decrypt_init = c"EVP_PKEY_decrypt_init_ex": fn(*mut c_void, *const Param) -> c_int;
        decrypt = c"EVP_PKEY_decrypt": fn(*mut c_void, *mut u8, *mut usize, *const u8, usize) -> c_int;
        set_mark = c"ERR_set_mark": fn() -> c_int;
        pop_to_mark = c"ERR_pop_to_mark": fn() -> c_int;
    }
}

/// Keeps this library loaded until the process ends. Its worker threads run its code, and OpenSSL would
/// unload it under them when the provider is unloaded.
pub(crate) fn stay_loaded() {
    let mut place = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: as in Library::of. The address is that of a function of this library. The handle is not closed,
    // which is what keeps the library.
    unsafe {
        if libc::dladdr(stay_loaded as *const c_void, place.as_mut_ptr()) != 0 {
            let name = place.assume_init().dli_fname;
            if !name.is_null() {
                libc::dlopen(name, libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
            }
        }
    }
}
