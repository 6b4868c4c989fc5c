//! Compiled programs on disk.
//!
//! Entries of the cache are executed, in a process that may hold keys. So the folder and every entry must
//! belong to the user and be writable by nobody else. A cache that breaks this rule, or cannot be written to,
//! is not used: programs are compiled anew, and a warning says why.

use crate::digest::Digest;
use modmill_core::sync::Mutex;
use std::env;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The first bytes of an entry; the last of them is the version of the format. Then come the length
/// of the content (8 bytes, little-endian), the digest of key and content, and the content.
const MAGIC: &[u8; 8] = b"MODMILL\x01";
const HEADER: usize = 8 + 8 + 32;

/// A folder of compiled programs, or none.
#[derive(Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
    warnings: Mutex<Vec<String>>,
}

impl Cache {
    /// The user's cache: `MODMILL_CACHE_DIR`, or `modmill` in `XDG_CACHE_HOME` or `~/.cache`; none if
    /// `MODMILL_CACHE` is `off`.
    #[must_use]
    pub fn from_environment() -> Self {
        match folder() {
            Some(folder) => Self::at(folder),
            None if is_off() => Self::off(),
            None => Self::unusable("no folder for the cache: HOME is not set".to_owned()),
        }
    }

    /// No cache: everything is compiled anew.
    #[must_use]
    pub fn off() -> Self {
        Self { folder: None, warnings: Mutex::default() }
    }

    /// A cache in this folder, which is made if it is not there.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        match prepare(&folder) {
            Ok(()) => Self { folder: Some(folder), warnings: Mutex::default() },
            Err(error) => Self::unusable(format!("the cache {} is not used: {error}", folder.display())),
        }
    }

    fn unusable(warning: String) -> Self {
        Self { folder: None, warnings: Mutex::new(vec![warning]) }
    }

    /// Whether there is an entry of this key.
    #[must_use]
    pub fn has(&self, key: &Digest) -> bool {
        self.folder.as_ref().is_some_and(|folder| folder.join(key.to_string()).is_file())
    }

    /// The content under this key, unless it is damaged.
    #[must_use]
    pub fn get(&self, key: &Digest) -> Option<Vec<u8>> {
        let path = self.folder.as_ref()?.join(key.to_string());
        match read(&path) {
            Ok(entry) => content(key, &entry).map(<[u8]>::to_vec),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                self.warn(format!("{} in the cache is not used: {error}", path.display()));
                None
            }
        }
    }

    /// Keeps `content` under this key, in place of an older content.
    pub fn put(&self, key: &Digest, content: &[u8]) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = write(folder, key, content) {
            self.warn(format!("nothing can be kept in the cache {}: {error}", folder.display()));
        }
    }

    /// The faults so far, each once.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.lock().clone()
    }

    fn warn(&self, warning: String) {
        let mut warnings = self.warnings.lock();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

fn is_off() -> bool {
    env::var_os("MODMILL_CACHE").is_some_and(|value| value == "off")
}

/// The folder of the user's cache; `None` if the cache is off.
pub(crate) fn folder() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = || {
        variable("MODMILL_CACHE_DIR")
            .or_else(|| Some(variable("XDG_CACHE_HOME").filter(|path| path.is_absolute())?.join("modmill")))
            .or_else(|| Some(variable("HOME")?.join(".cache/modmill")))
    };
    if is_off() { None } else { found() }
}

/// Makes the folder if it does not exist, and checks that nobody else may write to it.
fn prepare(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    check_owner(&fs::metadata(folder)?)
}

/// Checks that a file or folder belongs to this user and that nobody else may write to it.
#[cfg(unix)]
fn check_owner(metadata: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    match metadata.mode() & 0o022 {
        0 => Ok(()),
        _ => Err(io::Error::other("others may write to it")),
    }
}

#[cfg(not(unix))]
fn check_owner(_: &Metadata) -> io::Result<()> {
    Err(io::Error::other("whether others may write to it cannot be told on this system"))
}

/// Reads an entry. The owner is checked on the open file, so that it cannot be exchanged in between.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    check_owner(&file.metadata()?)?;
    let mut entry = Vec::new();
    file.read_to_end(&mut entry)?;
    Ok(entry)
}

/// The content of an entry, if it is whole and the one for this key.
fn content<'a>(key: &Digest, entry: &'a [u8]) -> Option<&'a [u8]> {
    let (header, content) = entry.split_at_checked(HEADER)?;
    (header == self::header(key, content)).then_some(content)
}

fn header(key: &Digest, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u64).to_le_bytes();
    [&MAGIC[..], &length, Digest::of(&[key.bytes(), content]).bytes()].concat()
}

/// Writes an entry to a temporary file, which the user alone may read, and renames it, so that no reader sees
/// half of it.
fn write(folder: &Path, key: &Digest, content: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(&format!(".{key}.")).tempfile_in(folder)?;
    file.write_all(&header(key, content))?;
    file.write_all(content)?;
    file.persist(folder.join(key.to_string()))?;
    Ok(())
}
