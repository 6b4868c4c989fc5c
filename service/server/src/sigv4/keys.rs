//! Signing keys, derived from secret access keys for a day, a region and a service.

use super::TERMINATOR;
use crate::credentials::{Credential, Principal};
use hmac::{Hmac, KeyInit, Mac};
use parking_lot::RwLock;
use sha2::Sha256;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use zeroize::Zeroizing;

/// A signing key, of which HMAC has taken in its part. It is overwritten when it is dropped.
#[derive(Clone)]
pub(super) struct Key(Hmac<Sha256>);

impl Key {
    fn new(key: &[u8]) -> Self {
        // HMAC takes keys of any length.
        Self(Hmac::new_from_slice(key).unwrap_or_else(|_| unreachable!()))
    }

    /// The HMAC-SHA-256 of `data`.
    pub(super) fn sign(&self, data: &[u8]) -> [u8; 32] {
        self.0.clone().chain_update(data).finalize().into_bytes().into()
    }
}

/// The signing key of a secret access key.
pub(super) fn derive(secret: &[u8], date: &str, region: &str, service: &str) -> Key {
    let mut key = Zeroizing::new(Vec::with_capacity(4 + secret.len()));
    key.extend_from_slice(b"AWS4");
    key.extend_from_slice(secret);
    [date, region, service, TERMINATOR]
        .iter()
        .fold(Key::new(&key), |key, part| Key::new(&*Zeroizing::new(key.sign(part.as_bytes()))))
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
