//! The headers of pages.

use super::thrift::{I32, Reader, STRUCT, ThriftError};
use crate::TableError;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// The most bytes of a header. It may hold the least and the greatest value of its page.
const HEADER_BYTES: u64 = 16 << 20;

/// The bytes that are read for a header at first.
const FIRST_BYTES: u64 = 1 << 10;

/// The kinds of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Data,
    Dictionary,
    Index,
}

/// A page, as its header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) kind: Kind,
    /// The end of the header.
    pub(super) start: u64,
    /// The bytes in the file.
    pub(super) stored: u64,
    /// The bytes once it is expanded.
    pub(super) expanded: u64,
    /// The levels before the values, which the second version does not compress.
    pub(super) levels: u64,
    /// The values, nulls included.
    pub(super) values: u64,
    /// The number of the encoding.
    pub(super) encoding: i64,
}

/// Reads the header of the page at `start` of a chunk that ends at `end`.
pub(super) fn read(mut file: &File, start: u64, end: u64) -> Result<Page, TableError> {
    let mut bytes = Vec::new();
    let mut wanted = FIRST_BYTES;
    loop {
        file.seek(SeekFrom::Start(start))?;
        bytes.clear();
        let most = wanted.min(end - start);
        file.take(most).read_to_end(&mut bytes)?;
        match parse(&bytes, start) {
            Err(ThriftError::Cut) if bytes.len() as u64 == wanted && wanted < HEADER_BYTES => wanted *= 16,
            page => return check(page?, end),
        }
    }
}

fn check(page: Page, end: u64) -> Result<Page, TableError> {
    match page.start.checked_add(page.stored) {
        Some(page_end) if page_end <= end && page.levels <= page.stored.min(page.expanded) => Ok(page),
        _ => Err(TableError::malformed(format!(
            "a page of {} bytes at {} is outside of its column",
            page.stored, page.start
        ))),
    }
}

fn parse(bytes: &[u8], start: u64) -> Result<Page, ThriftError> {
    let mut reader = Reader::new(bytes);
    let (mut kind, mut stored, mut expanded) = (None, None, None);
    let (mut values, mut encoding, mut levels) = (0, 0, 0);
    let number = |reader: &mut Reader<'_>| {
        u64::try_from(reader.signed()?).map_err(|_| ThriftError::Wrong("a page has a negative length"))
    };
    reader.structure(|reader, field, field_kind| {
        match (field, field_kind) {
            (1, I32) => kind = Some(number(reader)?),
            (2, I32) => expanded = Some(number(reader)?),
            (3, I32) => stored = Some(number(reader)?),
            // The first version has the encoding in the second field, and the second version in the fourth.
            (5 | 7 | 8, STRUCT) => reader.structure(|reader, inner, inner_kind| {
                match (field, inner, inner_kind) {
                    (_, 1, I32) => values = number(reader)?,
                    (5 | 7, 2, I32) | (8, 4, I32) => encoding = reader.signed()?,
                    (8, 5 | 6, I32) => levels += number(reader)?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let kind = match kind {
        Some(0 | 3) => Kind::Data,
        Some(1) => Kind::Index,
        Some(2) => Kind::Dictionary,
        _ => return Err(ThriftError::Wrong("a page is of an unknown kind")),
    };
    let missing = ThriftError::Wrong("the header of a page lacks a length");
    match (stored, expanded) {
        (Some(stored), Some(expanded)) => Ok(Page {
            kind,
            start: start + reader.position() as u64,
            stored,
            expanded,
            levels,
            values,
            encoding,
        }),
        _ => Err(missing),
    }
}
