//! Signing keys, derived from secret access keys for a day, a region and a service.

use super::TERMINATOR;
use crate::credentials::{Credential, Principal};
use hmac::{Hmac, KeyInit, Mac};
use parking_lot::RwLock;
use sha2::Sha256;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use zeroize::Zeroizing;

/// A signing key.
pub(super) type Key = Zeroizing<[u8; 32]>;

/// The HMAC-SHA-256 of `data`.
pub(super) fn hmac(key: &[u8], data: &[u8]) -> [u8; 32] {
    // HMAC takes keys of any length, so that the other branch does not happen.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    mac.update(data);
    mac.finalize().into_bytes().into()
}

/// The signing key of a secret access key.
pub(super) fn derive(secret: &[u8], date: &str, region: &str, service: &str) -> Key {
    let mut key = Zeroizing::new(Vec::with_capacity(4 + secret.len()));
    key.extend_from_slice(b"AWS4");
    key.extend_from_slice(secret);
    let mut derived = Zeroizing::new(hmac(&key, date.as_bytes()));
    for part in [region, service, TERMINATOR] {
        derived = Zeroizing::new(hmac(&*derived, part.as_bytes()));
    }
    derived
}

/// The number of credentials whose keys are kept.
const KEPT: usize = 10_000;

struct Kept {
    /// The credential that the key is of. A weak reference keeps its address from being used again, but not
    /// its secrets.
    credential: Weak<Credential>,
    date: String,
    key: Arc<Key>,
    principal: Arc<Principal>,
}

/// The signing keys of a day, one for each credential that was used.
#[derive(Default)]
pub(super) struct SigningKeys(RwLock<HashMap<String, Kept>>);

impl SigningKeys {
    /// The signing key of `credential` for the day `date`, and whose it is.
    pub(super) fn get(
        &self,
        credential: &Arc<Credential>,
        date: &str,
        region: &str,
        service: &str,
    ) -> (Arc<Key>, Arc<Principal>) {
        {
            let kept = self.0.read();
            if let Some(kept) = kept.get(&credential.access_key_id)
                && kept.date == date
                && std::ptr::eq(kept.credential.as_ptr(), Arc::as_ptr(credential))
            {
                return (Arc::clone(&kept.key), Arc::clone(&kept.principal));
            }
        }
        let key = Arc::new(derive(credential.secret_access_key.expose(), date, region, service));
        let principal = Arc::new(Principal::of(credential));
        let mut kept = self.0.write();
        if kept.len() >= KEPT {
            kept.clear();
        }
        let new = Kept {
            credential: Arc::downgrade(credential),
            date: date.to_owned(),
            key: Arc::clone(&key),
            principal: Arc::clone(&principal),
        };
        kept.insert(credential.access_key_id.clone(), new);
        (key, principal)
    }
}
