//! Taking over what the store holds.

use super::{DataKey, Held, Records, RecordsError, header};
use crate::store::Row;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often [`Records::follow`] looks for commits that nobody waited for. Longer than a store waits at most
/// before it asks for the commits of others, which this would otherwise cut short.
const LOOK: Duration = Duration::from_secs(1);
/// How long [`Records::follow`] waits after the store failed.
const PAUSE: Duration = Duration::from_millis(250);

/// Why a store cannot be read.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// The last reason.
    pub reason: String,
    /// The time of the first failed reading since the last good one.
    pub since: Instant,
}

impl Records {
    /// Takes over what was committed since the last time, by this process or another. Returns whether there
    /// was something.
    pub async fn refresh(&self) -> Result<bool, RecordsError> {
        let _order = self.order.lock().await;
        self.take_over().await
    }

    /// Takes over what other replicas commit, as long as this is polled. A service runs it as a task.
    pub async fn follow(&self) {
        loop {
            let due = tokio::select! {
                () = self.store.watch() => true,
                () = tokio::time::sleep(LOOK) => self.unfinished.load(Ordering::Acquire),
            };
            if !due {
                continue;
            }
            if let Err(error) = self.refresh().await {
                tracing::warn!(%error, "documents that others changed cannot be read");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Why the store could not be read the last time; `None` if it could. While there is trouble, documents
    /// may be older than those in the store.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        self.trouble.read().clone()
    }

    pub(super) async fn take_over(&self) -> Result<bool, RecordsError> {
        let taken = self.take_over_rows().await;
        if taken.is_ok() {
            self.unfinished.store(false, Ordering::Release);
        }
        let mut trouble = self.trouble.write();
        *trouble = taken.as_ref().err().map(|error| Trouble {
            reason: error.to_string(),
            since: trouble.as_ref().map_or_else(Instant::now, |before| before.since),
        });
        drop(trouble);
        taken
    }

    async fn take_over_rows(&self) -> Result<bool, RecordsError> {
        let (rows, last) = self.store.changes(self.seen()).await?;
        if rows.is_empty() {
            self.seen.store(last, Ordering::Release);
            return Ok(false);
        }
        // All rows that the store holds at one time are sealed with the data key of its header at that time.
        if let Some(row) = rows.iter().find(|row| header::is_header(row)) {
            self.turn_key(row).await?;
        }
        let sealer =
            self.data_key().sealer.ok_or_else(|| header::damaged("the store has documents and no header"))?;
        let read = |row: Row| -> Result<_, RecordsError> {
            let Some(kind) = self.kinds.name(&row.kind) else { return Ok(None) };
            let document = match row.body {
                None => None,
                Some(body) => {
                    let plain = sealer.open(kind, &row.id, &body)?;
                    let document = self.kinds.read(kind, &plain)?;
                    Some(Held { version: row.version, document })
                }
            };
            Ok(Some((kind, row.id, document)))
        };
        let read = rows.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let mut held = self.held.write();
        for (kind, id, document) in read.into_iter().flatten() {
            let of_kind = held.entry(kind).or_default();
            match document {
                Some(document) => of_kind.insert(id, document),
                None => of_kind.remove(&id),
            };
        }
        self.seen.store(last, Ordering::Release);
        Ok(true)
    }

    /// Goes over to the data key of the header in `row`.
    async fn turn_key(&self, row: &Row) -> Result<(), RecordsError> {
        let masters = self.masters.read().clone();
        let sealer = match masters.is_empty() {
            true => self.data_key().sealer,
            false => Some(Arc::new(header::open(row, &masters).await?.sealer)),
        };
        let key = DataKey { sealer, header: Some(row.version) };
        *self.data_key.write() = key;
        Ok(())
    }
}
