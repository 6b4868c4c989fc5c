//! The keys of a call.

use crate::{Error, PrivateKey, PublicKey};
use modmill::Engine;
use modmill::threads::{Share, install_if};
use rayon::prelude::*;

/// Keys that one thread looks at, at least.
const GRAIN: usize = 1 << 12;

/// The keys of a call: one for all items, or one for each item.
///
/// ```
/// use modmill::Engine;
/// use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
///
/// let engine = Engine::new()?;
/// let keys = PrivateKey::generate_many(&engine, 512, 2, Sizes::AllowSmall)?;
/// let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
/// let one_key = Rsa::new(&engine).sign(&keys[0], scheme, &["a", "b"])?;
/// let a_key_each = Rsa::new(&engine).sign(&[&keys[0], &keys[1]][..], scheme, &["a", "b"])?;
/// assert_eq!(one_key[0], a_key_each[0]);
/// # Ok::<(), modmill_rsa::Error>(())
/// ```
#[derive(Debug)]
pub enum Keys<'a, K> {
    /// One key for all items.
    One(&'a K),
    /// A key for each item. A batch is faster if items with the same key are neighbours.
    Each(&'a [&'a K]),
}

impl<K> Clone for Keys<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Keys<'_, K> {}

impl<'a, K> From<&'a K> for Keys<'a, K> {
    fn from(key: &'a K) -> Self {
        Self::One(key)
    }
}

impl<'a, K> From<&'a [&'a K]> for Keys<'a, K> {
    fn from(keys: &'a [&'a K]) -> Self {
        Self::Each(keys)
    }
}

impl<'a, K> Keys<'a, K> {
    /// The key of item `item`.
    ///
    /// # Panics
    /// If there is a key for each item, and fewer than `item + 1` items.
    #[must_use]
    pub fn get(&self, item: usize) -> &'a K {
        match self {
            Self::One(key) => key,
            Self::Each(keys) => keys[item],
        }
    }

    /// Whether `holds` is true for every key. The engine's threads share many keys.
    pub(crate) fn all(&self, engine: &Engine, holds: impl Fn(&K) -> bool + Sync) -> bool
    where
        K: Sync,
    {
        match self {
            Self::One(key) => holds(key),
            Self::Each(keys) => {
                let shared = keys.par_iter().with_min_len(GRAIN);
                let check = || shared.try_each(|key| if holds(key) { Ok(()) } else { Err(()) });
                install_if(engine, keys.len() > GRAIN, check).is_ok()
            }
        }
    }

    /// Refuses a number of keys that differs from the number of items.
    pub(crate) fn check(&self, count: usize) -> Result<(), Error> {
        match self {
            Self::Each(keys) => check_length("keys", count, keys.len()),
            Self::One(_) => Ok(()),
        }
    }
}

/// Refuses an argument that has `found` entries in a call of `expected` items.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::LengthMismatch { what, expected, found }) }
}

/// A public key, or a private key with its public half.
pub(crate) trait Key: Sync {
    fn public(&self) -> &PublicKey;
}

impl Key for PublicKey {
    fn public(&self) -> &PublicKey {
        self
    }
}

impl Key for PrivateKey {
    fn public(&self) -> &PublicKey {
        self.public_key()
    }
}
