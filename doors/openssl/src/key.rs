//! Keys as OpenSSL holds them.

use crate::core_handle::Core;
use crate::delegated::Delegated;
use crate::failure::Failure;
use crate::ffi::Callback;
use crate::job;
use crate::names::param;
use crate::params::{Built, Given, Numbers};
use crate::single::Single;
use crate::unusable::Unusable;
use modmill_client::{Key, Task};
use modmill_rsa::hazmat;
use modmill_rsa::{PrivateKey, PrivateParts, PublicKey, Sizes};
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use zeroize::Zeroizing;

/// A key that OpenSSL holds a pointer to.
#[derive(Clone)]
pub(crate) struct ProviderKey {
    pub(crate) core: Core,
    pub(crate) content: Content,
}

/// The contents of a key.
#[derive(Clone)]
pub(crate) enum Content {
    /// Nothing yet.
    Empty,
    /// The public half.
    Public(PublicHalf),
    /// Both halves.
    Pair(Key, PublicHalf),
    /// Both halves of a key with which OpenSSL's default provider computes.
    Delegated(Arc<Delegated>, PublicHalf),
    /// Numbers with which nothing can be computed.
    Unusable(Unusable),
}

/// A public key, and OpenSSL's way to its powers.
#[derive(Clone)]
pub(crate) struct PublicHalf {
    pub(crate) key: PublicKey,
    pub(crate) single: Option<Arc<Single>>,
}

impl PublicHalf {
    pub(crate) fn new(core: &Core, key: PublicKey) -> Self {
        let single = core.default_rsa.map(|default| {
            let (size, of) = (key.size(), key.clone());
            Arc::new(Single::new(default, (false, size), move || Built::numbers(&public_numbers(&of))))
        });
        Self { key, single }
    }
}

/// A key pair that this process holds.
pub(crate) fn pair(core: &Core, key: PrivateKey) -> Content {
    let half = PublicHalf::new(core, key.public_key().clone());
    let Some(default) = core.default_rsa else { return Content::Pair(Key::local(key), half) };
    let (size, of) = (key.public_key().size(), key.clone());
    let single = Single::new(default, (true, size), move || Built::numbers(&all_numbers(&of)));
    Content::Pair(Key::local_with(key, single), half)
}

fn public_numbers(key: &PublicKey) -> Numbers {
    vec![(param::N, key.modulus_bytes().to_vec().into()), (param::E, key.exponent_bytes().into())]
}

fn all_numbers(key: &PrivateKey) -> Numbers {
    let (mut all, numbers) = (public_numbers(key.public_key()), hazmat::numbers(key));
    all.extend([
        (param::D, numbers.exponent),
        (param::FACTOR1, numbers.prime1),
        (param::FACTOR2, numbers.prime2),
        (param::EXPONENT1, numbers.exponent1),
        (param::EXPONENT2, numbers.exponent2),
        (param::COEFFICIENT1, numbers.coefficient),
    ]);
    all
}

impl Content {
    pub(crate) fn public(&self) -> Result<&PublicKey, Failure> {
        self.half().map(|half| &half.key)
    }

    /// The public half with OpenSSL's way to its powers.
    pub(crate) fn half(&self) -> Result<&PublicHalf, Failure> {
        match self {
            Self::Empty => Err(Failure::NotInitialised),
            Self::Public(half) | Self::Pair(_, half) | Self::Delegated(_, half) => Ok(half),
            Self::Unusable(_) => Err(Failure::Key("the modulus of the key is 0 or 1".into())),
        }
    }

    /// The bits of the modulus. `None` if there is no key.
    pub(crate) fn bits(&self) -> Option<usize> {
        match self {
            Self::Unusable(key) => Some(key.bits()),
            _ => self.public().ok().map(PublicKey::bits),
        }
    }

    /// The key without its private half.
    pub(crate) fn without_private(&self) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Public(half) | Self::Pair(_, half) | Self::Delegated(_, half) => Self::Public(half.clone()),
            Self::Unusable(key) => Self::Unusable(key.public()),
        }
    }

    /// The numbers of the key that this process holds.
    pub(crate) fn numbers(&self) -> Numbers {
        match self {
            Self::Empty => Numbers::new(),
            Self::Public(half) => public_numbers(&half.key),
            Self::Pair(key, half) => key.private_key().map_or_else(|| public_numbers(&half.key), all_numbers),
            Self::Delegated(key, _) => key.numbers().clone(),
            Self::Unusable(key) => key.numbers().clone(),
        }
    }

    /// The private exponent, if this process holds it.
    pub(crate) fn private_exponent(&self) -> Option<Zeroizing<Vec<u8>>> {
        self.numbers().into_iter().find(|(name, _)| *name == param::D).map(|(_, exponent)| exponent)
    }

    /// Computes a task with the private half.
    pub(crate) fn compute(&self, core: &Core, task: Task) -> Result<Zeroizing<Vec<u8>>, Failure> {
        self.half()?;
        match self {
            Self::Pair(key, _) => Ok(job::compute(core.asynchronous.as_ref(), key, task)?),
            Self::Delegated(key, _) => Ok(key.compute(&task)?),
            _ => Err(Failure::Key("a public key neither signs nor decrypts".into())),
        }
    }

    /// Reads a key from its numbers.
    pub(crate) fn read(core: &Core, given: Given<'_>, with_private: bool) -> Result<Self, Failure> {
        let missing = |what| Failure::Key(format!("the key has no {what}"));
        let modulus = given.number(param::N)?.ok_or_else(|| missing("modulus"))?;
        let exponent = given.number(param::E)?.ok_or_else(|| missing("public exponent"))?;
        if Unusable::has(&modulus) {
            return Ok(Self::Unusable(Unusable::read(given, with_private)?));
        }
        let private = if with_private { given.number(param::D)? } else { None };
        let Some(private) = private else {
            let key = PublicKey::new(&modulus, &exponent, Sizes::AllowSmall)?;
            return Ok(Self::Public(PublicHalf::new(core, key)));
        };
        let delegated = || {
            let key = PublicKey::new(&modulus, &exponent, Sizes::AllowSmall)?;
            let half = PublicHalf::new(core, key.clone());
            Ok(Self::Delegated(Arc::new(Delegated::read(core, key, given)?), half))
        };
        if given.has(param::FACTOR3) {
            return delegated();
        }
        let [prime1, prime2, exponent1, exponent2, coefficient] = [
            given.number(param::FACTOR1)?,
            given.number(param::FACTOR2)?,
            given.number(param::EXPONENT1)?,
            given.number(param::EXPONENT2)?,
            given.number(param::COEFFICIENT1)?,
        ];
        let parts = PrivateParts {
            modulus: &modulus,
            public_exponent: &exponent,
            private_exponent: &private,
            prime1: prime1.as_deref().map_or(&[], |prime| prime),
            prime2: prime2.as_deref().map_or(&[], |prime| prime),
            exponent1: exponent1.as_deref().map(|number| &number[..]),
            exponent2: exponent2.as_deref().map(|number| &number[..]),
            coefficient: coefficient.as_deref().map(|number| &number[..]),
        };
        // OpenSSL takes numbers that do not belong together, and programs expect it to sign with them.
        match PrivateKey::new(&parts, Sizes::AllowSmall) {
            Ok(key) => Ok(pair(core, key)),
            Err(error) => delegated().map_err(|_: Failure| error.into()),
        }
    }

    /// The numbers of a key, those of the private key too if `with_private`.
    pub(crate) fn write(&self, with_private: bool) -> Result<Built, Failure> {
        match self {
            Self::Empty => Err(Failure::Key("the key is empty".into())),
            Self::Pair(key, _) if with_private && key.private_key().is_none() => {
                Err(Failure::Key("the private key is held by the service and does not leave it".into()))
            }
            _ if with_private => Ok(Built::numbers(&self.numbers())),
            _ => Ok(Built::numbers(&self.without_private().numbers())),
        }
    }
}

/// Hands a key over to a callback as a reference, which `keymgmt::load` takes.
///
/// # Safety
/// The callback is OpenSSL's, and takes the argument.
pub(crate) unsafe fn hand_over(key: ProviderKey, callback: Callback, argument: *mut c_void) -> c_int {
    let key = Box::into_raw(Box::new(key));
    let mut built = Built::default();
    // OSSL_OBJECT_PKEY.
    built.integer(param::OBJECT_TYPE, 2);
    built.text(param::DATA_TYPE, "RSA");
    let place = built.octets(param::REFERENCE, &(key as usize).to_ne_bytes());
    built.with(|params| {
        // SAFETY: the list lives until the callback returns. Whoever takes the key puts null in its place, so
        // that what is left there afterwards is ours, and is freed once.
        unsafe {
            let status = callback(params, argument);
            let left = place.cast::<*mut ProviderKey>().read_unaligned();
            if !left.is_null() {
                drop(Box::from_raw(left));
            }
            status
        }
    })
}

/// The strength of a key in bits (NIST SP 800-56B, appendix D), rounded as OpenSSL rounds it.
pub(crate) fn security_bits(bits: usize) -> i64 {
    match bits {
        0..8 => 0,
        2048 => 112,
        3072 => 128,
        4096 => 152,
        6144 => 176,
        7680 => 192,
        8192 => 200,
        15360 => 256,
        bits => {
            let length = bits as f64 * std::f64::consts::LN_2;
            let strength = (1.923 * (length * length.ln().powi(2)).cbrt() - 4.69) / std::f64::consts::LN_2;
            let limit = if bits <= 7680 {
                192.0
            } else if bits <= 15360 {
                256.0
            } else {
                1200.0
            };
            8 * ((strength.min(limit) / 8.0 + 0.5) as i64)
        }
    }
}
