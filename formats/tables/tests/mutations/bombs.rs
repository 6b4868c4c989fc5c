//! Small tables that say, or become, more than memory has.

use crate::{PARQUET, PROGRAM, parquet_file, stream};
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use arrow_array::{ArrayRef, BinaryArray, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use modmill_tables::{TableError, ipc, parquet};
use std::fs;
use std::sync::Arc;

fn batch(values: &[&[u8]]) -> RecordBatch {
    let column: ArrayRef = Arc::new(BinaryArray::from_iter_values(values));
    RecordBatch::try_from_iter([("base", column)]).unwrap()
}

fn compressed(codec: CompressionType, batch: &RecordBatch) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// A stream whose buffer of `length` bytes says that it has `says`.
fn lying(mut bytes: Vec<u8>, length: usize, says: i64) -> Vec<u8> {
    let at = bytes.windows(8).rposition(|eight| eight == (length as i64).to_le_bytes()).unwrap();
    bytes[at..at + 8].copy_from_slice(&says.to_le_bytes());
    bytes
}

#[test]
fn buffers_that_say_too_much_or_too_little_are_refused() {
    let zeros = vec![0; 4 << 20];
    let small = ipc::Limits { expanded: 1 << 20, ..PROGRAM };
    for codec in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
        let bytes = compressed(codec, &batch(&[&zeros]));
        assert!(bytes.len() < 1 << 15, "{}", bytes.len());
        assert_eq!(stream(&bytes, PROGRAM).unwrap(), 1);
        assert!(matches!(stream(&bytes, small), Err(TableError::TooLong(_))));
        let more = lying(bytes.clone(), zeros.len(), 1 << 46);
        assert!(matches!(stream(&more, PROGRAM), Err(TableError::TooLong(_))));
        // The decoder of LZ4 would go on until its frame ends.
        let less = lying(bytes, zeros.len(), 64);
        assert!(matches!(stream(&less, small), Err(TableError::Malformed(_))));
    }
}

/// A row names a megabyte by one bit: a batch has fewer rows.
#[test]
fn long_values_of_dictionaries_shorten_batches() {
    let long = vec![7; 1 << 20];
    let table = batch(&vec![&long[..]; 40]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dictionary.parquet");
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .set_dictionary_page_size_limit(1 << 22);
    let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties.build())).unwrap();
    writer.write(&table).unwrap();
    let bytes = writer.into_inner().unwrap();
    assert_eq!(parquet_file(&path, &bytes).unwrap(), 40);
    let file = fs::File::open(&path).unwrap();
    let column = parquet::Table::open(&file).unwrap().column(file, 0, PARQUET);
    let longest = column.map(|batch| batch.unwrap().num_rows()).max();
    assert!(longest.is_some_and(|rows| (1..=5).contains(&rows)), "{longest:?} rows of a megabyte");
}

/// A file of `PAR1`, a footer and its length.
fn with_footer(footer: &[u8]) -> Vec<u8> {
    [b"PAR1", footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

#[test]
fn footers_that_say_too_much_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("footer.parquet");
    // Field 4, a list, of 2^34 structures.
    let row_groups = [0x49, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x40, 0];
    // Field 2, a list, of 100 elements with one child each: field 5, a number, 1.
    let levels: Vec<u8> =
        [0x29, 0xfc, 100].into_iter().chain((0..100).flat_map(|_| [0x55, 2, 0])).chain([0]).collect();
    let negative = [0x29, 0x1c, 0x55, 1, 0, 0];
    for (footer, reason) in
        [(&row_groups[..], "longer than the header"), (&levels, "too many levels"), (&negative, "negative")]
    {
        let error = parquet_file(&path, &with_footer(footer)).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}, not {reason}");
    }
    let cut = [&[9; 20][..], &u32::MAX.to_le_bytes(), b"PAR1"].concat();
    assert!(parquet_file(&path, &cut).unwrap_err().to_string().contains("its end is missing"));
}

/// Old writers leave the end mark out, and a stream may not end within a message.
#[test]
fn streams_end_between_messages() {
    let batch = batch(&[b"abc", b""]);
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let whole = writer.get_ref().clone();
    assert_eq!(stream(&whole, PROGRAM).unwrap(), 2);
    for end in [1, 4, 100, whole.len() - 1] {
        assert!(stream(&whole[..end], PROGRAM).is_err(), "{end} bytes");
    }
}
