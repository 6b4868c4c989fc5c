//! A new data key under a new master key, for all documents at once.

use super::header::{self, Opened, damaged};
use super::{ATTEMPTS, RecordsError};
use crate::master_key::MasterKey;
use crate::store::{Change, Row, Store, StoreError, Write};
use std::sync::Arc;

/// Seals all documents of `store` with a new data key, which `new` wraps, in one commit. Returns how many
/// documents there are. `old` are master keys, one of which opens the store. A process that is killed at any
/// moment leaves a store that opens with the old master key or one that opens with the new one, and with it
/// every document.
///
/// Replicas that run need both master keys, and go over to the new data key by themselves. Within a service
/// that writes to the store, [`super::Records::reseal`] is the one to call.
pub async fn reseal(
    store: &Arc<dyn Store>,
    old: &[MasterKey],
    new: &MasterKey,
) -> Result<usize, RecordsError> {
    let mut prepared: Option<Arc<Turn>> = None;
    for _ in 0..ATTEMPTS {
        let (rows, last) = store.changes(0).await?;
        let header = rows.iter().find(|row| header::is_header(row));
        let header = header.ok_or_else(|| damaged("the store is empty: it has no header"))?;
        // Stretching passphrases takes long, and others may commit meanwhile: it is done once.
        let turn = match prepared.take() {
            Some(turn) if turn.version == header.version => turn,
            _ => Arc::new(Turn::prepare(header, old, new).await?),
        };
        let sealing = Arc::clone(&turn);
        let sealed = tokio::task::spawn_blocking(move || sealing.seal(rows)).await;
        let changes = sealed.map_err(|_| damaged("the documents could not be sealed"))??;
        let documents = changes.len() - 1;
        // Nothing may have been added meanwhile: it would stay sealed with the old key.
        match store.commit_if(Some(last), changes).await {
            Ok(_) => return Ok(documents),
            Err(StoreError::Conflict) => prepared = Some(turn),
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::Conflict.into())
}

/// A change from one data key to the next.
struct Turn {
    /// The version of the header before.
    version: u64,
    before: Opened,
    /// The header after.
    header: Vec<u8>,
    after: Opened,
}

impl Turn {
    async fn prepare(row: &Row, old: &[MasterKey], new: &MasterKey) -> Result<Self, RecordsError> {
        let before = header::open(row, old).await?;
        let (header, after) = header::create(Some(&before), new).await?;
        Ok(Self { version: row.version, before, header, after })
    }

    /// The changes of the header and of all documents among `rows`.
    fn seal(&self, rows: Vec<Row>) -> Result<Vec<Change>, RecordsError> {
        let mut changes = vec![header::change(Some(self.version), Write::Put(self.header.clone()))];
        for row in rows.into_iter().filter(|row| !header::is_header(row)) {
            let Some(body) = row.body else { continue };
            let plain = self.before.sealer.open(&row.kind, &row.id, &body)?;
            let body = self.after.sealer.seal(&row.kind, &row.id, &plain)?;
            changes.push(Change {
                kind: row.kind,
                id: row.id,
                expected: Some(row.version),
                write: Write::Put(body),
            });
        }
        Ok(changes)
    }
}
