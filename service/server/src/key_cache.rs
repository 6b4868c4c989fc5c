//! Private keys that were read already.

use crate::secret::SecretBytes;
use modmill_rsa::{KeyError, PrivateKey, Sizes};
use parking_lot::{Mutex, RwLock};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of keys that are kept.
const KEPT: usize = 8192;

/// The number of calls of [`KeyCache::forget_unused`] that a key without use is kept for.
pub(crate) const IDLE_CALLS: usize = 10;

/// Why a private key cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyCacheError {
    /// The document does not hold a private key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The thread that reads the key failed.
    #[error("the key could not be read: {0}")]
    Failed(String),
}

struct Kept {
    key: Arc<PrivateKey>,
    /// The number of the last use.
    used: AtomicU64,
}

/// Private keys by the identifier of their material, which never has other material. Reading a key takes as
/// long as many signatures: it is checked, and its constants are computed.
#[derive(Default)]
pub struct KeyCache {
    kept: RwLock<HashMap<String, Kept>>,
    uses: AtomicU64,
    /// The number of uses at the last calls of [`KeyCache::forget_unused`].
    marks: Mutex<VecDeque<u64>>,
}

impl KeyCache {
    /// The key, if it was read already. This is short enough for any thread.
    #[must_use]
    pub fn cached(&self, material_id: &str) -> Option<Arc<PrivateKey>> {
        let kept = self.kept.read();
        let kept = kept.get(material_id)?;
        kept.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(Arc::clone(&kept.key))
    }

    /// The key of `material_id`, whose PKCS #8 document is `der`. A key that was not read already takes
    /// milliseconds, so that asynchronous tasks call [`KeyCache::load`].
    pub fn get(&self, material_id: &str, der: &SecretBytes) -> Result<Arc<PrivateKey>, KeyError> {
        if let Some(key) = self.cached(material_id) {
            return Ok(key);
        }
        let key = Arc::new(PrivateKey::read(der.expose(), None, Sizes::Standard)?);
        let mut kept = self.kept.write();
        if kept.len() >= KEPT {
            make_room(&mut kept);
        }
        let used = AtomicU64::new(self.uses.fetch_add(1, Ordering::Relaxed));
        kept.insert(material_id.to_owned(), Kept { key: Arc::clone(&key), used });
        Ok(key)
    }

    /// The key that [`KeyCache::get`] returns, read on a thread that may take its time.
    pub async fn load(
        self: &Arc<Self>,
        material_id: &str,
        der: &SecretBytes,
    ) -> Result<Arc<PrivateKey>, KeyCacheError> {
        if let Some(key) = self.cached(material_id) {
            return Ok(key);
        }
        let (cache, material_id, der) = (Arc::clone(self), material_id.to_owned(), der.clone());
        let read = tokio::task::spawn_blocking(move || cache.get(&material_id, &der)).await;
        Ok(read.map_err(|error| KeyCacheError::Failed(error.to_string()))??)
    }

    /// Forgets a key whose material was deleted.
    pub fn forget(&self, material_id: &str) {
        self.kept.write().remove(material_id);
    }

    /// Forgets the keys that were not used since the call that was [`IDLE_CALLS`] calls ago, among them those
    /// that another process deleted. The program calls it every minute.
    pub fn forget_unused(&self) {
        let mut marks = self.marks.lock();
        marks.push_back(self.uses.load(Ordering::Relaxed));
        if marks.len() <= IDLE_CALLS {
            return;
        }
        let since = marks.pop_front().unwrap_or(0);
        let mut kept = self.kept.write();
        kept.retain(|_, kept| *kept.used.get_mut() >= since);
    }
}

/// Drops the older half.
fn make_room(kept: &mut HashMap<String, Kept>) {
    let mut uses: Vec<u64> = kept.values().map(|kept| kept.used.load(Ordering::Relaxed)).collect();
    let middle = uses.len() / 2;
    let (_, &mut median, _) = uses.select_nth_unstable(middle);
    kept.retain(|_, kept| *kept.used.get_mut() > median);
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill::Engine;

    #[test]
    fn a_key_is_read_once_and_forgotten() {
        let key = PrivateKey::generate(&Engine::new().unwrap(), 2048, Sizes::Standard).unwrap();
        let der = SecretBytes::new(key.to_der().unwrap());
        let cache = KeyCache::default();
        assert!(cache.cached("a").is_none());
        let first = cache.get("a", &der).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.get("a", &der).unwrap()));
        (0..3 * IDLE_CALLS).for_each(|_| {
            cache.forget_unused();
            assert!(cache.cached("a").is_some());
        });
        (0..=IDLE_CALLS).for_each(|_| cache.forget_unused());
        assert!(cache.cached("a").is_none());
        cache.get("a", &der).unwrap();
        cache.forget("a");
        assert!(cache.cached("a").is_none());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let der = SecretBytes::random(100).unwrap();
        assert!(KeyCache::default().get("a", &der).is_err());
    }
}
