//! Reading files.

use crate::header::is_name;
use crate::{CHECKSUM, FileError, Header, Kind, MAGIC, VERSION};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use zeroize::Zeroizing;

/// The name and the length of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The name.
    pub name: String,
    /// The number of its bytes.
    pub length: u64,
}

/// Reads a file, section after section. Nothing is buffered, so that no copy of a secret stays behind.
pub struct Reader<R: Read> {
    input: R,
    hash: Sha256,
    header: Header,
    /// The length of the whole file.
    length: u64,
    /// How many bytes were read.
    offset: u64,
    /// The section that is being read.
    section: Option<Section>,
    /// The bytes of that section that are left.
    left: u64,
    is_at_end: bool,
}

impl Reader<File> {
    /// Opens a file and reads its header.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file").into());
        }
        Self::new(file, metadata.len())
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header of a file of `length` bytes.
    pub fn new(input: R, length: u64) -> Result<Self, FileError> {
        let none = Header {
            kind: Kind::Ciphertexts,
            scheme: String::new(),
            fingerprint: [0; 32],
            parameters: Vec::new(),
        };
        let (hash, section) = (Sha256::new(), None);
        let mut reader =
            Self { input, hash, header: none, length, offset: 0, section, left: 0, is_at_end: false };
        reader.header = reader.read_header()?;
        Ok(reader)
    }

    /// The file's description of itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The length of the whole file in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The next section; what is left of the present one is passed over. `None` after the last.
    pub fn next_section(&mut self) -> Result<Option<&Section>, FileError> {
        self.skip()?;
        self.section = None;
        if self.is_at_end {
            return Ok(None);
        }
        let [length] = self.take("the name of a section")?;
        if length == 0 {
            self.is_at_end = true;
            return Ok(None);
        }
        let name = self.name(length, "the name of a section")?;
        let length = u64::from_le_bytes(self.take("the length of a section")?);
        // The end of the sections and the checksum are still to come.
        let left = self.remaining().saturating_sub(1 + CHECKSUM as u64);
        if length > left {
            return Err(FileError::Length { section: name, offset: self.offset, length, left });
        }
        self.left = length;
        Ok(Some(self.section.insert(Section { name, length })))
    }

    /// The next section, which must have this name; returns its length.
    pub fn expect(&mut self, name: &str) -> Result<u64, FileError> {
        let offset = self.offset + self.left;
        let found = match self.next_section()? {
            Some(section) if section.name == name => return Ok(section.length),
            Some(section) => format!("`{}`", section.name),
            None => "the end".to_owned(),
        };
        Err(FileError::Section { expected: name.to_owned(), found, offset })
    }

    /// The next section, which must have this name and length.
    pub fn expect_length(&mut self, name: &str, expected: u64) -> Result<(), FileError> {
        let found = self.expect(name)?;
        if found != expected {
            return Err(FileError::SectionLength { section: name.to_owned(), expected, found });
        }
        Ok(())
    }

    /// Reads bytes of the present section.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<(), FileError> {
        let needed = bytes.len() as u64;
        if needed > self.left {
            let what = "the content of a section";
            return Err(FileError::Truncated { what, offset: self.offset, needed, left: self.left });
        }
        self.fill(bytes, "the content of a section")?;
        self.left -= needed;
        Ok(())
    }

    /// Reads all that is left of the present section.
    pub fn rest(&mut self) -> Result<Zeroizing<Vec<u8>>, FileError> {
        let no_memory = || io::Error::from(io::ErrorKind::OutOfMemory);
        let length = usize::try_from(self.left).map_err(|_| no_memory())?;
        let mut bytes = Zeroizing::new(Vec::new());
        bytes.try_reserve_exact(length).map_err(|_| no_memory())?;
        bytes.resize(length, 0);
        self.read(&mut bytes)?;
        Ok(bytes)
    }

    /// Passes over what is left, and compares the checksum. Before that nothing that was read can be trusted.
    pub fn finish(mut self) -> Result<(), FileError> {
        while self.next_section()?.is_some() {}
        let expected: [u8; CHECKSUM] = self.hash.clone().finalize().into();
        let found: [u8; CHECKSUM] = self.take("the checksum")?;
        if self.remaining() > 0 {
            return Err(FileError::Trailing(self.remaining()));
        }
        if found == expected { Ok(()) } else { Err(FileError::Checksum) }
    }

    fn read_header(&mut self) -> Result<Header, FileError> {
        if self.length < MAGIC.len() as u64 || self.take::<8>("the first bytes")? != MAGIC {
            return Err(FileError::Foreign);
        }
        let version = u32::from_le_bytes(self.take("the version")?);
        if version != VERSION {
            return Err(FileError::Version(version));
        }
        let [kind] = self.take("the kind")?;
        let kind = Kind::of_code(kind).ok_or(FileError::UnknownKind(kind))?;
        let [length] = self.take("the name of the scheme")?;
        let scheme = self.name(length, "the name of the scheme")?;
        let fingerprint = self.take("the fingerprint")?;
        let count = u16::from_le_bytes(self.take("the number of parameters")?);
        let mut parameters = Vec::new();
        for _ in 0..count {
            let [length] = self.take("the name of a parameter")?;
            let name = self.name(length, "the name of a parameter")?;
            parameters.push((name, u64::from_le_bytes(self.take("the value of a parameter")?)));
        }
        Ok(Header { kind, scheme, fingerprint, parameters })
    }

    fn remaining(&self) -> u64 {
        self.length.saturating_sub(self.offset)
    }

    /// Passes over what is left of the present section.
    fn skip(&mut self) -> Result<(), FileError> {
        let mut buffer = vec![0; self.left.min(1 << 20) as usize];
        while self.left > 0 {
            let count = self.left.min(buffer.len() as u64) as usize;
            self.read(&mut buffer[..count])?;
        }
        Ok(())
    }

    fn name(&mut self, length: u8, what: &'static str) -> Result<String, FileError> {
        let offset = self.offset;
        let mut bytes = vec![0; length.into()];
        self.fill(&mut bytes, what)?;
        match String::from_utf8(bytes) {
            Ok(name) if !name.is_empty() && is_name(name.as_bytes()) => Ok(name),
            _ => Err(FileError::Name { what, offset }),
        }
    }

    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], FileError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8], what: &'static str) -> Result<(), FileError> {
        let (needed, left) = (bytes.len() as u64, self.remaining());
        let truncated = FileError::Truncated { what, offset: self.offset, needed, left };
        if needed > left {
            return Err(truncated);
        }
        match self.input.read_exact(bytes) {
            // The file has become shorter.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(truncated),
            read => read?,
        }
        self.hash.update(&*bytes);
        self.offset += needed;
        Ok(())
    }
}
