//! The files of the audit log.

use super::AuditError;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file with the end of the chain.
pub(super) const HEAD: &str = "head";

/// Makes the folder, readable by its owner alone.
pub(super) fn make_folder(folder: &Path) -> Result<(), AuditError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(AuditError::file(folder))
}

/// The name of file `number`.
pub(super) fn name(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("audit-{number:08}.jsonl"))
}

/// The log's files in order, with their numbers.
pub(super) fn list(folder: &Path) -> Result<Vec<(u64, PathBuf)>, AuditError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(AuditError::file(folder))? {
        let path = entry.map_err(AuditError::file(folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_prefix("audit-").and_then(|name| name.strip_suffix(".jsonl"));
        if let Some(number) = number.and_then(|number| number.parse().ok()) {
            files.push((number, path));
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Opens a file to read and write, and makes it if it is not there, readable by its owner alone.
pub(super) fn open(path: &Path) -> Result<File, AuditError> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(AuditError::file(path))
}

/// Forces the entries of a folder to the disk.
pub(super) fn sync_folder(folder: &Path) -> Result<(), AuditError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(AuditError::file(folder))
}
