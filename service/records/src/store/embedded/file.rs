//! The file of the store, and who may use it.

use crate::store::StoreError;
use modmill_seal::files::{create_folder, open_private, sync_folder};
use redb::Database;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name of the store's file.
const FILE: &str = "store.redb";
/// The name of the store's file before it is whole.
const NEW_FILE: &str = "store.redb.new";
/// The name of the file whose lock says that a process uses the store.
const LOCK: &str = "store.lock";
/// Memory for pages of the file. Documents are in memory already.
const CACHE: usize = 8 << 20;
/// How long a lock is waited for: a process that ends, or that starts another one just then, holds it a
/// moment longer.
const PATIENCE: Duration = Duration::from_millis(400);

/// Makes the folder `dir` ready and takes its lock. Returns the path of the store's file and the lock.
pub(super) fn prepare(dir: &Path) -> Result<(PathBuf, File), StoreError> {
    let unavailable =
        |reason: std::io::Error| StoreError::Unavailable(format!("{}: {reason}", dir.display()));
    create_folder(dir).map_err(unavailable)?;
    let lock = lock(dir).map_err(unavailable)??;
    let path = dir.join(FILE);
    if !path.try_exists().map_err(unavailable)? {
        create(dir, &path).map_err(super::error)?;
    }
    Ok((path, lock))
}

/// Makes the file of an empty store. A process that is killed meanwhile leaves no file at `path`, so that one
/// without contents was cut short.
fn create(dir: &Path, path: &Path) -> Result<(), redb::Error> {
    let new = dir.join(NEW_FILE);
    let file = open_private(&new)?;
    // A process that was killed may have left something in the file.
    file.set_len(0)?;
    drop(Database::builder().create_file(file)?);
    std::fs::rename(&new, path)?;
    Ok(sync_folder(dir)?)
}

/// The database in the file at `path`.
pub(super) fn database(path: &Path) -> Result<Database, redb::Error> {
    let file = File::options().read(true).write(true).open(path)?;
    if file.metadata()?.len() == 0 {
        let reason = format!("{} is empty: it was cut short; restore a backup", path.display());
        return Err(std::io::Error::new(ErrorKind::UnexpectedEof, reason).into());
    }
    Ok(Database::builder().set_cache_size(CACHE).create_file(file)?)
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
