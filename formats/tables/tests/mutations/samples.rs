//! Tables with columns of many types, in every format and codec.

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray,
    Float64Array, Int64Array, LargeBinaryArray, ListArray, NullArray, RecordBatch, StringArray, StructArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use std::sync::Arc;

/// A batch of `rows` rows. Parquet has no column for views of bytes and for nulls.
fn batch(rows: usize, is_parquet: bool) -> RecordBatch {
    let octets = |row: usize| vec![row as u8 + 1; 3 + row % 5];
    let base: ArrayRef = Arc::new(BinaryArray::from_iter_values((0..rows).map(octets)));
    let exp: ArrayRef =
        Arc::new((0..rows).map(|row| (row % 7 != 3).then(|| format!("{row:x}"))).collect::<StringArray>());
    let modulus: ArrayRef =
        Arc::new(FixedSizeBinaryArray::try_from_iter((0..rows).map(|row| [1, row as u8, 3, 5])).unwrap());
    let large: ArrayRef = Arc::new(LargeBinaryArray::from_iter_values((0..rows).map(octets)));
    let names = ["one", "two", "three"];
    let categories: ArrayRef =
        Arc::new((0..rows).map(|row| names.get(row % 4).copied()).collect::<DictionaryArray<Int8Type>>());
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..rows).map(|row| Some((0..row % 4).map(|item| Some(item as i32)))),
    ));
    let number: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows).map(|row| row as i64 - 5)));
    let truth: ArrayRef = Arc::new(BooleanArray::from((0..rows).map(|row| row % 3 == 0).collect::<Vec<_>>()));
    let float: ArrayRef = Arc::new(Float64Array::from_iter_values((0..rows).map(|row| row as f64)));
    let pair: ArrayRef = Arc::new(StructArray::from(vec![
        (Arc::new(Field::new("truth", DataType::Boolean, true)), truth),
        (Arc::new(Field::new("float", DataType::Float64, true)), float),
    ]));
    let mut columns = vec![
        ("base", base),
        ("exp", exp),
        ("mod", modulus),
        ("large", large),
        ("categories", categories),
        ("lists", lists),
        ("number", number),
        ("pair", pair),
    ];
    if !is_parquet {
        let view = (0..rows).map(|row| vec![row as u8; 4 * (row % 6)]);
        columns.push(("view", Arc::new(BinaryViewArray::from_iter_values(view))));
        columns.push(("nothing", Arc::new(NullArray::new(rows))));
    }
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

fn options(codec: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(codec).unwrap()
}

const CODECS: [Option<CompressionType>; 3] =
    [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)];

fn stream(batches: &[RecordBatch], codec: Option<CompressionType>) -> Vec<u8> {
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options(codec)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn streams() -> Vec<Vec<u8>> {
    let batches = [batch(20, false), batch(3, false)];
    CODECS.into_iter().map(|codec| stream(&batches, codec)).collect()
}

/// A stream for the bulk endpoint.
pub(crate) fn digests() -> Vec<u8> {
    let digests = FixedSizeBinaryArray::try_from_iter((0..4).map(|row| [row; 32])).unwrap();
    let column: ArrayRef = Arc::new(digests);
    stream(&[RecordBatch::try_from_iter([("digest", column)]).unwrap()], None)
}

pub(crate) fn files() -> Vec<Vec<u8>> {
    let write = |codec| {
        let batch = batch(20, false);
        let mut writer =
            FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options(codec)).unwrap();
        (0..3).for_each(|_| writer.write(&batch).unwrap());
        writer.finish().unwrap();
        writer.into_inner().unwrap()
    };
    CODECS.into_iter().map(write).collect()
}

/// Every codec, with dictionaries and with differences, in both versions of pages.
pub(crate) fn parquet_files() -> Vec<Vec<u8>> {
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::BROTLI(Default::default()),
        Compression::ZSTD(Default::default()),
    ];
    let write = |(codec, version)| {
        let mut properties = WriterProperties::builder().set_compression(codec).set_writer_version(version);
        if version == WriterVersion::PARQUET_2_0 {
            properties = properties
                .set_dictionary_enabled(false)
                .set_column_encoding(ColumnPath::from("base"), Encoding::DELTA_BYTE_ARRAY)
                .set_column_encoding(ColumnPath::from("exp"), Encoding::DELTA_LENGTH_BYTE_ARRAY);
        }
        let batch = batch(40, true);
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch).unwrap();
        writer.flush().unwrap();
        writer.write(&batch.slice(0, 7)).unwrap();
        writer.into_inner().unwrap()
    };
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    codecs.into_iter().flat_map(|codec| versions.map(|version| (codec, version))).map(write).collect()
}
