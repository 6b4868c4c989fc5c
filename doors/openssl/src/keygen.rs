//! Generation of keys. The engine generates keys with two primes of one length and the public exponent 65537,
//! and OpenSSL's default provider all others.

use crate::core_handle::Core;
use crate::failure::Failure;
use crate::ffi::{Callback, Param, guard};
use crate::key::{Content, ProviderKey, pair};
use crate::names::keymgmt::SELECT_KEYPAIR;
use crate::names::param;
use crate::param_lists;
use crate::params::{Built, Given};
use crate::provider_context::Provider;
use modmill_client::with_engine;
use modmill_rsa::{PrivateKey, Sizes};
use std::ffi::{c_int, c_void};

/// The fewest bits of a key: OpenSSL's and the engine's limit.
const LEAST_BITS: i32 = 512;

/// The public exponent of the engine's keys, 65537, which is also OpenSSL's default.
const EXPONENT: [u8; 3] = [1, 0, 1];

/// The parameters of a key that is to be generated.
pub(crate) struct Generation {
    core: Core,
    bits: i32,
    primes: i32,
    /// The public exponent, big-endian, without zeros in front.
    exponent: Vec<u8>,
}

impl Generation {
    fn set(&mut self, given: Given<'_>) -> Result<(), Failure> {
        if let Some(bits) = given.integer(param::BITS)? {
            if bits < i64::from(LEAST_BITS) {
                return Err(Failure::ShortKey { bits });
            }
            self.bits = small(bits, "bits")?;
        }
        if let Some(primes) = given.integer(param::PRIMES)? {
            self.primes = small(primes, "primes")?;
        }
        if let Some(exponent) = given.number(param::E)? {
            self.exponent = exponent.iter().copied().skip_while(|octet| *octet == 0).collect();
        }
        Ok(())
    }

    /// The number of bits of a key that the engine generates. `None` if it generates no such keys.
    fn engine_bits(&self) -> Option<usize> {
        let bits = usize::try_from(self.bits).ok().filter(|bits| bits % 2 == 0 && *bits <= Sizes::MAX_BITS);
        bits.filter(|_| self.primes == 2 && self.exponent == EXPONENT)
    }

    fn generate(&self) -> Result<Content, Failure> {
        if let Some(bits) = self.engine_bits() {
            let key = with_engine(|engine| PrivateKey::generate(engine, bits, Sizes::AllowSmall))??;
            return Ok(pair(&self.core, key));
        }
        // Before a search for primes that takes hours.
        if usize::try_from(self.bits).is_ok_and(|bits| bits > Sizes::MAX_BITS) {
            return Err(Failure::Unsupported(format!("keys of more than {} bits", Sizes::MAX_BITS)));
        }
        // OpenSSL's own reason is in the error queue before this one.
        let refused = || Failure::Unsupported("OpenSSL's default provider generates no such key".into());
        let mut options = Built::default();
        options.integer(param::BITS, self.bits);
        options.integer(param::PRIMES, self.primes);
        options.number(param::E, &self.exponent);
        let default = self.core.default_rsa.ok_or_else(refused)?;
        let key = default.generate(options).ok_or_else(refused)?;
        let read = |given: Given<'_>| Content::read(&self.core, given, true);
        default.numbers(&key, read).ok_or_else(refused)?
    }
}

fn small(number: i64, what: &str) -> Result<i32, Failure> {
    let wrong = |_| Failure::Parameter(format!("a key cannot have {number} {what}"));
    i32::try_from(number).map_err(wrong)
}

pub(crate) unsafe extern "C" fn init(
    provider: *const Provider,
    selection: c_int,
    params: *const Param,
) -> *mut Generation {
    guard(std::ptr::null_mut(), || {
        // SAFETY: OpenSSL passes the context of OSSL_provider_init, and parameters that live until this
        // returns.
        let (Some(provider), given) = (unsafe { (provider.as_ref(), Given::new(params)) }) else {
            return std::ptr::null_mut();
        };
        if selection & SELECT_KEYPAIR == 0 {
            return std::ptr::null_mut();
        }
        let mut generation =
            Generation { core: provider.core, bits: 2048, primes: 2, exponent: EXPONENT.to_vec() };
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
        let Some(generation) = (unsafe { generation.as_ref() }) else { return std::ptr::null_mut() };
        let core = generation.core;
        match generation.generate() {
            Ok(content) => Box::into_raw(Box::new(ProviderKey { core, content })),
            Err(failure) => {
                core.raise(&failure);
                std::ptr::null_mut()
            }
        }
    })
}
