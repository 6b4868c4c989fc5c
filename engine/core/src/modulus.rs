//! A modulus that keeps and shares the constants derived from it.

use crate::sync::Mutex;
use crate::{Error, TRANSFORM_MAX_BITS, hex, limbs};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

type Constants = Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>;

/// A modulus of at least 1, with the constants that backends derive from it.
///
/// Cloning is cheap, and clones share the constants. So the set-up of a modulus is paid once, however
/// many calls and threads use it.
///
/// # Examples
///
/// ```
/// use modmill_core::{Error, Modulus};
///
/// let modulus = Modulus::from_hex("0x000ff")?;
/// assert_eq!((modulus.bits(), modulus.value()), (8, &[0xff][..]));
/// assert_eq!(Modulus::new(&[0]).unwrap_err(), Error::ZeroModulus);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Modulus {
    inner: Arc<Inner>,
}

/// The shared part. The limbs are zeroized, because a modulus may be a secret prime.
struct Inner {
    value: Zeroizing<Vec<u64>>,
    bits: usize,
    constants: Constants,
}

impl Modulus {
    /// A modulus from little-endian limbs. Zero is an error, and so are more than [`TRANSFORM_MAX_BITS`]
    /// bits.
    pub fn new(value: &[u64]) -> Result<Self, Error> {
        let bits = limbs::bit_length(value);
        if bits == 0 {
            return Err(Error::ZeroModulus);
        }
        if bits > TRANSFORM_MAX_BITS {
            return Err(Error::TooLong { what: "modulus", bits, limit: TRANSFORM_MAX_BITS });
        }
        let value = Zeroizing::new(value[..bits.div_ceil(64)].to_vec());
        Ok(Self { inner: Arc::new(Inner { value, bits, constants: Constants::default() }) })
    }

    /// A modulus from hexadecimal text, with or without `0x`.
    pub fn from_hex(text: &str) -> Result<Self, Error> {
        let value = hex::parse(text).map_err(|reason| Error::Hex { index: 0, reason })?;
        Self::new(&Zeroizing::new(value))
    }

    /// A modulus from a big-endian byte string.
    pub fn from_be_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut value = Zeroizing::new(vec![0; bytes.len().div_ceil(8)]);
        limbs::copy_be_bytes(bytes, &mut value);
        Self::new(&value)
    }

    /// The limbs of the modulus, without leading zeros.
    #[must_use]
    pub fn value(&self) -> &[u64] {
        &self.inner.value
    }

    /// The length of the modulus in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.inner.bits
    }

    /// Whether `other` is a clone of this modulus, so that both share their constants.
    #[must_use]
    pub fn is_clone_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// The constants of type `T`, if an earlier call computed them.
    #[must_use]
    pub fn known_constants<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let lock = self.inner.constants.lock();
        lock.get(&TypeId::of::<T>()).cloned()?.downcast().ok()
    }

    /// The constants of type `T`. The function `make` computes them at first use; all clones share them.
    ///
    /// A backend gives each kind of constants its own type. If two threads come first at the same time,
    /// both may compute, and one result is kept.
    pub fn constants<T: Any + Send + Sync>(&self, make: impl FnOnce(&Self) -> T) -> Arc<T> {
        self.known_constants().unwrap_or_else(|| {
            let made: Arc<dyn Any + Send + Sync> = Arc::new(make(self));
            let mut lock = self.inner.constants.lock();
            let shared = lock.entry(TypeId::of::<T>()).or_insert(made).clone();
            shared.downcast().expect("constants are stored under their own type")
        })
    }
}

impl fmt::Debug for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Modulus({} bits)", self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_zeros_are_not_length() {
        let modulus = Modulus::from_hex("0x000000000000000000ff").unwrap();
        assert_eq!((modulus.bits(), modulus.value()), (8, &[0xff][..]));
        assert_eq!(Modulus::new(&[0, 0]).unwrap_err(), Error::ZeroModulus);
    }

    #[test]
    fn constants_are_made_once_per_type() {
        let modulus = Modulus::new(&[7]).unwrap();
        assert_eq!(modulus.known_constants::<u32>(), None);
        let first = modulus.constants(|m| m.bits() as u32);
        assert_eq!(modulus.known_constants(), Some(first.clone()));
        let again = modulus.clone().constants::<u32>(|_| panic!("made twice"));
        assert_eq!(*first, *again);
        assert_eq!(*modulus.constants(|_| "another type"), "another type");
        assert!(modulus.is_clone_of(&modulus.clone()) && !modulus.is_clone_of(&Modulus::new(&[7]).unwrap()));
    }
}
