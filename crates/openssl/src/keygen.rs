//! Generation of keys.

use crate::core_handle::Core;
use crate::failure::Failure;
use crate::ffi::{Callback, Param, guard};
use crate::key::{ProviderKey, pair};
use crate::names::keymgmt::SELECT_KEYPAIR;
use crate::names::param;
use crate::param_lists;
use crate::params::Given;
use crate::provider::Provider;
use modmill_client::with_engine;
use modmill_rsa::{PrivateKey, Sizes};
use std::ffi::{c_int, c_void};

/// What is to be generated.
pub(crate) struct Generation {
    core: Core,
    bits: usize,
}

impl Generation {
    fn set(&mut self, given: Given<'_>) -> Result<(), Failure> {
        if let Some(bits) = given.integer(param::BITS)? {
            let wrong = || Failure::Parameter(format!("a key cannot have {bits} bits"));
            self.bits = usize::try_from(bits).map_err(|_| wrong())?;
        }
        if let Some(primes) = given.integer(param::PRIMES)?
            && primes != 2
        {
            return Err(Failure::Unsupported(format!("keys with {primes} primes")));
        }
        if let Some(exponent) = given.number(param::E)? {
            let start = exponent.iter().position(|octet| *octet != 0).unwrap_or(exponent.len());
            if exponent[start..] != [1, 0, 1] {
                return Err(Failure::Unsupported("keys are generated with the public exponent 65537".into()));
            }
        }
        Ok(())
    }
}

pub(crate) unsafe extern "C" fn init(
    provider: *const Provider,
    selection: c_int,
    params: *const Param,
) -> *mut Generation {
    guard(std::ptr::null_mut(), || {
        // SAFETY: OpenSSL passes the context of OSSL_provider_init, and parameters that live until this returns.
        let (Some(provider), given) = (unsafe { (provider.as_ref(), Given::new(params)) }) else {
            return std::ptr::null_mut();
        };
        if selection & SELECT_KEYPAIR == 0 {
            return std::ptr::null_mut();
        }
        let mut generation = Generation { core: provider.core, bits: 2048 };
        match provider.core.status(generation.set(given)) {
            1 => Box::into_raw(Box::new(generation)),
            _ => std::ptr::null_mut(),
        }
    })
}

pub(crate) unsafe extern "C" fn set_params(generation: *mut Generation, params: *const Param) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes what `init` returned, and parameters that live until this returns.
        let (Some(generation), given) = (unsafe { (generation.as_mut(), Given::new(params)) }) else {
            return 0;
        };
        let core = generation.core;
        core.status(generation.set(given))
    })
}

pub(crate) unsafe extern "C" fn settable_params(_: *const c_void, _: *const c_void) -> *const Param {
    param_lists::GENERATION.as_ptr()
}

pub(crate) unsafe extern "C" fn generate(
    generation: *const Generation,
    _progress: Option<Callback>,
    _argument: *mut c_void,
) -> *mut ProviderKey {
    guard(std::ptr::null_mut(), || {
        // SAFETY: OpenSSL passes what `init` returned.
        let Some(Generation { core, bits }) = (unsafe { generation.as_ref() }) else {
            return std::ptr::null_mut();
        };
        let generated = with_engine(|engine| PrivateKey::generate(engine, *bits, Sizes::AllowSmall));
        match generated.map_err(Failure::from).and_then(|key| Ok(key?)) {
            Ok(key) => {
                let content = pair(core, key);
                Box::into_raw(Box::new(ProviderKey { core: *core, content }))
            }
            Err(failure) => {
                core.raise(&failure);
                std::ptr::null_mut()
            }
        }
    })
}

pub(crate) unsafe extern "C" fn cleanup(generation: *mut Generation) {
    guard((), || {
        if !generation.is_null() {
            // SAFETY: OpenSSL gives back what `init` returned, once.
            drop(unsafe { Box::from_raw(generation) });
        }
    });
}
