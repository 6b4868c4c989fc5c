//! Backups: all rows of a store in one file, sealed as the store holds them.
//!
//! The file has these parts, all numbers with their most significant byte first: the 16 bytes
//! `modmill backup`, CR, LF; the version of the form in four bytes; the number of the last commit and the
//! number of rows, eight bytes each; the rows; SHA-256 of all that. A row is its kind, its identifier and its
//! body, each with its length in eight bytes in front. Deleted documents are not in it.

mod form;

use crate::HEADER_KIND;
use crate::store::{Change, Store, StoreError, Write};
use modmill_seal::files::write_new;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no backup, or why it is not restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The file cannot be read or written.
    #[error("the backup {path}: {reason}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: io::Error,
    },
    /// The file is not a backup.
    #[error("the file is not a backup of this program")]
    NotABackup,
    /// The backup has a form that this program does not know.
    #[error("the backup has form {0}, which this version of the program does not know")]
    Version(u32),
    /// The backup was changed or cut short.
    #[error("the backup is damaged: {0}")]
    Damaged(&'static str),
    /// There is something in the store already.
    #[error("a backup is restored to an empty store only, and this one is not empty")]
    NotEmpty,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The contents of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// The number of the last commit that is in it.
    pub last: u64,
    /// How many documents there are, the header not counted.
    pub documents: usize,
}

/// Writes all rows of `store` to a new file at `path`, with mode 0600. The file is there as a whole or not at
/// all. It is of use only with the master key, which is not in it.
pub async fn write(store: &dyn Store, path: &Path) -> Result<Summary, BackupError> {
    let (rows, last) = store.changes(0).await?;
    let failed = |reason| BackupError::File { path: path.to_owned(), reason };
    let owned = path.to_owned();
    let written = tokio::task::spawn_blocking(move || {
        let rows: Vec<_> = rows.into_iter().filter_map(|row| Some((row.kind, row.id, row.body?))).collect();
        let bytes = form::encode(last, &rows);
        write_new(&owned, &[&bytes]).map(|()| documents(rows.iter().map(|(kind, ..)| kind)))
    });
    let documents = written.await.map_err(|error| failed(io::Error::other(error)))?.map_err(failed)?;
    Ok(Summary { last, documents })
}

/// Writes the rows of the backup at `path` to `store`, which must be empty, in one commit. The store may be
/// of another sort than the one that the backup was made of.
pub async fn restore(store: &dyn Store, path: &Path) -> Result<Summary, BackupError> {
    let (last, rows) = read(path).await?;
    let documents = documents(rows.iter().map(|(kind, ..)| kind));
    let change = |(kind, id, body)| Change { kind, id, expected: None, write: Write::Put(body) };
    match store.commit_if(Some(0), rows.into_iter().map(change).collect()).await {
        Ok(_) => Ok(Summary { last, documents }),
        Err(StoreError::Conflict) => Err(BackupError::NotEmpty),
        Err(error) => Err(error.into()),
    }
}

async fn read(path: &Path) -> Result<(u64, Vec<form::Row>), BackupError> {
    let owned = path.to_owned();
    let read = tokio::task::spawn_blocking(move || match std::fs::read(&owned) {
        Ok(bytes) => form::decode(&bytes),
        Err(reason) => Err(BackupError::File { path: owned, reason }),
    });
    read.await
        .map_err(|error| BackupError::File { path: path.to_owned(), reason: io::Error::other(error) })?
}

fn documents<'a>(kinds: impl Iterator<Item = &'a String>) -> usize {
    kinds.filter(|kind| *kind != HEADER_KIND).count()
}

#[cfg(test)]
mod tests;
