//! Folders and files that their owner alone may read, and files that are there as a whole or not at all.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use tempfile::NamedTempFile;

/// The number of random letters and digits that end a temporary name.
const RANDOM: usize = 16;

/// Creates the folder `dir` with mode 0700 if it is absent.
pub fn create_folder(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Opens a file to read and write. A file that is absent is made with mode 0600.
pub fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Waits until the names of files in `dir` are on disk.
pub fn sync_folder(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Writes a new file at `path` with mode 0600. A process that is killed leaves all of the file or nothing at
/// `path`. A file that is there already stays as it is, and the error is [`io::ErrorKind::AlreadyExists`].
pub fn write_new(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    temporary(path, parts)?.persist_noclobber(path)?;
    sync_folder(folder(path))
}

/// Writes the file at `path` with mode 0600, instead of the one that may be there. A process that is killed
/// leaves the old file or the new one at `path`, and perhaps a file that [`remove_leftovers`] removes.
pub fn replace(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    temporary(path, parts)?.persist(path)?;
    sync_folder(folder(path))
}

/// Removes the files that processes killed while writing `path` have left in its folder. No other process may
/// be writing.
pub fn remove_leftovers(path: &Path) -> io::Result<()> {
    let Some(prefix) = prefix(path) else { return Ok(()) };
    for entry in std::fs::read_dir(folder(path))? {
        let entry = entry?;
        let name = entry.file_name();
        let random = name.as_bytes().strip_prefix(prefix.as_bytes());
        if random.is_some_and(|random| random.len() == RANDOM && random.iter().all(u8::is_ascii_alphanumeric))
        {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file next to `path`, with mode 0600 and the contents `parts`, all of them on disk.
fn temporary(path: &Path, parts: &[&[u8]]) -> io::Result<NamedTempFile> {
    let prefix = prefix(path).ok_or_else(|| io::Error::other("the path does not name a file"))?;
    let mut file = tempfile::Builder::new().prefix(&prefix).rand_bytes(RANDOM).tempfile_in(folder(path))?;
    for part in parts {
        file.write_all(part)?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

/// The beginning of the temporary names of `path`.
fn prefix(path: &Path) -> Option<OsString> {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name()?);
    prefix.push(".");
    Some(prefix)
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
    fn a_file_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for contents in [&b"one"[..], b"two"] {
            replace(&path, &[contents]).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), contents);
        }
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
        assert!(replace(&dir.path().join("absent/file"), &[b"one"]).is_err());
    }

    #[test]
    fn leftovers_of_this_file_alone_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let names = [".file.0123456789abcdef", ".file.0123456789abcde-", ".other.0123456789abcdef", "file"];
        names.iter().for_each(|name| std::fs::write(dir.path().join(name), b"x").unwrap());
        remove_leftovers(&dir.path().join("file")).unwrap();
        let left: Vec<_> = names.iter().filter(|name| dir.path().join(name).exists()).collect();
        assert_eq!(left, [&names[1], &names[2], &names[3]]);
    }

    #[test]
    fn a_path_without_a_name_is_refused() {
        assert!(write_new(Path::new("/"), &[]).is_err());
    }
}
