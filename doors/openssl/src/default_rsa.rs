//! RSA of OpenSSL's default provider: its keys, and contexts for operations with them.

use crate::ffi::{Param, guard};
use crate::libcrypto::Evp;
use crate::params::{Built, Given};
use std::ffi::{CStr, c_int, c_void};

/// `EVP_PKEY_KEYPAIR` and `EVP_PKEY_PUBLIC_KEY`.
const KEYPAIR: c_int = 0x87;
const PUBLIC_KEY: c_int = 0x86;

/// The properties of the default provider's algorithms.
const DEFAULT: &CStr = c"provider=default";

/// The default provider's RSA in one library context.
#[derive(Clone, Copy)]
pub(crate) struct DefaultRsa {
    pub(crate) evp: Evp,
    library: *mut c_void,
}

// SAFETY: a library context may be used by several threads.
unsafe impl Send for DefaultRsa {}
// SAFETY: as above.
unsafe impl Sync for DefaultRsa {}

/// An `EVP_PKEY`, which may be used by several threads.
pub(crate) struct OwnedKey(Evp, *mut c_void);

// SAFETY: as the type says.
unsafe impl Send for OwnedKey {}
// SAFETY: as above.
unsafe impl Sync for OwnedKey {}

impl Drop for OwnedKey {
    fn drop(&mut self) {
        // SAFETY: the key is ours, and is freed once.
        unsafe { (self.0.free_key)(self.1) };
    }
}

/// An `EVP_PKEY_CTX`, which one thread at a time uses.
pub(crate) struct Context(Evp, pub(crate) *mut c_void);

// SAFETY: a context may pass from thread to thread.
unsafe impl Send for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is ours, and is freed once.
        unsafe { (self.0.free_context)(self.1) };
    }
}

impl DefaultRsa {
    pub(crate) fn new(evp: Evp, library: *mut c_void) -> Self {
        Self { evp, library }
    }

    fn context(&self) -> Option<Context> {
        // SAFETY: names end with zeros.
        let context = unsafe { (self.evp.context_of_name)(self.library, c"RSA".as_ptr(), DEFAULT.as_ptr()) };
        (!context.is_null()).then(|| Context(self.evp, context))
    }

    /// A context for operations with `key`. The key lives as long as the context.
    pub(crate) fn context_of(&self, key: &OwnedKey) -> Option<Context> {
        // SAFETY: names end with zeros, and the key is OpenSSL's.
        let context = unsafe { (self.evp.context_of_key)(self.library, key.1, DEFAULT.as_ptr()) };
        (!context.is_null()).then(|| Context(self.evp, context))
    }

    /// The key with these numbers.
    pub(crate) fn key(&self, numbers: Built, has_private: bool) -> Option<OwnedKey> {
        let selection = if has_private { KEYPAIR } else { PUBLIC_KEY };
        let context = self.context()?;
        let mut key = std::ptr::null_mut();
        // SAFETY: the parameters live until the call returns.
        let status = unsafe {
            if (self.evp.fromdata_init)(context.1) != 1 {
                return None;
            }
            numbers.with(|params| (self.evp.fromdata)(context.1, &mut key, selection, params.cast_mut()))
        };
        (status == 1 && !key.is_null()).then(|| OwnedKey(self.evp, key))
    }

    /// A new key.
    pub(crate) fn generate(&self, options: Built) -> Option<OwnedKey> {
        let context = self.context()?;
        let mut key = std::ptr::null_mut();
        // SAFETY: the options live until the call that reads them returns.
        let status = unsafe {
            if (self.evp.keygen_init)(context.1) != 1
                || options.with(|params| (self.evp.set_params)(context.1, params)) != 1
            {
                return None;
            }
            (self.evp.generate)(context.1, &mut key)
        };
        (status == 1 && !key.is_null()).then(|| OwnedKey(self.evp, key))
    }

    /// Calls `read` with the numbers of a key pair, and returns its result.
    pub(crate) fn numbers<T>(&self, key: &OwnedKey, read: impl FnOnce(Given<'_>) -> T) -> Option<T> {
        let mut state = (Some(read), None);
        let collect = collector(&state);
        // SAFETY: the collector takes this state, which lives until the call returns.
        unsafe { (self.evp.export)(key.1, KEYPAIR, collect, (&raw mut state).cast()) };
        state.1
    }

    /// Whether the numbers of a key pair belong together.
    pub(crate) fn is_consistent(&self, key: &OwnedKey) -> bool {
        // SAFETY: the context is that of the key.
        self.context_of(key).is_some_and(|context| unsafe { (self.evp.check)(context.1) } == 1)
    }
}

/// A reader of parameters, until it is called, and its answer afterwards.
type Reading<F, T> = (Option<F>, Option<T>);

/// The callback that has the reader of `state` read the parameters.
fn collector<F: FnOnce(Given<'_>) -> T, T>(
    _state: &Reading<F, T>,
) -> unsafe extern "C" fn(*const Param, *mut c_void) -> c_int {
    unsafe extern "C" fn collect<F: FnOnce(Given<'_>) -> T, T>(
        params: *const Param,
        state: *mut c_void,
    ) -> c_int {
        guard(0, || {
            // SAFETY: `numbers` passes its state, and OpenSSL parameters that live until this returns.
            let (state, given) = unsafe { (&mut *state.cast::<Reading<F, T>>(), Given::new(params)) };
            state.1 = state.0.take().map(|read| read(given));
            c_int::from(state.1.is_some())
        })
    }
    collect::<F, T>
}
