//! Shared libraries, loaded at run time.

use super::peer::Peer;
use libloading::Library;

/// A library whose functions can be called here.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// File names to try, in this order.
    pub(super) files: &'static [&'static str],
    pub(super) load: Load,
}

/// Finds the functions of a library that was loaded from the named file.
pub(super) type Load = fn(Library, &str) -> Result<Box<dyn Peer>, libloading::Error>;

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Kind {}

#[allow(unsafe_code)]
pub(super) fn load_library(file: &str) -> Result<Library, libloading::Error> {
    // SAFETY: loading a library runs its initialisers. The file is a well-known library, or one that
    // the user named.
    unsafe { Library::new(file) }
}

/// Copies function pointers out of a library into the struct that will keep it loaded.
macro_rules! api {
    ($(#[$doc:meta])* struct $name:ident { $($field:ident = $symbol:literal: $type:ty,)+ }) => {
        $(#[$doc])*
        struct $name {
            $($field: $type,)+
            /// Keeps the functions above loaded.
            _library: libloading::Library,
        }

        impl $name {
            fn new(library: libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: each symbol has the type that the library's documented interface gives
                // it, and the pointers live no longer than the library that is kept with them.
                unsafe {
                    Ok(Self {
                        $($field: *library.get::<$type>(concat!($symbol, "\0").as_bytes())?,)+
                        _library: library,
                    })
                }
            }
        }
    };
}
pub(super) use api;

/// A C string as text.
///
/// # Safety
/// `text` is null or points to a string that ends in a zero byte.
#[allow(unsafe_code)]
pub(super) unsafe fn c_string(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return "unknown version".to_owned();
    }
    // SAFETY: by the contract above.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
