//! The pages of a column in a row group.

use super::page::{self, Kind, Page};
use super::{Limits, delta, expand};
use crate::{TableError, guarded};
use bytes::Bytes;
use parquet::basic::{Compression, Type};
use parquet::column::page::{Page as Content, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

/// Values of a column of lists that are free, and those that a byte of its chunk stands for.
const FREE_VALUES: u64 = 1 << 22;
const VALUES_PER_BYTE: u64 = 64;

/// How much longer than its chunk a column of lists may become, if it becomes longer than a page may be.
const LISTS_RATIO: u64 = 16;

/// The numbers of the encodings by a dictionary.
const PLAIN_DICTIONARY: i64 = 2;
const RLE_DICTIONARY: i64 = 8;

/// Bytes that a value of a fixed size takes, at least: offsets, and the levels of nulls.
const VALUE_BYTES: u64 = 16;

/// Checks the pages of a chunk, in a file whose pages end at `end`. Returns how many rows of it may be read
/// at a time.
pub(super) fn rows(
    file: &File,
    chunk: &ColumnChunkMetaData,
    end: u64,
    limits: Limits,
) -> Result<usize, TableError> {
    let (start, length) = place(chunk, end)?;
    let mut pages = Vec::new();
    let mut position = start;
    while position < start + length {
        let page = page::read(file, position, start + length)?;
        if page.kind == Kind::Dictionary && !pages.is_empty() {
            return Err(TableError::malformed("a column has a dictionary after its first page"));
        }
        check_size(file, chunk.compression(), &page, limits)?;
        position = page.start + page.stored;
        pages.push(page);
    }
    let fixed = fixed_bytes(chunk, limits)?;
    let longest = contents(file, chunk, &pages)?.max(fixed);
    let lists = chunk.column_descr().max_rep_level() > 0;
    if lists {
        check_lists(&pages, length, limits)?;
    }
    let mut rows = limits.rows.max(1);
    while rows > 1 && bytes(&pages, rows as u64, longest) > limits.batch {
        rows /= 2;
    }
    Ok(rows)
}

/// The offset of the pages in the file, and their length.
fn place(chunk: &ColumnChunkMetaData, end: u64) -> Result<(u64, u64), TableError> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let parts = (u64::try_from(start), u64::try_from(chunk.compressed_size()));
    match parts {
        (Ok(start), Ok(length)) if start.checked_add(length).is_some_and(|place| place <= end) => {
            Ok((start, length))
        }
        _ => Err(TableError::malformed(format!(
            "the column {} has {} bytes at {start}, outside of the file",
            chunk.column_path(),
            chunk.compressed_size()
        ))),
    }
}

fn check_size(mut file: &File, codec: Compression, page: &Page, limits: Limits) -> Result<(), TableError> {
    let size = if codec == Compression::UNCOMPRESSED { page.stored } else { page.expanded };
    if size > limits.page {
        return Err(TableError::TooLong(format!(
            "a page has {size} bytes; at most {} are taken",
            limits.page
        )));
    }
    if matches!(codec, Compression::GZIP(_) | Compression::BROTLI(_) | Compression::LZ4) {
        file.seek(SeekFrom::Start(page.start + page.levels))?;
        let mut content = Vec::new();
        file.take(page.stored - page.levels).read_to_end(&mut content)?;
        if expand::exceeds(codec, &content, page.expanded - page.levels, limits.page) {
            return Err(TableError::malformed(format!("a page expands to more than its {size} bytes")));
        }
    }
    Ok(())
}

/// The bytes of a value by its type.
fn fixed_bytes(chunk: &ColumnChunkMetaData, limits: Limits) -> Result<u64, TableError> {
    if chunk.column_type() != Type::FIXED_LEN_BYTE_ARRAY {
        return Ok(VALUE_BYTES);
    }
    match u64::try_from(chunk.column_descr().type_length()) {
        Ok(length) if (1..=limits.page).contains(&length) => Ok(length + VALUE_BYTES),
        _ => Err(TableError::malformed(format!(
            "the column {} has values of {} bytes",
            chunk.column_path(),
            chunk.column_descr().type_length()
        ))),
    }
}

/// Looks into the pages whose header does not say how long their values become. Returns the length of the
/// longest value that a value of a page may stand for.
fn contents(file: &File, chunk: &ColumnChunkMetaData, pages: &[Page]) -> Result<u64, TableError> {
    let is_octets = chunk.column_type() == Type::BYTE_ARRAY;
    let is_delta = |page: &Page| {
        page.kind == Kind::Data
            && matches!(page.encoding, delta::DELTA_BYTE_ARRAY | delta::DELTA_LENGTH_BYTE_ARRAY)
    };
    let is_looked_at = |page: &Page| (is_octets && page.kind == Kind::Dictionary) || is_delta(page);
    if !pages.iter().any(is_looked_at) {
        return Ok(0);
    }
    let file = Arc::new(file.try_clone()?);
    let mut longest = 0;
    guarded(|| {
        let mut reader = SerializedPageReader::new(file, chunk, 0, None)?;
        for page in pages.iter().filter(|page| page.kind != Kind::Index) {
            if !is_looked_at(page) {
                reader.skip_next_page()?;
                continue;
            }
            match reader.get_next_page()? {
                Some(Content::DictionaryPage { buf, .. }) => longest = longest.max(longest_plain(&buf)),
                Some(content) => {
                    delta::check(page.encoding, &values(chunk, content)?, page.values)?;
                    // A value may repeat all of the one before it.
                    if page.encoding == delta::DELTA_BYTE_ARRAY {
                        longest = longest.max(page.expanded);
                    }
                }
                None => return Err(TableError::malformed("a column has fewer pages than its headers say")),
            }
        }
        Ok(longest)
    })
}

/// The longest of the byte strings that stand one after the other, each with its length before it.
fn longest_plain(mut bytes: &[u8]) -> u64 {
    let mut longest = 0;
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let length = u32::from_le_bytes(*length);
        longest = longest.max(length);
        bytes = rest.get(length as usize..).unwrap_or_default();
    }
    longest.into()
}

/// The bytes of a page behind its levels.
fn values(chunk: &ColumnChunkMetaData, page: Content) -> Result<Bytes, TableError> {
    let cut = || TableError::malformed("the levels of a page are longer than the page");
    match page {
        Content::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
            let start = def_levels_byte_len as usize + rep_levels_byte_len as usize;
            if start > buf.len() { Err(cut()) } else { Ok(buf.slice(start..)) }
        }
        page => {
            let mut bytes = page.buffer().clone();
            let column = chunk.column_descr();
            // Levels stand behind their length.
            for _ in 0..usize::from(column.max_rep_level() > 0) + usize::from(column.max_def_level() > 0) {
                let length = bytes.first_chunk().copied().map(u32::from_le_bytes).ok_or_else(cut)?;
                let start = 4 + length as usize;
                if start > bytes.len() {
                    return Err(cut());
                }
                bytes = bytes.slice(start..);
            }
            Ok(bytes)
        }
    }
}

/// A row of a column of lists may have all values of its chunk.
fn check_lists(pages: &[Page], stored: u64, limits: Limits) -> Result<(), TableError> {
    let sum = |part: fn(&Page) -> u64| pages.iter().map(part).fold(0, u64::saturating_add);
    let (values, expanded) = (sum(|page| page.values), sum(|page| page.expanded));
    if values > FREE_VALUES.saturating_add(VALUES_PER_BYTE.saturating_mul(stored))
        || expanded > limits.page.max(LISTS_RATIO.saturating_mul(stored))
    {
        return Err(TableError::TooLong(format!(
            "a column of lists has {values} values in {stored} bytes, which expand to {expanded}"
        )));
    }
    Ok(())
}

/// The bytes that `rows` rows take at most, of values of which none is longer than `longest` unless it stands
/// in a plain page.
fn bytes(pages: &[Page], rows: u64, longest: u64) -> u64 {
    let is_by_reference =
        |page: &Page| matches!(page.encoding, PLAIN_DICTIONARY | RLE_DICTIONARY | delta::DELTA_BYTE_ARRAY);
    let data: Vec<&Page> = pages.iter().filter(|page| page.kind == Kind::Data).collect();
    let size = |page: &Page| if is_by_reference(page) { 0 } else { page.expanded };
    // The pages from `first` on that some rows lie in: the rows may begin with the last of a page.
    let (mut end, mut values, mut bytes, mut most) = (0, 0, 0, 0);
    for first in 0..data.len() {
        while end < data.len() && (end <= first + 1 || values - data[first].values < rows) {
            values += data[end].values;
            bytes += size(data[end]);
            end += 1;
        }
        most = most.max(bytes);
        values -= data[first].values;
        bytes -= size(data[first]);
    }
    most.saturating_add(rows.saturating_mul(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(values: u64, expanded: u64, encoding: i64) -> Page {
        Page { kind: Kind::Data, start: 0, stored: 0, expanded, levels: 0, values, encoding }
    }

    /// Rows of plain pages take the pages that they lie in, and rows of a dictionary its longest value.
    #[test]
    fn rows_take_the_pages_that_they_lie_in() {
        let plain = [page(10, 100, 0), page(10, 1000, 0), page(10, 10, 0), page(10, 1, 0)];
        assert_eq!(bytes(&plain, 1, 0), 1100);
        assert_eq!(bytes(&plain, 11, 0), 1110);
        assert_eq!(bytes(&plain, 1000, 0), 1111);
        let single = vec![page(1, 1 << 20, 0); 100];
        assert_eq!(bytes(&single, 64, 0), 65 << 20);
        assert_eq!(bytes(&[page(1 << 20, 100, RLE_DICTIONARY)], 64, 1000), 64_000);
        assert_eq!(bytes(&[], 64, 0), 0);
    }

    #[test]
    fn the_longest_value_of_a_dictionary_is_found() {
        assert_eq!(longest_plain(&[1, 0, 0, 0, 7, 3, 0, 0, 0, 1, 2, 3]), 3);
        assert_eq!(longest_plain(&[]), 0);
        // A length that goes beyond the end counts: the decoder will refuse it.
        assert_eq!(longest_plain(&[255, 255, 255, 255, 1]), u64::from(u32::MAX));
    }
}
