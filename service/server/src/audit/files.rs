//! The files of the audit log.

use super::AuditError;
use crate::files::open_private;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The file with the end of the chain.
pub(super) const HEAD: &str = "head";

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
    open_private(path).map_err(AuditError::file(path))
}
