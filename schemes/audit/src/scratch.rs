//! Files of an audit that was interrupted: the products of subsets and the factors that their numbers share.
//!
//! A file is named by the digest of the numbers that it was computed from, so that it is right for any audit
//! of the same numbers, and no other.

use crate::Error;
use crate::error::at;
use crate::files::{self, Folder};
use crate::widths::Subset;
use modmill::Batch;
use modmill_container::NewFile;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The folder of the results.
const FOLDER: &str = "modmill-audit";
const LOCK: &str = "lock";

/// The beginnings of the names of results, before their digest.
const ROOT: &str = "root-";
const SHARED: &str = "shared-";

/// Whether a file has the name of a result.
fn is_result(name: &str) -> bool {
    [ROOT, SHARED].iter().any(|start| name.strip_prefix(start).is_some_and(files::is_name))
}

/// A folder of intermediate results.
#[derive(Debug)]
pub struct Scratch {
    folder: Folder,
    /// The digest of each subset, by its first index.
    digests: Mutex<HashMap<usize, [u8; 32]>>,
    /// The digest of everything that the moduli are compared with.
    all: Mutex<[u8; 32]>,
    /// Other audits do not use the folder as long as this one does.
    _lock: File,
}

impl Scratch {
    /// Results in the folder `modmill-audit` of a folder, both of which are made if they are absent. The
    /// results of an earlier audit stay there for this one, if `resumes`; otherwise they are removed. Other
    /// files stay as they are.
    ///
    /// One audit at a time uses the folder.
    pub fn open(path: &Path, resumes: bool) -> Result<Self, Error> {
        let folder = Folder::create(&path.join(FOLDER))?;
        let lock = folder.lock(LOCK)?;
        // An audit that was killed has left files that it did not finish.
        folder.remove(|name| NewFile::is_temporary(name) || !resumes && is_result(name))?;
        Ok(Self { folder, digests: Mutex::default(), all: Mutex::default(), _lock: lock })
    }

    /// Removes all results, and the folder if it has no other files.
    pub fn clear(self) -> Result<(), Error> {
        self.folder.remove(|name| name == LOCK || NewFile::is_temporary(name) || is_result(name))?;
        match fs::remove_dir(self.folder.path()) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => at(self.folder.path(), removed),
        }
    }

    /// Says what the moduli are compared with: their own digest, and those of products outside.
    pub(crate) fn begin<'a>(&self, moduli: impl Iterator<Item = &'a [u64]>, outside: &[String]) {
        let mut digest = Sha256::new();
        digest_all(&mut digest, moduli);
        outside.iter().for_each(|name| digest.update(name));
        *self.all.lock() = digest.finalize().into();
        self.digests.lock().clear();
    }

    fn digest<'a>(&self, subset: &Subset, modulus: impl Fn(usize) -> &'a [u64]) -> [u8; 32] {
        let digest = || {
            let mut digest = Sha256::new();
            digest_all(&mut digest, subset.indices.iter().map(|&index| modulus(index)));
            digest.finalize().into()
        };
        let first = subset.indices.first().copied().unwrap_or_default();
        *self.digests.lock().entry(first).or_insert_with(digest)
    }

    fn root_name<'a>(&self, subset: &Subset, modulus: impl Fn(usize) -> &'a [u64]) -> String {
        format!("{ROOT}{}", files::name(&self.digest(subset, modulus)))
    }

    fn divisors_name<'a>(&self, subset: &Subset, modulus: impl Fn(usize) -> &'a [u64]) -> String {
        let mut digest = Sha256::new();
        digest.update(*self.all.lock());
        digest.update(self.digest(subset, modulus));
        format!("{SHARED}{}", files::name(&digest.finalize().into()))
    }

    pub(crate) fn has_root<'a>(
        &self,
        subset: &Subset,
        modulus: impl Fn(usize) -> &'a [u64],
    ) -> Result<bool, Error> {
        Ok(self.folder.path().join(self.root_name(subset, modulus)).is_file())
    }

    pub(crate) fn write_root<'a>(
        &self,
        subset: &Subset,
        modulus: impl Fn(usize) -> &'a [u64],
        root: &Batch,
    ) -> Result<(), Error> {
        self.folder.write_numbers(&self.root_name(subset, modulus), root)
    }

    pub(crate) fn read_root<'a>(
        &self,
        subset: &Subset,
        modulus: impl Fn(usize) -> &'a [u64],
    ) -> Result<Batch, Error> {
        self.folder.read_numbers(&self.root_name(subset, modulus))
    }

    pub(crate) fn write_divisors<'a>(
        &self,
        subset: &Subset,
        modulus: impl Fn(usize) -> &'a [u64],
        divisors: &Batch,
    ) -> Result<(), Error> {
        self.folder.write_numbers(&self.divisors_name(subset, modulus), divisors)
    }

    /// The factors of a subset, if an earlier audit has found them.
    pub(crate) fn read_divisors<'a>(
        &self,
        subset: &Subset,
        modulus: impl Fn(usize) -> &'a [u64],
    ) -> Result<Option<Batch>, Error> {
        let name = self.divisors_name(subset, modulus);
        match self.folder.path().join(&name).is_file() {
            true => self.folder.read_numbers(&name).map(Some),
            false => Ok(None),
        }
    }
}

/// Digests numbers, each after its length.
fn digest_all<'a>(digest: &mut Sha256, numbers: impl Iterator<Item = &'a [u64]>) {
    for number in numbers {
        digest.update((number.len() as u64).to_le_bytes());
        number.iter().for_each(|limb| digest.update(limb.to_le_bytes()));
    }
}
