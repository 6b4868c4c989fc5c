//! The master key: what an operator keeps outside of the store, and without which nobody reads it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modmill_seal::files::write_new;
use modmill_seal::{Cost, KEY, SealError, SecretBytes, Stretch, hex};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// More bytes than a key file has.
const LONGEST: usize = 1024;
/// The shortest passphrase that is taken, in bytes.
const SHORTEST_PASSPHRASE: usize = 12;

/// Why there is no master key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MasterKeyError {
    /// The key file cannot be read or made.
    #[error("the master key's file {path}: {reason}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: io::Error,
    },
    /// The text or the file is not a key.
    #[error("a master key is 32 bytes, in hex or in Base64, and {0} is not")]
    Form(String),
    /// The passphrase is too short.
    #[error("the passphrase is shorter than {SHORTEST_PASSPHRASE} bytes")]
    Passphrase,
    /// The key cannot be made.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// A key that wraps the data key of a store.
#[derive(Clone)]
pub struct MasterKey(Source);

#[derive(Clone)]
enum Source {
    Key(SecretBytes),
    Passphrase(SecretBytes, Cost),
}

impl MasterKey {
    /// A new key.
    pub fn random() -> Result<Self, MasterKeyError> {
        Ok(Self(Source::Key(SecretBytes::random(KEY).map_err(SealError::from)?)))
    }

    /// The key in the file at `path`: 32 bytes, or their text in hex or Base64. A file that others may read
    /// is reported in the log.
    pub fn read(path: &Path) -> Result<Self, MasterKeyError> {
        let unreadable = |reason| MasterKeyError::File { path: path.to_owned(), reason };
        let mut file = std::fs::File::open(path).map_err(unreadable)?;
        let mode = file.metadata().map_err(unreadable)?.permissions().mode();
        if mode & 0o077 != 0 {
            tracing::warn!(path = %path.display(), "others than its owner may use the master key's file: its mode should be 0600");
        }
        // Room for it all at once: memory that grows leaves copies behind.
        let mut bytes = Zeroizing::new(vec![0; LONGEST]);
        let mut len = 0;
        while let Some(room) = bytes.get_mut(len..).filter(|room| !room.is_empty()) {
            match io::Read::read(&mut file, room).map_err(unreadable)? {
                0 => break,
                read => len += read,
            }
        }
        let wrong = || MasterKeyError::Form(format!("what {} holds", path.display()));
        let bytes = bytes.get(..len).ok_or_else(wrong)?;
        if bytes.len() == KEY {
            return Ok(Self(Source::Key(SecretBytes::new(Zeroizing::new(bytes.to_vec())))));
        }
        std::str::from_utf8(bytes).ok().and_then(parse).ok_or_else(wrong)
    }

    /// The key in the file at `path`, which is made with a new key and mode 0600 if it is absent. Of several
    /// processes that do so at once, all get the same key.
    ///
    /// A store that is not empty has a key already: use [`MasterKey::read`] for it, so that a file that was
    /// lost is not replaced by one that opens nothing. [`crate::is_new`] tells.
    pub fn read_or_create(path: &Path) -> Result<Self, MasterKeyError> {
        let bytes = Self::random()?.wrapping_key(None)?;
        let text = Zeroizing::new(STANDARD.encode(bytes.expose()));
        match write_new(path, &[text.as_bytes(), b"\n"]) {
            Err(reason) if reason.kind() != io::ErrorKind::AlreadyExists => {
                Err(MasterKeyError::File { path: path.to_owned(), reason })
            }
            _ => Self::read(path),
        }
    }

    /// The key that `text` holds in hex or Base64. `what` names it in an error, such as the name of a
    /// variable.
    pub fn parse(text: &str, what: &str) -> Result<Self, MasterKeyError> {
        parse(text).ok_or_else(|| MasterKeyError::Form(what.to_owned()))
    }

    /// The key of a passphrase. It is stretched by Argon2id, with a salt that the store's header holds.
    pub fn passphrase(passphrase: SecretBytes) -> Result<Self, MasterKeyError> {
        if passphrase.expose().len() < SHORTEST_PASSPHRASE {
            return Err(MasterKeyError::Passphrase);
        }
        Ok(Self(Source::Passphrase(passphrase, Cost::default())))
    }

    pub(crate) fn is_passphrase(&self) -> bool {
        matches!(self.0, Source::Passphrase(..))
    }

    /// How a new header says that this passphrase is stretched; `None` for a key.
    pub(crate) fn new_stretch(&self) -> Result<Option<Stretch>, SealError> {
        match &self.0 {
            Source::Key(_) => Ok(None),
            Source::Passphrase(_, cost) => Stretch::new(*cost).map(Some),
        }
    }

    /// The key that wraps data keys. Waits for Argon2id.
    pub(crate) fn wrapping_key(&self, stretch: Option<&Stretch>) -> Result<SecretBytes, SealError> {
        match (&self.0, stretch) {
            (Source::Key(key), None) => Ok(key.clone()),
            (Source::Passphrase(passphrase, _), Some(stretch)) => stretch.apply(passphrase),
            _ => Err(SealError::WrongMasterKey),
        }
    }

    /// This passphrase at a cost that tests can bear.
    #[cfg(test)]
    pub(crate) fn cheap(mut self) -> Self {
        if let Source::Passphrase(_, cost) = &mut self.0 {
            *cost = Cost { memory_kib: 64, passes: 1, lanes: 1 };
        }
        self
    }
}

fn parse(text: &str) -> Option<MasterKey> {
    let text = text.trim();
    let bytes = if text.len() == 2 * KEY {
        let mut bytes = Zeroizing::new(vec![0; KEY]);
        hex::decode(text.as_bytes(), &mut bytes)?;
        bytes
    } else {
        Zeroizing::new(STANDARD.decode(text).ok()?)
    };
    (bytes.len() == KEY).then(|| MasterKey(Source::Key(SecretBytes::new(bytes))))
}

#[cfg(test)]
mod tests;
