//! Files that appear when they are whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file under a temporary name beside its final place, which it takes by [`NewFile::publish`]. Until then a
/// file that has the final name stays as it was, and a new file that is dropped leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    temporary: PathBuf,
    path: PathBuf,
    is_published: bool,
}

impl NewFile {
    /// A new file for a path. A secret one can be read by its owner only, on Unix, from the first moment.
    ///
    /// Where a symbolic link has the name, the file behind it is replaced. A folder, a device or a named pipe
    /// is an error.
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
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = path.with_file_name(format!(".modmill-fhe-{}-{number}.tmp", std::process::id()));
            match create_new(&temporary, is_secret) {
                // A leftover of another process that had the same number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                file => return Ok(Self { file: file?, temporary, path, is_published: false }),
            }
        }
    }

    /// Gives the file its name.
    pub fn publish(mut self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)?;
        self.is_published = true;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_published {
            // Nothing can be done about a temporary file that cannot be removed.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(unix)]
fn create_new(path: &Path, is_secret: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mode = if is_secret { 0o600 } else { 0o666 };
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

#[cfg(not(unix))]
fn create_new(path: &Path, _: bool) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
