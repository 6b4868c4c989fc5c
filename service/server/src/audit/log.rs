//! Writing the audit log.

use super::line::Link;
use super::recover::{self, Recovered};
use super::{AuditError, Entry, files};
use crate::files::{create_folder, sync_folder};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The log as its only writer sees it.
pub(super) struct Log {
    folder: PathBuf,
    number: u64,
    path: PathBuf,
    file: File,
    /// The length of all whole lines of the file. Whatever is behind it is overwritten.
    len: u64,
    last: Link,
    head: File,
    file_bytes: u64,
    is_synced: bool,
    /// Whether a part of a line may be behind the last whole one.
    is_torn: bool,
    #[cfg(test)]
    pub(super) fails: bool,
}

impl Log {
    pub(super) fn open(folder: &Path, file_bytes: u64, now_ms: u64, why: &str) -> Result<Self, AuditError> {
        create_folder(folder).map_err(AuditError::file(folder))?;
        let head_path = folder.join(files::HEAD);
        let head = files::open(&head_path)?;
        head.try_lock().map_err(|_| AuditError::InUse(head_path))?;
        let Recovered { number, path, file, len, last, notes } = recover::recover(folder, &head)?;
        let mut log = Self {
            folder: folder.to_owned(),
            number,
            path,
            file,
            len,
            last,
            head,
            file_bytes,
            is_synced: false,
            is_torn: false,
            #[cfg(test)]
            fails: false,
        };
        for note in &notes {
            log.note(now_ms, note)?;
        }
        log.note(now_ms, why)?;
        log.sync()?;
        sync_folder(folder).map_err(AuditError::file(folder))?;
        Ok(log)
    }

    pub(super) fn last(&self) -> Link {
        self.last
    }

    /// Writes the lines of operations.
    pub(super) fn append(&mut self, now_ms: u64, entries: &[Entry<'_>]) -> Result<(), AuditError> {
        let mut lines = Vec::with_capacity(512 * entries.len());
        let last = entries.iter().fold(self.last, |last, entry| last.operation(now_ms, entry, &mut lines));
        self.write(&lines, last)?;
        if self.len >= self.file_bytes {
            self.rotate(now_ms)?;
        }
        Ok(())
    }

    /// Writes a line about the log itself.
    pub(super) fn note(&mut self, now_ms: u64, note: &str) -> Result<(), AuditError> {
        let mut line = Vec::new();
        let last = self.last.note(now_ms, note, &mut line);
        self.write(&line, last)
    }

    /// Forces everything to the disk.
    pub(super) fn sync(&mut self) -> Result<(), AuditError> {
        if !self.is_synced {
            self.file.sync_data().map_err(AuditError::file(&self.path))?;
            self.head.sync_data().map_err(AuditError::file(&self.folder.join(files::HEAD)))?;
            self.is_synced = true;
        }
        Ok(())
    }

    /// Writes lines behind the last whole one. After a failure the next call cuts off what was written of
    /// them.
    fn write(&mut self, lines: &[u8], last: Link) -> Result<(), AuditError> {
        if self.is_torn {
            self.file.set_len(self.len).map_err(AuditError::file(&self.path))?;
        }
        self.is_torn = true;
        #[cfg(test)]
        if self.fails {
            let _ = self.file.write_all_at(&lines[..lines.len() / 2], self.len);
            return Err(AuditError::file(&self.path)(std::io::ErrorKind::StorageFull.into()));
        }
        self.file.write_all_at(lines, self.len).map_err(AuditError::file(&self.path))?;
        self.len += lines.len() as u64;
        (self.last, self.is_torn, self.is_synced) = (last, false, false);
        let head = self.head.write_all_at(last.to_head().as_bytes(), 0);
        head.map_err(AuditError::file(&self.folder.join(files::HEAD)))
    }

    /// Closes the file and begins the next one.
    fn rotate(&mut self, now_ms: u64) -> Result<(), AuditError> {
        self.note(now_ms, "the log goes on in the next file")?;
        self.sync()?;
        let path = files::name(&self.folder, self.number + 1);
        self.file = files::open(&path)?;
        self.number += 1;
        self.path = path;
        self.len = 0;
        self.note(now_ms, "the log goes on from the file before")?;
        sync_folder(&self.folder).map_err(AuditError::file(&self.folder))
    }
}
