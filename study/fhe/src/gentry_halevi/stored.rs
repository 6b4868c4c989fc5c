//! Keys and ciphertexts in files ([`file`](crate::file)).
//!
//! Numbers are little-endian, each of as many bytes as the modulus. All files have the parameters
//! `dimension`, `coefficient_bits`, `security` and `modulus_bits`, and the section `noise` with two doubles:
//! the capacity of the key and the noise of its recrypted ciphertexts, in bits.
//!
//! | file | sections after `noise` |
//! |---|---|
//! | public key | `modulus`, `root`, `multipliers`, `selectors` |
//! | secret key | `modulus`, `root`, `secret` |
//! | ciphertexts, with the parameter `count` | `bounds` (a double for each), `numbers` |

mod numbers;

use super::keys::decode_modulus;
use super::{Ciphertexts, Error, GentryHalevi, PublicKey, SecretKey, Setting};
use modmill::{Batch, Engine};
use modmill_container::{FileError, Header, Kind, Reader, Writer};
use numbers::{limit, read_doubles, read_numbers, write_numbers};
use std::fs::File;
use std::path::Path;

/// The name of the scheme in files.
pub const SCHEME: &str = "gentry-halevi";

/// Why a key or ciphertexts cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content of the file is refused by the scheme.
    #[error(transparent)]
    Scheme(#[from] Error),
}

/// The values that all files of a key have in common.
struct Common {
    setting: Setting,
    /// The capacity of the key, and the noise of recrypted ciphertexts.
    noise: [f64; 2],
}

impl Common {
    fn of(key: &PublicKey) -> Self {
        Self { setting: *key.setting(), noise: [key.capacity(), key.recrypted_noise()] }
    }

    fn create(
        &self,
        path: &Path,
        kind: Kind,
        key: &PublicKey,
        count: Option<usize>,
    ) -> Result<Writer<modmill_container::NewFile>, FileError> {
        let setting = &self.setting;
        let parameters = [
            ("dimension", Some(setting.dimension())),
            ("coefficient_bits", Some(setting.coefficient_bits())),
            ("security", Some(setting.security())),
            ("modulus_bits", Some(key.modulus().bits())),
            ("count", count),
        ];
        let given = parameters.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value? as u64)));
        let header = Header {
            kind,
            scheme: SCHEME.to_owned(),
            fingerprint: *key.fingerprint(),
            parameters: given.collect(),
        };
        let mut writer = Writer::create(path, &header)?;
        writer.bytes("noise", &self.noise.map(f64::to_le_bytes).concat())?;
        Ok(writer)
    }

    /// Opens a file and reads what all files have.
    fn open(path: &Path, kind: Kind) -> Result<(Reader<File>, Self), StoredError> {
        let mut reader = Reader::open(path)?;
        reader.header().expect_kind(kind)?;
        reader.header().expect_scheme(SCHEME)?;
        let parameter = |name| -> Result<usize, FileError> {
            // Whatever is too large for the machine is out of range too.
            Ok(usize::try_from(reader.header().parameter(name)?).unwrap_or(usize::MAX))
        };
        let setting =
            Setting::custom(parameter("dimension")?, parameter("coefficient_bits")?, parameter("security")?)?;
        let noise = read_doubles(&mut reader, "noise", 2)?;
        let [capacity, recrypted] = noise[..] else { return Err(limit("noise").into()) };
        if !(-1e4..1e4).contains(&capacity) || !(0.0..1e4).contains(&recrypted) {
            return Err(limit("noise").into());
        }
        Ok((reader, Self { setting, noise: [capacity, recrypted] }))
    }

    /// Reads the modulus and the root, from which the fingerprint follows, and makes a public key of them
    /// with all that recryption needs, or without.
    fn read_key(&self, reader: &mut Reader<File>, is_whole: bool) -> Result<PublicKey, StoredError> {
        reader.expect("modulus")?;
        let modulus = decode_modulus(&reader.rest()?, &self.setting)?;
        let root = read_numbers(reader, "root", 1, &modulus)?;
        let mut numbers = |name, count| match is_whole {
            true => read_numbers(reader, name, count, &modulus),
            false => Ok(Batch::zeros(modulus.bits(), 0)),
        };
        let multipliers = numbers("multipliers", self.setting.blocks())?;
        let selectors = numbers("selectors", self.setting.selectors())?;
        let key = PublicKey::new(self.setting, modulus, root, multipliers, selectors, self.noise);
        if key.fingerprint() != &reader.header().fingerprint {
            let reason = "does not have the fingerprint that the file says".to_owned();
            return Err(FileError::Content { section: "modulus".to_owned(), reason }.into());
        }
        Ok(key)
    }
}

fn write_key(writer: &mut Writer<modmill_container::NewFile>, key: &PublicKey) -> Result<(), FileError> {
    write_numbers(writer, "modulus", &Batch::from_values([key.modulus().value()]), key.modulus())?;
    write_numbers(writer, "root", key.root(), key.modulus())
}

impl PublicKey {
    /// Writes the key to a file, number by number.
    pub fn write(&self, path: &Path) -> Result<(), StoredError> {
        let mut writer = Common::of(self).create(path, Kind::PublicKey, self, None)?;
        write_key(&mut writer, self)?;
        write_numbers(&mut writer, "multipliers", self.multipliers(), self.modulus())?;
        write_numbers(&mut writer, "selectors", self.selectors(), self.modulus())?;
        Ok(writer.publish()?)
    }

    /// Reads a key from a file, whose lengths, ranges and checksum are checked. [`PublicKey::verify`] checks
    /// the root.
    pub fn read(path: &Path) -> Result<Self, StoredError> {
        let (mut reader, common) = Common::open(path, Kind::PublicKey)?;
        let key = common.read_key(&mut reader, true)?;
        reader.finish()?;
        Ok(key)
    }
}

impl SecretKey {
    /// Writes the key to a file that only its owner can read, with those parts of its public key that
    /// decryption needs.
    pub fn write(&self, public: &PublicKey, path: &Path) -> Result<(), StoredError> {
        if self.fingerprint() != public.fingerprint() {
            return Err(Error::AnotherKey("the secret key").into());
        }
        let mut writer = Common::of(public).create(path, Kind::SecretKey, public, None)?;
        write_key(&mut writer, public)?;
        write_numbers(&mut writer, "secret", self.w(), public.modulus())?;
        Ok(writer.publish()?)
    }
}

/// A secret key that was read from a file, on an engine. It decrypts without the public key, of which it
/// keeps the modulus.
pub struct Decryptor<'e> {
    secret: SecretKey,
    /// With a key that lacks what recryption needs.
    scheme: GentryHalevi<'e>,
}

impl<'e> Decryptor<'e> {
    /// Reads a secret key from a file, whose lengths, ranges and checksum are checked.
    pub fn read(engine: &'e Engine, path: &Path) -> Result<Self, StoredError> {
        let (mut reader, common) = Common::open(path, Kind::SecretKey)?;
        let key = common.read_key(&mut reader, false)?;
        let w = read_numbers(&mut reader, "secret", 1, key.modulus())?;
        reader.finish()?;
        let secret = SecretKey::new(common.setting, w, *key.fingerprint());
        Ok(Self { secret, scheme: GentryHalevi::new(engine, key)? })
    }

    /// The parameters.
    pub fn setting(&self) -> &Setting {
        self.scheme.setting()
    }

    /// Reads ciphertexts of this key from a file.
    pub fn ciphertexts(&self, path: &Path) -> Result<Ciphertexts, StoredError> {
        Ciphertexts::read(self.scheme.engine(), self.scheme.key(), path)
    }

    /// The bits of ciphertexts.
    pub fn decrypt(&self, ciphertexts: &Ciphertexts) -> Result<Vec<bool>, Error> {
        self.scheme.decrypt(&self.secret, ciphertexts)
    }

    /// The exact budget of each ciphertext in bits.
    pub fn exact_budget(&self, ciphertexts: &Ciphertexts) -> Result<Vec<usize>, Error> {
        self.scheme.exact_budget(&self.secret, ciphertexts)
    }
}

impl Ciphertexts {
    /// Writes ciphertexts of a key to a file.
    pub fn write(&self, key: &PublicKey, path: &Path) -> Result<(), StoredError> {
        if self.key() != key.fingerprint() {
            return Err(Error::AnotherKey("a ciphertext").into());
        }
        let mut writer = Common::of(key).create(path, Kind::Ciphertexts, key, Some(self.len()))?;
        let bounds: Vec<u8> = self.noise().iter().flat_map(|noise| noise.to_le_bytes()).collect();
        writer.bytes("bounds", &bounds)?;
        let numbers = self.numbers().download().map_err(Error::from)?;
        write_numbers(&mut writer, "numbers", &numbers, key.modulus())?;
        Ok(writer.publish()?)
    }

    /// Reads ciphertexts of a key from a file, whose lengths, ranges and checksum are checked. The bounds on
    /// noise are taken as they are: whoever wrote the file answers for them.
    pub fn read(engine: &Engine, key: &PublicKey, path: &Path) -> Result<Self, StoredError> {
        let (mut reader, common) = Common::open(path, Kind::Ciphertexts)?;
        if &reader.header().fingerprint != key.fingerprint() || &common.setting != key.setting() {
            return Err(Error::AnotherKey("a ciphertext").into());
        }
        let (count, bounds) = read_bounds(&mut reader)?;
        if bounds.iter().any(|noise| *noise > key.capacity()) {
            return Err(limit("bounds").into());
        }
        let numbers = read_numbers(&mut reader, "numbers", count, key.modulus())?;
        reader.finish()?;
        Ok(Self::new(engine.upload(&numbers).map_err(Error::from)?, bounds, *key.fingerprint()))
    }
}

fn read_bounds(reader: &mut Reader<File>) -> Result<(usize, Vec<f64>), FileError> {
    let count = reader.header().parameter("count")?;
    let count = usize::try_from(count).map_err(|_| limit("bounds"))?;
    let bounds = read_doubles(reader, "bounds", count)?;
    match bounds.iter().all(|noise| (0.0..1e4).contains(noise)) {
        true => Ok((count, bounds)),
        false => Err(limit("bounds")),
    }
}

/// The facts that a file of this scheme tells without a key.
#[derive(Debug, Clone)]
pub struct Description {
    /// The parameters.
    pub setting: Setting,
    /// How many bits of noise decryption tolerates.
    pub capacity: f64,
    /// A bound on the noise of recrypted ciphertexts, in bits.
    pub recrypted_noise: f64,
    /// Bounds on the noise of each ciphertext, in bits; none in the file of a key.
    pub bounds: Vec<f64>,
}

impl Description {
    /// Reads a whole file and checks its checksum. The numbers in it are not looked at.
    pub fn read(path: &Path, kind: Kind) -> Result<Self, StoredError> {
        let (mut reader, Common { setting, noise: [capacity, recrypted_noise] }) = Common::open(path, kind)?;
        let bounds = match kind {
            Kind::Ciphertexts => read_bounds(&mut reader)?.1,
            Kind::PublicKey | Kind::SecretKey => Vec::new(),
        };
        reader.finish()?;
        Ok(Self { setting, capacity, recrypted_noise, bounds })
    }
}
