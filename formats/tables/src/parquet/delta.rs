//! Lengths in pages that are encoded by differences: their decoder allocates for as many values as the page
//! says.

use super::thrift::{Reader, ThriftError};
use crate::TableError;

/// The numbers of the encodings.
pub(super) const DELTA_LENGTH_BYTE_ARRAY: i64 = 6;
pub(super) const DELTA_BYTE_ARRAY: i64 = 7;

/// Checks a page of at most `values` values, of which `bytes` follow the levels.
pub(super) fn check(encoding: i64, bytes: &[u8], values: u64) -> Result<(), TableError> {
    let end = differences(bytes, values)?;
    // Lengths of prefixes, then lengths of suffixes.
    if encoding == DELTA_BYTE_ARRAY
        && let Some(rest) = bytes.get(end..)
    {
        differences(rest, values)?;
    }
    Ok(())
}

/// The end of a sequence of differences.
fn differences(bytes: &[u8], values: u64) -> Result<usize, TableError> {
    let mut reader = Reader::new(bytes);
    let (block, parts, count) = (reader.unsigned()?, reader.unsigned()?, reader.unsigned()?);
    reader.signed()?;
    let wrong = |text: &str| TableError::malformed(format!("a page of differences {text}"));
    if count > values {
        return Err(wrong(&format!("says that it has {count} values of {values}")));
    }
    if parts == 0 || !block.is_multiple_of(parts) || parts > bytes.len() as u64 || block > u64::from(u32::MAX)
    {
        return Err(wrong("has blocks of no size"));
    }
    let part = block / parts;
    if part == 0 && count > 1 {
        return Err(wrong("has blocks of no size"));
    }
    let mut position = reader.position();
    // The first value stands in the header.
    let mut left = count.saturating_sub(1);
    while left > 0 {
        let mut reader = Reader::new(bytes.get(position..).ok_or(ThriftError::Cut)?);
        reader.signed()?;
        position += reader.position();
        let widths = bytes.get(position..position + parts as usize).ok_or(ThriftError::Cut)?;
        position += widths.len();
        for &width in widths {
            // Parts behind the last value have no bytes.
            if left > 0 {
                position += usize::from(width) * part as usize / 8;
                left = left.saturating_sub(part);
            }
        }
    }
    Ok(position)
}
