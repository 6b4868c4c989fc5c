//! The footer of a file.

use super::thrift::{I32, LIST, Reader, STRUCT, ThriftError};
use crate::TableError;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// The most bytes of a footer.
pub const FOOTER_BYTES: u64 = 64 << 20;

/// The name that a file begins and ends with.
const MAGIC: &[u8; 4] = b"PAR1";

/// The most levels of a schema.
const LEVELS: usize = 64;

/// The most columns, and the groups of columns, of a schema.
const ELEMENTS: u64 = 1 << 16;

/// The fields of the footer, and of an element of the schema.
const SCHEMA: i64 = 2;
const CHILDREN: i64 = 5;

/// Checks the footer. Returns where it begins.
pub(super) fn check(mut file: &File) -> Result<u64, TableError> {
    let length = file.seek(SeekFrom::End(0))?;
    let no_file = || TableError::malformed("the file is no Parquet file, or its end is missing");
    let mut tail = [0; 8];
    let tail_start = length.checked_sub(tail.len() as u64).ok_or_else(no_file)?;
    file.seek(SeekFrom::Start(tail_start))?;
    file.read_exact(&mut tail)?;
    let (size, magic) = tail.split_at(4);
    if magic == b"PARE" {
        return Err(TableError::Refused("the footer of the file is encrypted".to_owned()));
    }
    let size = u64::from(u32::from_le_bytes(size.try_into().map_err(|_| no_file())?));
    let start = tail_start.checked_sub(size).filter(|_| magic == MAGIC).ok_or_else(no_file)?;
    if size > FOOTER_BYTES {
        let text = format!("the footer of the file has {size} bytes; at most {FOOTER_BYTES} are taken");
        return Err(TableError::TooLong(text));
    }
    file.seek(SeekFrom::Start(start))?;
    let mut footer = Vec::new();
    file.take(size).read_to_end(&mut footer)?;
    Reader::new(&footer).structure(|reader, field, kind| match (field, kind) {
        (SCHEMA, LIST) => schema(reader).map(|()| true),
        _ => Ok(false),
    })?;
    Ok(start)
}

/// Checks that the schema is a tree: each element but the first is the child of one before it.
fn schema(reader: &mut Reader<'_>) -> Result<(), ThriftError> {
    let (elements, kind) = reader.list()?;
    if kind != STRUCT || elements > ELEMENTS {
        return Err(ThriftError::Wrong("the schema of the file has too many columns"));
    }
    // The children that each open level still waits for.
    let mut waiting = vec![1u64];
    for _ in 0..elements {
        let mut children = 0;
        reader.structure(|reader, field, kind| {
            if (field, kind) == (CHILDREN, I32) {
                children = u64::try_from(reader.signed()?)
                    .map_err(|_| ThriftError::Wrong("a column of the file has a negative number of parts"))?;
                return Ok(true);
            }
            Ok(false)
        })?;
        while waiting.last() == Some(&0) {
            waiting.pop();
        }
        match waiting.last_mut() {
            Some(left) => *left -= 1,
            None => return Err(ThriftError::Wrong("the schema of the file has a column too many")),
        }
        waiting.push(children);
        if waiting.len() > LEVELS {
            return Err(ThriftError::Wrong("the schema of the file has too many levels"));
        }
    }
    match waiting.iter().all(|&left| left == 0) {
        true => Ok(()),
        false => Err(ThriftError::Wrong("the schema of the file has too few columns")),
    }
}
