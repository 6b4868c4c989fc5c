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
        builder.prefix(TEMPORARY[0]).suffix(TEMPORARY[1]);
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
        name.starts_with(TEMPORARY[0]) && name.ends_with(TEMPORARY[1])
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
