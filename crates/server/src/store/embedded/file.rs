//! The file of the store, and who may use it.

use crate::files::{create_folder, open_private, sync_folder};
use crate::store::StoreError;
use redb::Database;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the store's file.
const FILE: &str = "store.redb";
/// The name of the file whose lock says that a process uses the store.
const LOCK: &str = "store.lock";
/// Memory for pages of the file. Documents are in memory already.
const CACHE: usize = 8 << 20;
/// How long a lock is waited for: a process that ends, or that starts another one just then, holds it a moment longer.
const PATIENCE: Duration = Duration::from_millis(400);

/// Makes the folder `dir` ready and takes its lock. Returns the path of the store's file and the lock.
pub(super) fn prepare(dir: &Path) -> Result<(PathBuf, File), StoreError> {
    let unavailable =
        |reason: std::io::Error| StoreError::Unavailable(format!("{}: {reason}", dir.display()));
    create_folder(dir).map_err(unavailable)?;
    let lock = lock(dir).map_err(unavailable)??;
    let path = dir.join(FILE);
    open_private(&path).map_err(unavailable)?;
    sync_folder(dir).map_err(unavailable)?;
    Ok((path, lock))
}

/// The database in the file at `path`.
pub(super) fn database(path: &Path) -> Result<Database, redb::Error> {
    Ok(Database::builder().set_cache_size(CACHE).create_file(open_private(path)?)?)
}

fn lock(dir: &Path) -> std::io::Result<Result<File, StoreError>> {
    let mut lock = open_private(&dir.join(LOCK))?;
    let end = Instant::now() + PATIENCE;
    loop {
        match lock.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if Instant::now() < end => std::thread::sleep(PATIENCE / 20),
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                lock.take(20).read_to_string(&mut holder)?;
                let message = format!("process {} uses the store in {}", holder.trim(), dir.display());
                return Ok(Err(StoreError::Unavailable(message)));
            }
            Err(TryLockError::Error(reason)) => return Err(reason),
        }
    }
    lock.set_len(0)?;
    lock.rewind()?;
    write!(lock, "{}", std::process::id())?;
    Ok(Ok(lock))
}
