//! Machine code made in advance, in one file, for hosts without a compiler.
//!
//! The file: a magic number whose last byte is the version of the format, the number of entries (8
//! bytes, little-endian as all numbers here), for each entry its key (32 bytes), the digest of key and
//! code (32), where the code begins (8) and its length (8), and then all code.

use crate::digest::Digest;
use modmill_core::sync::Mutex;
use std::collections::HashMap;
use std::env;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The name of a bundle in the program's folder.
pub const FILE: &str = "modmill-cubins.bin";

const MAGIC: &[u8; 8] = b"MODMCUB\x01";
const ENTRY: usize = 32 + 32 + 8 + 8;

/// Machine code with its key, which is that of [`code_key`](crate::compiler::code_key).
pub type MachineCodeEntry = (Digest, Vec<u8>);

/// Writes a bundle to a file.
pub fn write(path: &Path, entries: &[MachineCodeEntry]) -> io::Result<()> {
    write_to(BufWriter::new(File::create(path)?), entries)
}

/// Writes a bundle.
pub fn write_to(mut file: impl Write, entries: &[MachineCodeEntry]) -> io::Result<()> {
    file.write_all(MAGIC)?;
    file.write_all(&(entries.len() as u64).to_le_bytes())?;
    let mut place = 16 + entries.len() * ENTRY;
    for (key, code) in entries {
        file.write_all(key.bytes())?;
        file.write_all(Digest::of(&[key.bytes(), code]).bytes())?;
        file.write_all(&(place as u64).to_le_bytes())?;
        file.write_all(&(code.len() as u64).to_le_bytes())?;
        place += code.len();
    }
    entries.iter().try_for_each(|(_, code)| file.write_all(code))?;
    file.flush()
}

/// The place of an entry's code, and its digest.
#[derive(Debug)]
struct Entry {
    digest: Digest,
    place: u64,
    length: u64,
}

/// An open bundle.
#[derive(Debug)]
pub struct Bundle {
    file: Mutex<File>,
    entries: HashMap<Digest, Entry>,
}

impl Bundle {
    /// The bundle that `MODMILL_CUDA_BUNDLE` names, or the one in the program's folder if there is one. An
    /// error says why a bundle that exists cannot be used.
    pub(crate) fn from_environment() -> Result<Option<Self>, String> {
        let beside = || Some(env::current_exe().ok()?.with_file_name(FILE)).filter(|path| path.exists());
        let Some(path) = env::var_os("MODMILL_CUDA_BUNDLE").map(PathBuf::from).or_else(beside) else {
            return Ok(None);
        };
        let unusable = |error| format!("the bundle {} is not used: {error}", path.display());
        Self::open(&path).map(Some).map_err(unusable)
    }

    /// Opens a bundle and reads its list of entries.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        check_writers(&file.metadata()?)?;
        let bytes = file.metadata()?.len();
        let broken = || io::Error::other("it is not a bundle, or a broken one");
        let mut head = [0; 16];
        file.read_exact(&mut head)?;
        let (magic, count) = head.split_at(8);
        let count = number(count);
        if magic != MAGIC || count > bytes / ENTRY as u64 {
            return Err(broken());
        }
        let mut index = vec![0; count as usize * ENTRY];
        file.read_exact(&mut index)?;
        let mut entries = HashMap::new();
        for entry in index.chunks_exact(ENTRY) {
            let digest = |at: usize| Digest::new(std::array::from_fn(|byte| entry[at + byte]));
            let (place, length) = (number(&entry[64..72]), number(&entry[72..80]));
            if place.checked_add(length).is_none_or(|end| end > bytes) {
                return Err(broken());
            }
            entries.insert(digest(0), Entry { digest: digest(32), place, length });
        }
        Ok(Self { file: Mutex::new(file), entries })
    }

    /// The code under this key, unless it is damaged.
    #[must_use]
    pub fn get(&self, key: &Digest) -> Option<Vec<u8>> {
        let entry = self.entries.get(key)?;
        let mut code = vec![0; entry.length as usize];
        let mut file = self.file.lock();
        file.seek(SeekFrom::Start(entry.place)).ok()?;
        file.read_exact(&mut code).ok()?;
        (Digest::of(&[key.bytes(), &code]) == entry.digest).then_some(code)
    }
}

/// Eight bytes as a number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Checks that the file is not writable by everybody: its code is executed.
fn check_writers(metadata: &std::fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(metadata) & 0o002 != 0 {
        return Err(io::Error::other("anybody may write to it"));
    }
    let _ = metadata;
    Ok(())
}
