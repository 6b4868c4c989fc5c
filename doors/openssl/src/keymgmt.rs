//! Keys: making, importing, exporting, comparing.

use crate::context::free;
use crate::failure::Failure;
use crate::ffi::{Callback, Dispatch, Param, dispatch, guard};
use crate::key::{Content, ProviderKey, security_bits};
use crate::keygen;
use crate::names::keymgmt::*;
use crate::names::{operation, param};
use crate::param_lists;
use crate::params::{Given, Value, Wanted};
use crate::provider_context::Provider;
use modmill_client::with_engine;
use std::ffi::{c_char, c_int, c_void};

pub(crate) static FUNCTIONS: &[Dispatch] = dispatch![
    NEW => new,
    FREE => free::<ProviderKey>,
    GEN_INIT => keygen::init,
    GEN_SET_PARAMS => keygen::set_params,
    GEN_SETTABLE_PARAMS => keygen::settable_params,
    GEN => keygen::generate,
    GEN_CLEANUP => free::<keygen::Generation>,
    LOAD => load,
    HAS => has,
    VALIDATE => validate,
    MATCH => matches_key,
    IMPORT => import,
    IMPORT_TYPES => types,
    EXPORT => export,
    EXPORT_TYPES => types,
    GET_PARAMS => get_params,
    GETTABLE_PARAMS => gettable_params,
    QUERY_OPERATION_NAME => query_operation_name,
    DUP => dup,
];

/// Makes an empty key.
unsafe extern "C" fn new(provider: *const Provider) -> *mut ProviderKey {
    guard(std::ptr::null_mut(), || {
        // SAFETY: OpenSSL passes the context that OSSL_provider_init returned.
        let Some(provider) = (unsafe { provider.as_ref() }) else { return std::ptr::null_mut() };
        Box::into_raw(Box::new(ProviderKey { core: provider.core, content: Content::Empty }))
    })
}

/// Takes the key that a store made. The reference is a pointer to it, which becomes null.
unsafe extern "C" fn load(reference: *const c_void, size: usize) -> *mut ProviderKey {
    guard(std::ptr::null_mut(), || {
        if reference.is_null() || size != size_of::<*mut ProviderKey>() {
            return std::ptr::null_mut();
        }
        // SAFETY: a reference of this size is one that a store of this provider handed out, and it may be
        // written (provider-object(7)).
        unsafe {
            let place = reference.cast_mut().cast::<*mut ProviderKey>();
            let key = place.read_unaligned();
            place.write_unaligned(std::ptr::null_mut());
            key
        }
    })
}

unsafe extern "C" fn has(key: *const ProviderKey, selection: c_int) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes a key of this provider or null.
        let Some(key) = (unsafe { key.as_ref() }) else { return 0 };
        let has = match (&key.content, selection) {
            (_, selection) if selection & SELECT_KEYPAIR == 0 => true,
            (Content::Empty, _) => false,
            (Content::Public(_), selection) => selection & SELECT_PRIVATE == 0,
            (Content::Pair(..) | Content::Delegated(..), _) => true,
            (Content::Unusable(key), selection) => selection & SELECT_PRIVATE == 0 || key.has_private(),
        };
        c_int::from(has)
    })
}

/// Checks a key: its modulus, and its primes if the private half is asked about. With `check_type` 1, a quick
/// check, only what was checked when the key was read.
unsafe extern "C" fn validate(key: *const ProviderKey, selection: c_int, check_type: c_int) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes a key of this provider or null.
        let Some(key) = (unsafe { key.as_ref() }) else { return 0 };
        let check = || {
            let public = key.content.public()?;
            let private = match &key.content {
                Content::Pair(pair, _) => pair.private_key(),
                Content::Delegated(..) => None,
                _ if selection & SELECT_PRIVATE != 0 => {
                    return Err(Failure::Key("the key has no private half".into()));
                }
                _ => None,
            };
            if check_type == 1 {
                return Ok(());
            }
            if let Content::Delegated(key, _) = &key.content
                && selection & SELECT_PRIVATE != 0
            {
                return key.check();
            }
            with_engine(|engine| {
                public.check_modulus(engine)?;
                match private {
                    Some(private) if selection & SELECT_PRIVATE != 0 => private.check_primes(engine),
                    _ => Ok(()),
                }
            })?
            .map_err(|error| Failure::Key(error.to_string()))
        };
        key.core.status(check())
    })
}

/// Whether two keys are the same. Private halves that were checked are the same if the public ones are.
unsafe extern "C" fn matches_key(
    one: *const ProviderKey,
    other: *const ProviderKey,
    selection: c_int,
) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes keys of this provider or null.
        let (Some(one), Some(other)) = (unsafe { (one.as_ref(), other.as_ref()) }) else { return 0 };
        if selection & SELECT_KEYPAIR == 0 {
            return 1;
        }
        c_int::from(match (&one.content, &other.content) {
            (Content::Unusable(one), Content::Unusable(other)) if selection & SELECT_PRIVATE == 0 => {
                one.public() == other.public()
            }
            (Content::Unusable(one), Content::Unusable(other)) => one == other,
            (one, other) => {
                let is_checked = |key: &Content| !matches!(key, Content::Delegated(..));
                matches!((one.public(), other.public()), (Ok(one), Ok(other)) if one == other)
                    && (selection & SELECT_PRIVATE == 0
                        || is_checked(one) && is_checked(other)
                        || one.private_exponent() == other.private_exponent())
            }
        })
    })
}

unsafe extern "C" fn import(key: *mut ProviderKey, selection: c_int, params: *const Param) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes a key of this provider that nobody else uses yet, and parameters that live
        // until this returns.
        let (Some(key), given) = (unsafe { (key.as_mut(), Given::new(params)) }) else { return 0 };
        if selection & SELECT_KEYPAIR == 0 {
            return 0;
        }
        let core = key.core;
        let read = Content::read(&core, given, selection & SELECT_PRIVATE != 0);
        core.status(read.map(|content| key.content = content))
    })
}

unsafe extern "C" fn types(selection: c_int) -> *const Param {
    match selection {
        selection if selection & SELECT_PRIVATE != 0 => param_lists::KEYPAIR.as_ptr(),
        selection if selection & SELECT_PUBLIC != 0 => param_lists::PUBLIC_KEY.as_ptr(),
        _ => std::ptr::null(),
    }
}

unsafe extern "C" fn export(
    key: *const ProviderKey,
    selection: c_int,
    callback: Option<Callback>,
    argument: *mut c_void,
) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes a key of this provider or null.
        let (Some(key), Some(callback)) = (unsafe { key.as_ref() }, callback) else { return 0 };
        if selection & SELECT_KEYPAIR == 0 {
            return 0;
        }
        match key.content.write(selection & SELECT_PRIVATE != 0) {
            // SAFETY: the list ends with a parameter without a name, and lives until the callback returns.
            Ok(built) => built.with(|params| unsafe { callback(params, argument) }),
            Err(failure) => key.core.status(Err(failure)),
        }
    })
}

unsafe extern "C" fn get_params(key: *const ProviderKey, params: *mut Param) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes a key of this provider, and parameters that may be written until this
        // returns.
        let (Some(key), mut wanted) = (unsafe { (key.as_ref(), Wanted::new(params)) }) else { return 0 };
        let Some(bits) = key.content.bits() else { return 0 };
        let numbers = key.content.numbers();
        let mut write = || {
            wanted.set(param::BITS, || Ok(Value::Integer(bits as i64)))?;
            wanted.set(param::SECURITY_BITS, || Ok(Value::Integer(security_bits(bits))))?;
            wanted.set(param::MAX_SIZE, || Ok(Value::Integer(bits.div_ceil(8) as i64)))?;
            wanted.set(param::DEFAULT_DIGEST, || Ok(Value::Text(c"SHA256")))?;
            numbers.iter().try_for_each(|(name, number)| wanted.set(name, || Ok(Value::Number(number))))
        };
        key.core.status(write())
    })
}

unsafe extern "C" fn gettable_params(_: *const c_void) -> *const Param {
    param_lists::KEY.as_ptr()
}

unsafe extern "C" fn query_operation_name(wanted: c_int) -> *const c_char {
    match wanted {
        operation::SIGNATURE | operation::ASYM_CIPHER | operation::KEYMGMT => c"RSA".as_ptr(),
        _ => std::ptr::null(),
    }
}

unsafe extern "C" fn dup(key: *const ProviderKey, selection: c_int) -> *mut ProviderKey {
    guard(std::ptr::null_mut(), || {
        // SAFETY: OpenSSL passes a key of this provider or null.
        let Some(key) = (unsafe { key.as_ref() }) else { return std::ptr::null_mut() };
        // Without the key nothing is left: RSA has no parameters of its own.
        if selection & SELECT_KEYPAIR == 0 {
            return std::ptr::null_mut();
        }
        let content = match selection & SELECT_PRIVATE {
            0 => key.content.without_private(),
            _ => key.content.clone(),
        };
        Box::into_raw(Box::new(ProviderKey { core: key.core, content }))
    })
}
