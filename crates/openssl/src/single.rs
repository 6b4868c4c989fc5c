//! Powers of one number by OpenSSL's default provider.
//!
//! The engine is made for many numbers at a time. Where a program has one signature to make or to check and no other
//! waits, OpenSSL's own arithmetic may be faster, so that both are tried (`modmill_client::Key::local_with`). It is constant-time,
//! and checks private powers with the public exponent, as the engine does.

use crate::failure::Failure;
use crate::libcrypto::Evp;
use crate::names::param;
use crate::padding::Padding;
use crate::params::Built;
use modmill_client::PrivatePower;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, OnceLock};
use zeroize::Zeroizing;

/// `EVP_PKEY_KEYPAIR` and `EVP_PKEY_PUBLIC_KEY`.
const KEYPAIR: c_int = 0x87;
const PUBLIC_KEY: c_int = 0x86;

/// A key of the default provider, made when it is first used.
pub(crate) struct Single {
    evp: Evp,
    /// The library context of the provider.
    library: *mut c_void,
    numbers: Box<dyn Fn() -> Result<Built, Failure> + Send + Sync>,
    has_private: bool,
    size: usize,
    key: OnceLock<Option<OwnedKey>>,
    /// Contexts that are ready for the public and the private power and that nobody uses.
    spare: [Mutex<Vec<Context>>; 2],
}

// SAFETY: an EVP_PKEY and a library context may be used by several threads, and a context is used by one at a time.
unsafe impl Send for Single {}
// SAFETY: as above.
unsafe impl Sync for Single {}

struct OwnedKey(Evp, *mut c_void);

impl Drop for OwnedKey {
    fn drop(&mut self) {
        // SAFETY: the key is ours, and is freed once.
        unsafe { (self.0.free_key)(self.1) };
    }
}

struct Context(Evp, *mut c_void);

// SAFETY: a context may pass from thread to thread.
unsafe impl Send for Context {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is ours, and is freed once.
        unsafe { (self.0.free_context)(self.1) };
    }
}

impl Single {
    /// A key with the numbers that `numbers` returns and a modulus of `size` octets.
    pub(crate) fn new(
        evp: Evp,
        library: *mut c_void,
        (has_private, size): (bool, usize),
        numbers: impl Fn() -> Result<Built, Failure> + Send + Sync + 'static,
    ) -> Self {
        let (key, spare) = Default::default();
        Self { evp, library, numbers: Box::new(numbers), has_private, size, key, spare }
    }

    /// The public power of a number as long as the modulus. `None` if OpenSSL does not compute it.
    pub(crate) fn public_power(&self, number: &[u8]) -> Option<Vec<u8>> {
        self.compute(number, false).map(|mut power| std::mem::take(&mut *power))
    }

    fn compute(&self, number: &[u8], is_private: bool) -> Option<Zeroizing<Vec<u8>>> {
        if number.len() != self.size {
            return None;
        }
        // What goes wrong here is not the caller's error: the engine computes instead.
        // SAFETY: the functions take no memory.
        unsafe { (self.evp.set_mark)() };
        let power = self.try_compute(number, is_private);
        // SAFETY: as above.
        unsafe { (self.evp.pop_to_mark)() };
        power
    }

    fn try_compute(&self, number: &[u8], is_private: bool) -> Option<Zeroizing<Vec<u8>>> {
        let spare = &self.spare[usize::from(is_private)];
        // A lock that another thread held while the process forked is never released in the child: nobody waits for it.
        let ready = spare.try_lock().ok().and_then(|mut spare| spare.pop());
        let context = ready.or_else(|| self.context(is_private))?;
        let mut power = Zeroizing::new(vec![0; self.size]);
        let mut len = power.len();
        let compute = if is_private { self.evp.decrypt } else { self.evp.encrypt };
        // SAFETY: the context was prepared for this operation, and there is room for as many octets as the modulus has.
        let status =
            unsafe { compute(context.1, power.as_mut_ptr(), &mut len, number.as_ptr(), number.len()) };
        if status != 1 || len != self.size {
            return None;
        }
        if let Ok(mut spare) = spare.try_lock() {
            spare.push(context);
        }
        Some(power)
    }

    /// A context of the default provider that computes powers without a padding.
    fn context(&self, is_private: bool) -> Option<Context> {
        let key = self.key.get_or_init(|| self.key()).as_ref()?;
        let mut padding = Built::default();
        padding.integer(param::PAD_MODE, Padding::None as i32);
        let init = if is_private { self.evp.decrypt_init } else { self.evp.encrypt_init };
        // SAFETY: the key lives as long as the context, and the parameters until the call returns.
        unsafe {
            let context = (self.evp.context_of_key)(self.library, key.1, c"provider=default".as_ptr());
            let context = (!context.is_null()).then(|| Context(self.evp, context))?;
            (padding.with(|params| init(context.1, params)) == 1).then_some(context)
        }
    }

    fn key(&self) -> Option<OwnedKey> {
        let numbers = (self.numbers)().ok()?;
        let selection = if self.has_private { KEYPAIR } else { PUBLIC_KEY };
        // SAFETY: names end with zeros, and the parameters live until the call returns.
        unsafe {
            let name = c"RSA".as_ptr();
            let context = (self.evp.context_of_name)(self.library, name, c"provider=default".as_ptr());
            let context = (!context.is_null()).then(|| Context(self.evp, context))?;
            if (self.evp.fromdata_init)(context.1) != 1 {
                return None;
            }
            let mut key = std::ptr::null_mut();
            let make =
                |params: *const _| (self.evp.fromdata)(context.1, &mut key, selection, params as *mut _);
            (numbers.with(make) == 1 && !key.is_null()).then(|| OwnedKey(self.evp, key))
        }
    }
}

impl PrivatePower for Single {
    fn power(&self, number: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        if self.has_private { self.compute(number, true) } else { None }
    }
}
