//! The provider: how OpenSSL loads it, and what it has.

use crate::core_handle::Core;
use crate::failure::REASONS;
use crate::ffi::{Algorithm, Dispatch, Item, NO_ALGORITHM, Param, dispatch, guard};
use crate::names::provider::*;
use crate::names::{operation, param};
use crate::params::{Value, Wanted};
use crate::provider_context::Provider;
use crate::{asym_cipher, decoder, keymgmt, libcrypto, param_lists, signature, store};
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Library contexts that have the provider. When the last one is given up, OpenSSL is about to end, and
/// operations must not call it any more.
static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// The names of RSA.
const RSA: &CStr = c"RSA:rsaEncryption:1.2.840.113549.1.1.1";

const fn algorithm(
    names: &'static CStr,
    functions: &'static [Dispatch],
    description: &'static CStr,
) -> Algorithm {
    Algorithm {
        names: names.as_ptr(),
        properties: c"provider=modmill".as_ptr(),
        functions: functions.as_ptr(),
        description: description.as_ptr(),
    }
}

static KEYS: [Algorithm; 2] = [algorithm(RSA, keymgmt::FUNCTIONS, c"RSA keys of modmill"), NO_ALGORITHM];
static CIPHERS: [Algorithm; 2] =
    [algorithm(RSA, asym_cipher::FUNCTIONS, c"RSA encryption of modmill, in batches"), NO_ALGORITHM];

static DECODERS: [Algorithm; 2] = [
    Algorithm {
        properties: c"provider=modmill,input=pem".as_ptr(),
        ..algorithm(c"RSA", decoder::FUNCTIONS, c"Files that stand for keys of modmill's signing service")
    },
    NO_ALGORITHM,
];
static STORES: [Algorithm; 2] =
    [algorithm(c"modmill", store::FUNCTIONS, c"Keys of modmill's signing service"), NO_ALGORITHM];

const SIGNATURE: &CStr = c"RSA signatures of modmill, in batches";
static SIGNATURES: [Algorithm; 2] = [algorithm(RSA, signature::FUNCTIONS, SIGNATURE), NO_ALGORITHM];

/// The signatures with the names that OpenSSL has from 3.4 on. Older releases take some of them for names of
/// hashes.
static SIGNATURES_WITH_HASH: [Algorithm; 7] = [
    algorithm(RSA, signature::FUNCTIONS, SIGNATURE),
    algorithm(c"RSA-SHA1:RSA-SHA-1:sha1WithRSAEncryption:1.2.840.113549.1.1.5", signature::SHA1, SIGNATURE),
    algorithm(
        c"RSA-SHA2-224:RSA-SHA224:sha224WithRSAEncryption:1.2.840.113549.1.1.14",
        signature::SHA224,
        SIGNATURE,
    ),
    algorithm(
        c"RSA-SHA2-256:RSA-SHA256:sha256WithRSAEncryption:1.2.840.113549.1.1.11",
        signature::SHA256,
        SIGNATURE,
    ),
    algorithm(
        c"RSA-SHA2-384:RSA-SHA384:sha384WithRSAEncryption:1.2.840.113549.1.1.12",
        signature::SHA384,
        SIGNATURE,
    ),
    algorithm(
        c"RSA-SHA2-512:RSA-SHA512:sha512WithRSAEncryption:1.2.840.113549.1.1.13",
        signature::SHA512,
        SIGNATURE,
    ),
    NO_ALGORITHM,
];

static FUNCTIONS: &[Dispatch] = dispatch![
    TEARDOWN => teardown,
    GETTABLE_PARAMS => gettable_params,
    GET_PARAMS => get_params,
    QUERY_OPERATION => query_operation,
    GET_REASON_STRINGS => reason_strings,
];

/// The function by which OpenSSL starts a provider (provider(7)).
///
/// # Safety
/// OpenSSL calls this with its handle, a table of its functions that a row with the number 0 ends, and places
/// for the provider's table and context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    functions: *const c_void,
    out: *mut *const c_void,
    context: *mut *mut c_void,
) -> c_int {
    guard(0, || {
        if functions.is_null() || out.is_null() || context.is_null() {
            return 0;
        }
        libcrypto::stay_loaded();
        crate::statistics::write_at_exit();
        // SAFETY: as OpenSSL promises.
        let core = unsafe { Core::new(handle, functions.cast()) };
        let has_signatures_with_hash = core.version().is_some_and(|version| version >= (3, 4));
        let provider = Box::new(Provider { core, has_signatures_with_hash });
        if IN_USE.fetch_add(1, Ordering::AcqRel) == 0 {
            modmill_client::resume();
        }
        // SAFETY: both places can be written, as OpenSSL promises.
        unsafe {
            *out = FUNCTIONS.as_ptr().cast();
            *context = Box::into_raw(provider).cast();
        }
        1
    })
}

unsafe extern "C" fn teardown(provider: *mut Provider) {
    guard((), || {
        if IN_USE.fetch_sub(1, Ordering::AcqRel) == 1 {
            modmill_client::rest();
            crate::statistics::write_once();
        }
        if !provider.is_null() {
            // SAFETY: OpenSSL gives back what OSSL_provider_init returned, once, after everything that uses
            // it.
            drop(unsafe { Box::from_raw(provider) });
        }
    });
}

unsafe extern "C" fn query_operation(
    provider: *const Provider,
    wanted: c_int,
    no_store: *mut c_int,
) -> *const Algorithm {
    // SAFETY: OpenSSL passes the context of OSSL_provider_init and a place for a number, or null.
    let has_hash = unsafe {
        if !no_store.is_null() {
            *no_store = 0;
        }
        provider.as_ref().is_some_and(|provider| provider.has_signatures_with_hash)
    };
    match wanted {
        operation::KEYMGMT => KEYS.as_ptr(),
        operation::SIGNATURE if has_hash => SIGNATURES_WITH_HASH.as_ptr(),
        operation::SIGNATURE => SIGNATURES.as_ptr(),
        operation::ASYM_CIPHER => CIPHERS.as_ptr(),
        operation::DECODER => DECODERS.as_ptr(),
        operation::STORE => STORES.as_ptr(),
        _ => std::ptr::null(),
    }
}

unsafe extern "C" fn get_params(provider: *const Provider, params: *mut Param) -> c_int {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no zeros"),
        };
    guard(0, || {
        // SAFETY: OpenSSL passes the context of OSSL_provider_init, and parameters that may be written.
        let (Some(provider), mut wanted) = (unsafe { (provider.as_ref(), Wanted::new(params)) }) else {
            return 0;
        };
        let statistics = modmill_client::statistics();
        let mut write = || {
            wanted.set(param::NAME, || Ok(Value::Text(c"modmill")))?;
            wanted.set(param::VERSION, || Ok(Value::Text(VERSION)))?;
            wanted.set(param::BUILDINFO, || Ok(Value::Text(VERSION)))?;
            wanted.set(param::STATUS, || Ok(Value::Integer(1)))?;
            wanted.set(param::OPERATIONS, || Ok(Value::Integer(statistics.operations as i64)))?;
            wanted.set(param::BATCHES, || Ok(Value::Integer(statistics.batches as i64)))
        };
        provider.core.status(write())
    })
}

unsafe extern "C" fn gettable_params(_: *const c_void) -> *const Param {
    param_lists::PROVIDER.as_ptr()
}

unsafe extern "C" fn reason_strings(_: *const c_void) -> *const Item {
    REASONS.as_ptr()
}

/// A check that the table of names is one that OpenSSL reads: names are separated by colons and not empty.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_algorithms_end() {
        for list in [&KEYS[..], &CIPHERS, &DECODERS, &STORES, &SIGNATURES, &SIGNATURES_WITH_HASH] {
            let (last, all) = list.split_last().unwrap();
            assert!(last.names.is_null());
            for algorithm in all {
                // SAFETY: the names are constants that end with a zero.
                let names = unsafe { CStr::from_ptr(algorithm.names) }.to_str().unwrap();
                assert!(names.split(':').all(|name| !name.is_empty()), "{names}");
            }
        }
    }

    #[test]
    fn a_caller_without_tables_is_refused() {
        let null = std::ptr::null_mut();
        // SAFETY: all pointers are null, which the function looks at before anything else.
        let status = unsafe { OSSL_provider_init(null, null, null.cast(), null.cast()) };
        assert_eq!(status, 0);
    }
}
