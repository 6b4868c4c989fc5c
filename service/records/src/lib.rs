//! Documents: keys, names, rights. All of them are in memory, sealed copies are in the store.
//!
//! Reading never waits. A change is sealed, committed to the store, and then seen by everybody. Changes that
//! other replicas commit to the same store come in by [`Records::refresh`], which [`Records::follow`] calls.

#![forbid(unsafe_code)]

pub mod backup;
mod changes;
mod header;
mod kinds;
pub mod master_key;
mod reseal;
pub mod store;
mod take_over;

pub use changes::Changes;
pub use kinds::{Document, Kinds};
pub use modmill_seal::{SealError, Sealer};
pub use reseal::reseal;
pub use take_over::Trouble;

use crate::master_key::MasterKey;
use crate::store::{Store, StoreError, Write};
use kinds::AnyDocument;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The kind of the store's row that says how the others are sealed.
pub const HEADER_KIND: &str = "header";

/// How often a change is decided again because another one came first.
const ATTEMPTS: usize = 50;

/// The longest pause before a change is decided again.
const PAUSE: Duration = Duration::from_millis(4);

/// Why a document cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A document cannot be sealed, or was not sealed by this key.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// A document is not as this program writes it.
    #[error("a document of kind {kind} cannot be read: {reason}")]
    Document {
        /// The kind.
        kind: String,
        /// The reason.
        reason: String,
    },
}

/// A document with the version that it has in the store.
#[derive(Clone)]
struct Held {
    version: u64,
    document: AnyDocument,
}

/// The data key of the store.
#[derive(Clone, Default)]
struct DataKey {
    /// `None` before the header was read.
    sealer: Option<Arc<Sealer>>,
    /// The version of the header that it comes from; `None` if the store has no header.
    header: Option<u64>,
}

/// All documents of a store.
pub struct Records {
    store: Arc<dyn Store>,
    /// The master keys that headers are opened with. None: the data key was given, and headers are not looked
    /// at.
    masters: RwLock<Vec<MasterKey>>,
    data_key: RwLock<DataKey>,
    kinds: Kinds,
    /// The documents of each kind, by their identifiers.
    held: RwLock<BTreeMap<&'static str, BTreeMap<String, Held>>>,
    /// The last commit whose rows are in `held`.
    seen: AtomicU64,
    /// One refresh or commit at a time, so that rows are taken over in their order.
    order: tokio::sync::Mutex<()>,
    /// Whether a commit was begun whose rows are not in memory, as when a caller stops to wait for it.
    unfinished: AtomicBool,
    /// Why the last refresh failed, if it did.
    trouble: RwLock<Option<Trouble>>,
}

impl Records {
    /// Reads every document of `store`. `sealer` is the key that seals them.
    pub async fn open(store: Arc<dyn Store>, sealer: Sealer, kinds: Kinds) -> Result<Self, RecordsError> {
        let records =
            Self::new(store, Vec::new(), DataKey { sealer: Some(Arc::new(sealer)), header: None }, kinds);
        records.refresh().await?;
        Ok(records)
    }

    /// Reads every document of `store`, whose data key one of `masters` opens. An empty store gets a data
    /// key, which the first of `masters` wraps.
    pub async fn unlock(
        store: Arc<dyn Store>,
        masters: Vec<MasterKey>,
        kinds: Kinds,
    ) -> Result<Self, RecordsError> {
        let Some(master) = masters.first().cloned() else { return Err(SealError::WrongMasterKey.into()) };
        let records = Self::new(store, masters, DataKey::default(), kinds);
        records.refresh().await?;
        if records.data_key().header.is_none() {
            let (body, _) = header::create(None, &master).await?;
            match records.store.commit(vec![header::change(None, Write::Put(body))]).await {
                // Another replica was first: its header counts.
                Ok(_) | Err(StoreError::Conflict) => records.refresh().await?,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(records)
    }

    fn new(store: Arc<dyn Store>, masters: Vec<MasterKey>, data_key: DataKey, kinds: Kinds) -> Self {
        Self {
            store,
            masters: RwLock::new(masters),
            data_key: RwLock::new(data_key),
            kinds,
            held: RwLock::default(),
            seen: AtomicU64::new(0),
            order: tokio::sync::Mutex::new(()),
            unfinished: AtomicBool::new(false),
            trouble: RwLock::default(),
        }
    }

    /// Takes another master key, for the time when the store is sealed anew under it.
    pub fn add_master_key(&self, master: MasterKey) {
        self.masters.write().push(master);
    }

    /// Seals all documents anew under the master key `new`, as [`reseal`] does, while this process makes no
    /// other changes. Returns how many documents there are.
    pub async fn reseal(&self, new: &MasterKey) -> Result<usize, RecordsError> {
        let _order = self.order.lock().await;
        let old = self.masters.read().clone();
        self.add_master_key(new.clone());
        let documents = reseal(&self.store, &old, new).await?;
        self.take_over().await?;
        Ok(documents)
    }

    /// The document of type `T` with identifier `id`.
    #[must_use]
    pub fn get<T: Document>(&self, id: &str) -> Option<Arc<T>> {
        let held = self.held.read();
        Arc::clone(&held.get(T::KIND)?.get(id)?.document).downcast().ok()
    }

    /// All documents of type `T`, in the order of their identifiers.
    #[must_use]
    pub fn all<T: Document>(&self) -> Vec<Arc<T>> {
        let held = self.held.read();
        let held = held.get(T::KIND).into_iter().flat_map(BTreeMap::values);
        held.filter_map(|held| Arc::clone(&held.document).downcast().ok()).collect()
    }

    /// The number of the last commit that is in memory. What was derived from documents is still right while
    /// it is the same.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Acquire)
    }

    /// Changes documents: `decide` reads them and says what to change. It is called again if another change
    /// comes first, so it must not do anything else.
    pub async fn change<T, E: From<RecordsError>>(
        &self,
        mut decide: impl FnMut(&Self) -> Result<(Changes, T), E>,
    ) -> Result<T, E> {
        // Nothing is taken over between the reading by `decide` and the commit, so that `decide` has read the
        // versions it depends on.
        let _order = self.order.lock().await;
        if self.unfinished.load(Ordering::Acquire) {
            self.take_over().await?;
        }
        for _ in 0..ATTEMPTS {
            let (changes, answer) = decide(self)?;
            if changes.is_empty() {
                return Ok(answer);
            }
            let changes = self.sealed(changes)?;
            self.unfinished.store(true, Ordering::Release);
            match self.store.commit(changes).await {
                Ok(_) => {
                    // The change is made. What cannot be read back now is read back later.
                    if let Err(error) = self.take_over().await {
                        tracing::warn!(%error, "a change was committed and cannot be read back yet");
                    }
                    return Ok(answer);
                }
                Err(StoreError::Conflict) => {
                    // Without a pause of random length, two that take turns would go on so, and one of them
                    // would always be late.
                    let pause = PAUSE.mul_f64(f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX));
                    tokio::time::sleep(pause).await;
                    self.take_over().await?;
                }
                Err(error) => return Err(RecordsError::from(error).into()),
            }
        }
        Err(RecordsError::from(StoreError::Conflict).into())
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    fn data_key(&self) -> DataKey {
        self.data_key.read().clone()
    }

    fn sealed(&self, changes: Changes) -> Result<Vec<crate::store::Change>, RecordsError> {
        let DataKey { sealer, header } = self.data_key();
        let sealer = sealer.ok_or_else(|| header::damaged("the store has no header"))?;
        let held = self.held.read();
        let version = |kind, id: &str| Some(held.get(kind)?.get(id)?.version);
        let mut changes = changes.seal(&sealer, version)?;
        // Should the store be sealed anew meanwhile, this commit must not add something that was sealed with
        // the old key.
        changes.push(header::change(header, Write::Keep));
        Ok(changes)
    }
}

/// Whether nothing was ever written to `store`.
pub async fn is_new(store: &dyn Store) -> Result<bool, StoreError> {
    // A number that no commit has: only that of the last commit is asked for.
    Ok(store.changes(i64::MAX as u64).await?.1 == 0)
}

#[cfg(test)]
mod tests;
