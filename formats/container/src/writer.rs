//! Writing files.

use crate::header::push_name;
use crate::{FileError, Header, Kind, NewFile};
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file, section after section.
pub struct Writer<W: Write> {
    output: Hashed<W>,
}

impl Writer<NewFile> {
    /// Writes to a path. The file takes its name by [`Writer::publish`]. A secret key can be read by its
    /// owner only.
    pub fn create(path: &Path, header: &Header) -> Result<Self, FileError> {
        Self::new(NewFile::create(path, header.kind == Kind::SecretKey)?, header)
    }

    /// Ends the file and gives it its name.
    pub fn publish(self) -> Result<(), FileError> {
        Ok(self.finish()?.publish()?)
    }
}

impl<W: Write> Writer<W> {
    /// Writes a header.
    pub fn new(output: W, header: &Header) -> Result<Self, FileError> {
        let mut output = Hashed { inner: output, hash: Sha256::new(), written: 0 };
        output.write_all(&header.encode()?)?;
        Ok(Self { output })
    }

    /// Writes a section of `length` bytes, which `write` writes. A wrong number of bytes is an error.
    pub fn section(
        &mut self,
        name: &str,
        length: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), FileError> {
        let mut start = Vec::new();
        push_name(&mut start, name)?;
        start.extend(length.to_le_bytes());
        self.output.write_all(&start)?;
        let before = self.output.written;
        write(&mut self.output)?;
        let found = self.output.written - before;
        if found != length {
            return Err(FileError::SectionLength { section: name.to_owned(), expected: length, found });
        }
        Ok(())
    }

    /// Writes a section whose bytes are at hand.
    pub fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        self.section(name, bytes.len() as u64, |output| output.write_all(bytes))
    }

    /// Writes the end and the checksum.
    pub fn finish(mut self) -> Result<W, FileError> {
        self.output.write_all(&[0])?;
        let Hashed { mut inner, hash, .. } = self.output;
        inner.write_all(&hash.finalize())?;
        inner.flush()?;
        Ok(inner)
    }
}

/// An output that hashes and counts what passes.
struct Hashed<W> {
    inner: W,
    hash: Sha256,
    written: u64,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hash.update(&bytes[..count]);
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
