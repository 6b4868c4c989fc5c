//! From a passphrase to a key.

use crate::sealer::{KEY, SealError};
use crate::secret::SecretBytes;
use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// The most memory that a header may ask for, in KiB: who can write headers must not be able to use up the
/// machine's.
const MOST_MEMORY: u32 = 4 << 20;
/// The most passes and lanes that a header may ask for.
const MOST: u32 = 64;

/// The cost of trying a passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// The memory of Argon2id, in KiB.
    pub memory_kib: u32,
    /// How often Argon2id passes over its memory.
    pub passes: u32,
    /// The lanes of Argon2id.
    pub lanes: u32,
}

impl Default for Cost {
    /// The second choice that RFC 9106 recommends: 64 MiB and three passes. The first one needs 2 GiB.
    fn default() -> Self {
        Self { memory_kib: 64 << 10, passes: 3, lanes: 4 }
    }
}

/// How Argon2id makes a key of a passphrase.
#[derive(Clone, Serialize, Deserialize)]
pub struct Stretch {
    salt: [u8; 16],
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

impl Stretch {
    /// A new salt, with the parameters `cost`.
    pub fn new(cost: Cost) -> Result<Self, SealError> {
        let mut salt = [0; 16];
        getrandom::fill(&mut salt)?;
        let Cost { memory_kib, passes, lanes } = cost;
        Ok(Self { salt, memory_kib, passes, lanes })
    }

    /// The key of `passphrase`.
    pub fn apply(&self, passphrase: &SecretBytes) -> Result<SecretBytes, SealError> {
        if self.memory_kib > MOST_MEMORY || self.passes > MOST || self.lanes > MOST {
            return Err(SealError::Stretch);
        }
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(KEY))
            .map_err(|_| SealError::Stretch)?;
        let mut key = Zeroizing::new(vec![0; KEY]);
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(passphrase.expose(), &self.salt, &mut key)
            .map_err(|_| SealError::Stretch)?;
        Ok(SecretBytes::new(key))
    }
}
