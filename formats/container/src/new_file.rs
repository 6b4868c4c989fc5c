//! Files that appear when they are whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file under a temporary name beside its final place, which it takes by [`NewFile::publish`]. Until then a
/// file that has the final name stays as it was, and a new file that is dropped leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
}

/// The beginning and the end of temporary names.
const TEMPORARY: [&str; 2] = [".modmill-", ".tmp"];

/// The random letters and digits between them.
const RANDOM: usize = 6;

impl NewFile {
    /// A new file for a path. A secret one can be read by its owner only, on Unix, from the first moment.
    ///
    /// Where a symbolic link has the name, the file behind it is replaced. A folder, a device or a named pipe
    /// is an error.
    #[cfg_attr(not(unix), allow(unused_variables))] // Files of other systems have no mode.
    pub fn create(path: &Path, is_secret: bool) -> io::Result<Self> {
        let path = match fs::metadata(path) {
            Ok(present) if present.is_file() => path.canonicalize()?,
            Ok(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it is no regular file; name another",
                ));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error),
        };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY[0]).suffix(TEMPORARY[1]).rand_bytes(RANDOM);
        #[cfg(unix)]
        if !is_secret {
            use std::os::unix::fs::PermissionsExt;
            // The mode of any new file, from which the umask takes its bits.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        Ok(Self { file: builder.tempfile_in(folder)?, path })
    }

    /// Whether a file name is temporary. A program that is killed leaves the files that it did not finish.
    #[must_use]
    pub fn is_temporary(name: &str) -> bool {
        let random = name.strip_prefix(TEMPORARY[0]).and_then(|rest| rest.strip_suffix(TEMPORARY[1]));
        random.is_some_and(|random| {
            random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    }

    /// Gives the file its name.
    pub fn publish(self) -> io::Result<()> {
        self.file.persist(self.path)?;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_told_from_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = NewFile::create(&folder.path().join("new"), false).unwrap();
        let names = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names().all(|name| NewFile::is_temporary(&name.to_string_lossy())));
        assert_eq!(names().count(), 1);
        file.publish().unwrap();
        for name in
            ["new", ".modmill-.tmp", ".modmill-mine.tmp", ".modmill-abcdefg.tmp", ".modmill-ab-def.tmp"]
        {
            assert!(!NewFile::is_temporary(name), "{name}");
        }
        assert!(NewFile::is_temporary(".modmill-a0Z9bc.tmp"));
    }
}
