//! The keystore file: one JSON document for a token.
//!
//! A data key of 32 random bytes seals the private objects. The file has it twice, sealed under a key that
//! Argon2id makes of the user's PIN, and of the security officer's. Objects that are public are as they are,
//! because anybody may read them before a login.

use super::User;
use crate::object::Object;
use crate::refusal::{Answer, Refusal, refuse};
use crate::{codec, object::Attributes};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cryptoki_sys::*;
use modmill_seal::{Cost, KEY, SealError, Sealer, SecretBytes, Stretch, files};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The form of files that this module writes and reads.
const FORMAT: u32 = 1;
/// The fewest and the most bytes of a PIN.
pub(crate) const PIN: [usize; 2] = [4, 255];

/// A token as its file has it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Document {
    format: u32,
    /// 16 hexadecimal digits that no other token has.
    pub(super) serial: String,
    pub(super) label: String,
    /// The handle of the next object. A handle is never used again.
    next: u64,
    officer: Door,
    user: Option<Door>,
    pub(super) objects: BTreeMap<u64, Entry>,
}

/// The data key, sealed under a PIN.
#[derive(Clone, Serialize, Deserialize)]
struct Door {
    stretch: Stretch,
    wrapped: String,
}

/// A stored object.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    /// A number that every change of the object raises.
    pub(super) revision: u64,
    pub(super) private: bool,
    /// The attributes in Base64, sealed if the object is private.
    body: String,
}

/// The data key, open.
pub(super) struct DataKey {
    bytes: SecretBytes,
    sealer: Sealer,
}

impl DataKey {
    fn new(bytes: SecretBytes) -> Answer<Self> {
        let sealer = Sealer::new(&bytes)?;
        Ok(Self { bytes, sealer })
    }
}

impl From<SealError> for Refusal {
    fn from(error: SealError) -> Self {
        Self::new(CKR_DEVICE_ERROR, error.to_string())
    }
}

fn kind(user: User) -> &'static str {
    match user {
        User::Officer => "officer",
        User::Normal => "user",
    }
}

impl Document {
    /// A token without objects, and without a PIN of the user.
    pub(super) fn new(label: &str, pin: &SecretBytes, cost: Cost) -> Answer<Self> {
        let serial = format!("{:016x}", getrandom::u64()?);
        let key = SecretBytes::random(KEY)?;
        let officer = Door::new(User::Officer, &serial, pin, &key, cost)?;
        let label = label.to_owned();
        Ok(Self { format: FORMAT, serial, label, next: 1, officer, user: None, objects: BTreeMap::new() })
    }

    /// Whether the user has a PIN.
    pub(super) fn has_user(&self) -> bool {
        self.user.is_some()
    }

    /// The data key, if `pin` is that of `user`. Waits for Argon2id.
    pub(super) fn open(&self, user: User, pin: &SecretBytes) -> Answer<DataKey> {
        let door = match user {
            User::Officer => &self.officer,
            User::Normal => match &self.user {
                Some(door) => door,
                None => {
                    return refuse(
                        CKR_USER_PIN_NOT_INITIALIZED,
                        "the user has no PIN yet: the officer sets it",
                    );
                }
            },
        };
        let wrapped = STANDARD.decode(&door.wrapped).map_err(|error| damaged(&error))?;
        match Sealer::new(&door.stretch.apply(pin)?)?.open(kind(user), &self.serial, &wrapped) {
            Ok(key) => DataKey::new(SecretBytes::new(key)),
            Err(_) => refuse(CKR_PIN_INCORRECT, "the PIN is wrong"),
        }
    }

    /// Sets the PIN of `user`. Waits for Argon2id.
    pub(super) fn set_pin(&mut self, user: User, pin: &SecretBytes, key: &DataKey, cost: Cost) -> Answer {
        let door = Door::new(user, &self.serial, pin, &key.bytes, cost)?;
        match user {
            User::Officer => self.officer = door,
            User::Normal => self.user = Some(door),
        }
        Ok(())
    }

    /// Adds an object, and returns its handle.
    pub(super) fn add(&mut self, object: &Object, key: Option<&DataKey>) -> Answer<u64> {
        let handle = self.next;
        self.next = handle.checked_add(1).ok_or_else(|| damaged(&"it has no more handles"))?;
        self.put(handle, 1, object, key)?;
        Ok(handle)
    }

    /// Stores `object` instead of the one with this handle.
    pub(super) fn replace(&mut self, handle: u64, object: &Object, key: Option<&DataKey>) -> Answer {
        let revision = self.entry(handle)?.revision + 1;
        self.put(handle, revision, object, key)
    }

    /// Removes the object with this handle.
    pub(super) fn remove(&mut self, handle: u64) -> Answer {
        self.entry(handle)?;
        self.objects.remove(&handle);
        Ok(())
    }

    fn entry(&self, handle: u64) -> Answer<&Entry> {
        let gone = || Refusal::new(CKR_OBJECT_HANDLE_INVALID, "the object is not on the token any more");
        self.objects.get(&handle).ok_or_else(gone)
    }

    fn put(&mut self, handle: u64, revision: u64, object: &Object, key: Option<&DataKey>) -> Answer {
        let plain = codec::encode(object.attributes());
        let private = object.is_private();
        let body = match (private, key) {
            (false, _) => STANDARD.encode(&plain[..]),
            (true, Some(key)) => {
                STANDARD.encode(key.sealer.seal("object", &self.place(handle, revision), &plain)?)
            }
            (true, None) => return refuse(CKR_USER_NOT_LOGGED_IN, "a private object needs a login"),
        };
        self.objects.insert(handle, Entry { revision, private, body });
        Ok(())
    }

    /// The attributes of a stored object. A private one needs the data key.
    pub(super) fn attributes(&self, handle: u64, entry: &Entry, key: Option<&DataKey>) -> Answer<Attributes> {
        let body = STANDARD.decode(&entry.body).map_err(|error| damaged(&error))?;
        let attributes = match (entry.private, key) {
            (false, _) => codec::decode(&body),
            (true, Some(key)) => {
                codec::decode(&key.sealer.open("object", &self.place(handle, entry.revision), &body)?)
            }
            (true, None) => return refuse(CKR_USER_NOT_LOGGED_IN, "a private object needs a login"),
        };
        attributes.ok_or_else(|| damaged(&format!("object {handle} is not a list of attributes")))
    }

    /// The context that a sealed object is bound to, so that it opens nowhere else.
    fn place(&self, handle: u64, revision: u64) -> String {
        format!("{}/{handle}/{revision}", self.serial)
    }
}

impl Door {
    fn new(user: User, serial: &str, pin: &SecretBytes, key: &SecretBytes, cost: Cost) -> Answer<Self> {
        let len = pin.expose().len();
        if !(PIN[0]..=PIN[1]).contains(&len) {
            let reason = format!("a PIN has {} to {} bytes, and this one has {len}", PIN[0], PIN[1]);
            return refuse(CKR_PIN_LEN_RANGE, reason);
        }
        let stretch = Stretch::new(cost)?;
        let wrapped = Sealer::new(&stretch.apply(pin)?)?.seal(kind(user), serial, key.expose())?;
        Ok(Self { stretch, wrapped: STANDARD.encode(wrapped) })
    }
}

fn damaged(reason: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(CKR_TOKEN_NOT_RECOGNIZED, format!("the keystore file is damaged: {reason}"))
}

fn unusable(path: &Path) -> impl Fn(io::Error) -> Refusal {
    move |error| {
        let code = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => CKR_DEVICE_MEMORY,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => CKR_TOKEN_WRITE_PROTECTED,
            _ => CKR_DEVICE_ERROR,
        };
        Refusal::new(code, format!("the keystore file {}: {error}", path.display()))
    }
}

/// The stamp that tells one version of a file from another. Every version is a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp([i64; 4]);

/// The version of the file at `path`; `None` if there is no file.
pub(super) fn stamp(path: &Path) -> Answer<Option<Stamp>> {
    match std::fs::metadata(path) {
        Ok(data) => Ok(Some(Stamp([data.ino() as i64, data.size() as i64, data.ctime(), data.ctime_nsec()]))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(path)(error)),
    }
}

/// The document in the file at `path`.
pub(super) fn read(path: &Path) -> Answer<Document> {
    let bytes = std::fs::read(path).map_err(unusable(path))?;
    let document: Document = serde_json::from_slice(&bytes).map_err(|error| damaged(&error))?;
    match document.format {
        FORMAT => Ok(document),
        other => Err(damaged(&format!("it has form {other}, and this module reads form {FORMAT}"))),
    }
}

/// Writes `document` to `path`. The caller has the lock.
pub(super) fn write(path: &Path, document: &Document) -> Answer {
    let bytes = serde_json::to_vec(document)
        .map_err(|error| Refusal::new(CKR_GENERAL_ERROR, format!("the token cannot be written: {error}")))?;
    files::replace(path, &[&bytes]).map_err(unusable(path))
}

/// The lock of a token's file, held until it is dropped or the process ends in whatever way.
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child that was forked meanwhile has it open too, and would hold
        // the lock. If the system does not let go of it, the lock ends with the file.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Waits until no other process changes the token at `path`.
pub(super) fn lock(path: &Path) -> Answer<Lock> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        files::create_folder(folder).map_err(unusable(folder))?;
    }
    let file = files::open_private(&name).map_err(unusable(&name))?;
    flock(&file, FlockOperation::LockExclusive).map_err(|error| unusable(&name)(error.into()))?;
    let lock = Lock(file);
    files::remove_leftovers(path).map_err(unusable(path))?;
    Ok(lock)
}
