//! The stores of sealed documents.
//!
//! A store is a table of rows with a sequence number that every commit raises by one. Commits are atomic: a
//! process that is killed at any moment leaves the rows before a commit or the rows after it.

mod embedded;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;

pub use embedded::EmbeddedStore;
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresStore, PostgresTimes};

use futures_util::future::BoxFuture;
use std::collections::BTreeMap;

/// A row: a sealed document, or the note that it was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The kind of document.
    pub kind: String,
    /// The document's identifier, unique within its kind.
    pub id: String,
    /// The number of the commit that wrote the row.
    pub version: u64,
    /// The sealed document; `None` if it was deleted.
    pub body: Option<Vec<u8>>,
}

/// The effect of a change on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Leaves it as it is. The commit still depends on its version.
    Keep,
    /// Writes a sealed document.
    Put(Vec<u8>),
    /// Deletes the document.
    Delete,
}

/// A change of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The kind of document.
    pub kind: String,
    /// The document's identifier.
    pub id: String,
    /// The version that the row must have; `None` if there must be no document.
    pub expected: Option<u64>,
    /// The effect on the row.
    pub write: Write,
}

/// Why a store did not do as it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another commit changed a row first: read it again, and decide again.
    #[error("another change came first")]
    Conflict,
    /// The store cannot be reached or written at present: a database that restarts, a full disk.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// The way to the store broke while it made the changes, and it could not be asked since: all of them
    /// were made, or none.
    #[error("whether the change was made is not known: {0}")]
    Unknown(String),
    /// A name that not every store can hold.
    #[error("the {0} of a document has a zero byte")]
    Name(&'static str),
    /// The store holds something that this program did not write.
    #[error("the store is damaged: {0}")]
    Damaged(String),
}

/// A table of sealed documents. Calls may wait for a disk or a network, and are safe from any task.
pub trait Store: Send + Sync {
    /// Every row that was written after commit `since`, deleted ones included, and the number of the last
    /// commit. Rows of one commit appear together. Rows that were deleted before the process opened the store
    /// may be left out.
    fn changes(&self, since: u64) -> BoxFuture<'_, Result<(Vec<Row>, u64), StoreError>>;

    /// Makes all changes, or none if a row does not have its expected version, or if `last` is given and is
    /// not the number of the last commit. Returns the number of the commit. The changes are on disk when this
    /// returns. Of several changes of one row, each depends on the version before the commit, and the last
    /// one counts. Every error but [`StoreError::Unknown`] says that nothing was changed.
    fn commit_if(&self, last: Option<u64>, changes: Vec<Change>) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Makes all changes as [`Store::commit_if`] does, whatever the number of the last commit is.
    fn commit(&self, changes: Vec<Change>) -> BoxFuture<'_, Result<u64, StoreError>> {
        self.commit_if(None, changes)
    }

    /// Waits until another process may have committed something. A store that only this process writes waits
    /// forever.
    fn watch(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// Refuses changes whose names not every store can hold: PostgreSQL's text has no zero bytes.
fn check_names(changes: &[Change]) -> Result<(), StoreError> {
    for Change { kind, id, .. } in changes {
        for (text, what) in [(kind, "kind"), (id, "identifier")] {
            if text.contains('\0') {
                return Err(StoreError::Name(what));
            }
        }
    }
    Ok(())
}

/// The rows that `changes` write, each once, with their new bodies.
fn writes(changes: Vec<Change>) -> BTreeMap<(String, String), Option<Vec<u8>>> {
    let write = |Change { kind, id, write, .. }| match write {
        Write::Keep => None,
        Write::Put(body) => Some(((kind, id), Some(body))),
        Write::Delete => Some(((kind, id), None)),
    };
    changes.into_iter().filter_map(write).collect()
}
