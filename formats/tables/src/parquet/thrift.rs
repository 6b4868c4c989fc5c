//! Thrift's compact protocol, as far as lengths need it.

use crate::TableError;

/// The most levels of structures and lists.
const DEPTH: usize = 64;

/// The most structures of a list.
const STRUCTURES: u64 = 1 << 18;

/// The kinds of values that are looked at.
pub(super) const I32: u8 = 5;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Reads values one after the other.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    depth: usize,
}

/// Why a value cannot be read.
#[derive(Debug)]
pub(super) enum ThriftError {
    /// The bytes end within the value.
    Cut,
    /// No value is like that.
    Wrong(&'static str),
}

impl From<ThriftError> for TableError {
    fn from(error: ThriftError) -> Self {
        Self::malformed(match error {
            ThriftError::Cut => "a header of Parquet ends too early",
            ThriftError::Wrong(text) => text,
        })
    }
}

type Result<T> = std::result::Result<T, ThriftError>;

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, depth: 0 }
    }

    /// The bytes that were read.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    fn left(&self) -> u64 {
        (self.bytes.len() - self.position) as u64
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.position).ok_or(ThriftError::Cut)?;
        self.position += 1;
        Ok(byte)
    }

    fn pass(&mut self, bytes: u64) -> Result<()> {
        if bytes > self.left() {
            return Err(ThriftError::Cut);
        }
        self.position += bytes as usize;
        Ok(())
    }

    /// An unsigned number, seven bits a byte, the least significant first.
    pub(super) fn unsigned(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(ThriftError::Wrong("a number in a header of Parquet is too long"))
    }

    /// A number whose last bit is its sign.
    pub(super) fn signed(&mut self) -> Result<i64> {
        let number = self.unsigned()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// A structure. The function `field` gets the number and the kind of each field, and returns whether it
    /// has read the value.
    pub(super) fn structure(
        &mut self,
        mut field: impl FnMut(&mut Self, i64, u8) -> Result<bool>,
    ) -> Result<()> {
        self.deeper(|reader| {
            let mut number = 0;
            loop {
                let head = reader.byte()?;
                let kind = head & 15;
                if kind == 0 {
                    return Ok(());
                }
                number = match head >> 4 {
                    0 => reader.signed()?,
                    step => number + i64::from(step),
                };
                if !field(reader, number, kind)? {
                    reader.skip(kind)?;
                }
            }
        })
    }

    /// The length of a list, and the kind of its elements.
    pub(super) fn list(&mut self) -> Result<(u64, u8)> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.unsigned()?,
            length => length.into(),
        };
        let kind = head & 15;
        // An element takes a byte at least.
        if length > self.left() || (kind == STRUCT && length > STRUCTURES) {
            return Err(ThriftError::Wrong("a list in a header of Parquet is longer than the header"));
        }
        Ok((length, kind))
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self, kind: u8) -> Result<()> {
        match kind {
            // The kind of a field says which it is.
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.unsigned().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.unsigned()?;
                self.pass(length)
            }
            LIST | 10 => self.deeper(|reader| {
                let (length, kind) = reader.list()?;
                (0..length).try_for_each(|_| reader.element(kind))
            }),
            11 => self.deeper(|reader| {
                let length = reader.unsigned()?;
                let kinds = if length == 0 { 0 } else { reader.byte()? };
                (0..length).try_for_each(|_| {
                    reader.element(kinds >> 4)?;
                    reader.element(kinds & 15)
                })
            }),
            STRUCT => self.structure(|_, _, _| Ok(false)),
            _ => Err(ThriftError::Wrong("a header of Parquet has a value of an unknown kind")),
        }
    }

    /// Passes over an element of a list. A truth value takes a byte there.
    fn element(&mut self, kind: u8) -> Result<()> {
        if matches!(kind, 1 | 2) { self.pass(1) } else { self.skip(kind) }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(ThriftError::Wrong("a header of Parquet has too many levels"));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }
}
