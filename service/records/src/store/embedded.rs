//! The store of one machine: a file of the embedded database redb.

mod file;
mod tables;

use super::{Change, Row, Store, StoreError, check_names};
use futures_util::future::BoxFuture;
use redb::Database;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Opens the database file again.
type Open = Box<dyn Fn() -> Result<Database, redb::Error> + Send + Sync>;

/// Rows in a file `store.redb`, which one process at a time may use.
///
/// A failed write, as on a full disk, closes the database, because what it holds in memory is then not what
/// the file holds. The next call opens it again, in the state of the last commit that reached the disk.
pub struct EmbeddedStore(Arc<Inner>);

struct Inner {
    open: Open,
    database: Arc<Mutex<Option<Database>>>,
    /// The file whose lock keeps other processes away, also while the database is closed.
    _lock: Option<File>,
}

impl EmbeddedStore {
    /// Opens the store in the folder `dir`, and creates both if they are absent: the folder with mode 0700,
    /// the file with mode 0600. Every page of the file is checked.
    pub async fn open(dir: &Path) -> Result<Self, StoreError> {
        let dir = dir.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            let (path, lock) = file::prepare(&dir)?;
            Self::checked(Box::new(move || file::database(&path)), Some(lock))
        });
        opened.await.unwrap_or_else(|_| Err(stopped()))
    }

    fn checked(open: Open, lock: Option<File>) -> Result<Self, StoreError> {
        let mut database = open().map_err(error)?;
        // The check sets a file whose pages do not match their checksums back to the commit before, which
        // would lose what was acknowledged without a word. A file whose process was killed is set in order
        // already when it is opened.
        let before = tables::last(&database)?;
        database.check_integrity().map_err(|reason| error(reason.into()))?;
        if tables::last(&database)? < before {
            return Err(StoreError::Damaged(
                "the store's file did not match its checksums and was set back to the last commit that does; restore a \
                 backup, or start again to go on with what is left"
                    .into(),
            ));
        }
        tables::prepare(&database)?;
        Ok(Self(Arc::new(Inner { open, database: Arc::new(Mutex::new(Some(database))), _lock: lock })))
    }

    /// Runs `work` where waiting for a disk is allowed.
    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            // Held from here to the end of the work, also if nobody waits for it any more: what is read later
            // has seen it.
            let mut slot = Arc::clone(&inner.database).lock_owned().await;
            let task = tokio::task::spawn_blocking(move || {
                // Taken out, so that a database that failed is not used again.
                let database = match slot.take() {
                    Some(database) => database,
                    None => (inner.open)().map_err(error)?,
                };
                let result = work(&database);
                if !matches!(result, Err(StoreError::Unavailable(_))) {
                    *slot = Some(database);
                }
                result
            });
            task.await.unwrap_or_else(|_| Err(stopped()))
        })
    }
}

impl Store for EmbeddedStore {
    fn changes(&self, since: u64) -> BoxFuture<'_, Result<(Vec<Row>, u64), StoreError>> {
        self.run(move |database| tables::changes(database, since))
    }

    fn commit_if(&self, last: Option<u64>, changes: Vec<Change>) -> BoxFuture<'_, Result<u64, StoreError>> {
        if let Err(error) = check_names(&changes) {
            return Box::pin(async { Err(error) });
        }
        self.run(move |database| tables::commit(database, last, changes))
    }
}

/// The database's error as an error of a store.
fn error(error: redb::Error) -> StoreError {
    use std::io::ErrorKind::{InvalidData, UnexpectedEof};
    match error {
        redb::Error::Io(reason) if !matches!(reason.kind(), InvalidData | UnexpectedEof) => {
            StoreError::Unavailable(reason.to_string())
        }
        redb::Error::PreviousIo | redb::Error::DatabaseClosed | redb::Error::DatabaseAlreadyOpen => {
            StoreError::Unavailable(error.to_string())
        }
        other => StoreError::Damaged(other.to_string()),
    }
}

/// The database stops with a panic where the file is not as it wrote it.
fn stopped() -> StoreError {
    StoreError::Damaged("the database could not make sense of the store's file".into())
}

#[cfg(test)]
mod tests;
