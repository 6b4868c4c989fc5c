//! Folders and files that their owner alone may read, and files that are there as a whole or not at all.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Creates the folder `dir` with mode 0700 if it is absent.
pub(crate) fn create_folder(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Opens a file to read and write. A file that is absent is made with mode 0600.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Waits until the names of files in `dir` are on disk.
pub(crate) fn sync_folder(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Writes a new file at `path` with mode 0600. A process that is killed leaves all of the file or nothing at `path`. A file
/// that is there already stays as it is, and the error is [`io::ErrorKind::AlreadyExists`].
pub(crate) fn write_new(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let folder = folder(path);
    let temporary = temporary(path)?;
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        for part in parts {
            file.write_all(part)?;
        }
        file.sync_all()?;
        // Unlike a rename, a link does not replace a file that another process has written meanwhile.
        std::fs::hard_link(&temporary, path)
    };
    let written = write();
    let removed = std::fs::remove_file(&temporary);
    written?;
    removed?;
    sync_folder(folder)
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A name beside `path` that no other process uses.
fn temporary(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("the path does not name a file"))?;
    let number = getrandom::u64().map_err(io::Error::other)?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{number:016x}"));
    Ok(path.with_file_name(temporary))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_new_file_is_private_and_replaces_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write_new(&path, &[b"on", b"e"]).unwrap();
        let again = write_new(&path, &[b"two"]).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_path_without_a_name_is_refused() {
        assert!(write_new(Path::new("/"), &[]).is_err());
    }
}
