//! Functions of libraries that are loaded at run time.
//!
//! Why not `cudarc`: its loader panics where a library or one of its symbols is missing, it looks for
//! NVRTC under its own list of names only, and it is built for one version of CUDA. Here a missing
//! library is an error like any other, and few functions are needed.

use std::error::Error;
use std::iter::successors;

/// An error with what caused it: a loader's own message says only that it failed.
pub(crate) fn reason(error: &(dyn Error + 'static)) -> String {
    let chain = successors(Some(error), |&error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Copies function pointers out of a library into a struct that keeps it loaded.
macro_rules! api {
    ($(#[$doc:meta])* struct $name:ident { $($field:ident = $symbol:literal: fn($($type:ty),*),)+ }) => {
        $(#[$doc])*
        pub(crate) struct $name {
            $(pub(crate) $field: unsafe extern "C" fn($($type),*) -> std::ffi::c_int,)+
            /// Keeps the functions above where they are.
            _library: libloading::Library,
        }

        impl $name {
            /// # Safety
            /// The library is the one whose documented interface the struct describes.
            pub(crate) unsafe fn new(
                library: libloading::Library,
            ) -> std::result::Result<Self, libloading::Error> {
                // SAFETY: each symbol has the type that the documented interface gives it, and the
                // pointers live no longer than the library that is kept with them.
                unsafe {
                    Ok(Self {
                        $($field: *library.get(concat!($symbol, "\0"))?,)+
                        _library: library,
                    })
                }
            }
        }
    };
}
pub(crate) use api;
