//! Files of numbers in a folder, in the container of checked files.

use crate::Error;
use crate::error::at;
use modmill::Batch;
use modmill_container::{FileError, Header, Kind, NewFile, Reader, Writer};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The scheme that files of numbers say.
const NUMBERS: &str = "audit-numbers";

/// Limbs that are written or read at a time.
const LIMBS: usize = 1 << 13;

/// A folder of files.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A folder, which is made if it is absent.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        at(path, std::fs::create_dir_all(path))?;
        Ok(Self(path.to_owned()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Locks a file of the folder, which is made if it is absent, for this program alone. The lock ends with
    /// the file that is returned.
    pub(crate) fn lock(&self, name: &str) -> Result<File, Error> {
        let path = self.0.join(name);
        let lock = at(&path, File::options().write(true).create(true).truncate(false).open(&path))?;
        // A program that ends removes the file and then its lock, so that one that was waiting has a file
        // that no other program sees.
        match lock.try_lock().is_ok() && path.is_file() {
            true => Ok(lock),
            false => Err(Error::InUse { path: self.0.clone() }),
        }
    }

    /// Removes the files whose names `is_rest` says so of.
    pub(crate) fn remove(&self, is_rest: impl Fn(&str) -> bool) -> Result<(), Error> {
        for entry in at(&self.0, std::fs::read_dir(&self.0))? {
            let path = at(&self.0, entry)?.path();
            if is_rest(&path.file_name().unwrap_or_default().to_string_lossy()) {
                at(&path, std::fs::remove_file(&path))?;
            }
        }
        Ok(())
    }

    /// Writes a file, which is there as a whole or not at all.
    pub(crate) fn write(
        &self,
        name: &str,
        header: &Header,
        sections: impl FnOnce(&mut Writer<NewFile>) -> Result<(), FileError>,
    ) -> Result<(), Error> {
        let path = self.0.join(name);
        let write = || {
            let mut writer = Writer::create(&path, header)?;
            sections(&mut writer)?;
            writer.publish()
        };
        write().map_err(|fault| Error::file(&path, fault))
    }

    /// Reads a file of a scheme. What was read is right if there is no error.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        scheme: &str,
        sections: impl FnOnce(&mut Reader<File>) -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        let mut reader = Reader::open(&self.0.join(name))?;
        reader.header().expect_scheme(scheme)?;
        let found = sections(&mut reader)?;
        reader.finish()?;
        Ok(found)
    }

    /// Writes a file of numbers, which is there as a whole or not at all.
    pub(crate) fn write_numbers(&self, name: &str, numbers: &Batch) -> Result<(), Error> {
        let limbs = numbers.as_limbs();
        let parameters =
            vec![("bits".to_owned(), numbers.bits() as u64), ("count".to_owned(), numbers.len() as u64)];
        let header =
            Header { kind: Kind::PublicKey, scheme: NUMBERS.to_owned(), fingerprint: [0; 32], parameters };
        self.write(name, &header, |writer| {
            writer.section("limbs", 8 * limbs.len() as u64, |output| write_limbs(output, limbs))
        })
    }

    /// Reads a file of numbers.
    pub(crate) fn read_numbers(&self, name: &str) -> Result<Batch, Error> {
        let read = |reader: &mut Reader<File>| {
            let (bits, count) = (reader.header().parameter("bits")?, reader.header().parameter("count")?);
            let bytes = reader.expect("limbs")?;
            let expected = bits.div_ceil(64).checked_mul(count).and_then(|limbs| limbs.checked_mul(8));
            if bits == 0 || expected != Some(bytes) {
                let (section, expected) = ("limbs".to_owned(), expected.unwrap_or(u64::MAX));
                return Err(FileError::SectionLength { section, expected, found: bytes });
            }
            // The file has as many bytes, so that the lengths fit in memory if anything does.
            let numbers = Batch::try_zeros(bits as usize, count as usize);
            let mut numbers = numbers.map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
            let mut bytes = vec![0; 8 * LIMBS];
            for limbs in numbers.as_limbs_mut().chunks_mut(LIMBS) {
                let bytes = &mut bytes[..8 * limbs.len()];
                reader.read(bytes)?;
                for (limb, bytes) in limbs.iter_mut().zip(bytes.as_chunks().0) {
                    *limb = u64::from_le_bytes(*bytes);
                }
            }
            Ok(numbers)
        };
        self.read(name, NUMBERS, read).map_err(|fault| Error::file(&self.0.join(name), fault))
    }
}

/// Bytes in which numbers and strings follow each other, a string after its length.
pub(crate) struct Strings<'a>(pub(crate) &'a [u8]);

impl Strings<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    pub(crate) fn string(&mut self) -> Option<String> {
        let length = u32::from_le_bytes(self.bytes()?) as usize;
        let (string, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(string.to_vec()).ok()
    }

    /// Limbs after their number.
    pub(crate) fn limbs(&mut self) -> Option<Vec<u64>> {
        let count = u32::from_le_bytes(self.bytes()?) as usize;
        (0..count).map(|_| self.number()).collect()
    }

    /// Appends a string after its length.
    pub(crate) fn push(bytes: &mut Vec<u8>, string: &str) {
        bytes.extend((string.len() as u32).to_le_bytes());
        bytes.extend(string.as_bytes());
    }
}

/// Writes limbs, the least significant byte first.
pub(crate) fn write_limbs(output: &mut dyn Write, limbs: &[u64]) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(8 * limbs.len().min(LIMBS));
    limbs.chunks(LIMBS).try_for_each(|chunk| {
        bytes.clear();
        bytes.extend(chunk.iter().flat_map(|limb| limb.to_le_bytes()));
        output.write_all(&bytes)
    })
}

/// The digits of a file's name that stand for a digest.
const NAME: usize = 32;

/// Whether a part of a file's name is one that [`name`] makes.
pub(crate) fn is_name(part: &str) -> bool {
    part.len() == NAME && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The part of a file's name that stands for a digest.
pub(crate) fn name(digest: &[u8; 32]) -> String {
    digest[..NAME / 2].iter().map(|byte| format!("{byte:02x}")).collect()
}
