//! Values that are made once, by their keys.

use crate::error::Result;
use modmill_core::sync::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, LazyLock};

/// A place for one value, locked while it is made.
type Slot<T> = Arc<Mutex<Option<T>>>;

/// Values that are made once: of those who want the same, one makes it and the others wait; those who
/// want something else go on.
pub(crate) struct Memo<K, T>(LazyLock<Mutex<HashMap<K, Slot<T>>>>);

impl<K, T> Memo<K, T> {
    pub(crate) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }
}

impl<K, T> Default for Memo<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Copy + Eq + Hash, T: Clone> Memo<K, T> {
    /// Whether the value of this key is there, or being made.
    pub(crate) fn has(&self, key: &K) -> bool {
        self.0.lock().contains_key(key)
    }

    /// The value of this key; nothing is kept where it cannot be made.
    pub(crate) fn get(&self, key: &K, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let slot = {
            let mut slots = self.0.lock();
            slots.entry(*key).or_default().clone()
        };
        let mut slot = slot.lock();
        match &*slot {
            Some(value) => Ok(value.clone()),
            None => Ok(slot.insert(make()?).clone()),
        }
    }
}
