//! Parquet files. Columns are read beside each other, each on a thread of its own.

use super::layout::Layout;
use super::pace::Pace;
use super::rows::{RowReader, RowWriter, check_columns, columns_read};
use crate::failure::Failure;
use crate::io::{Output, STANDARD};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

/// Bytes of answers that are gathered before they are written out as a row group.
const ROW_GROUP_BYTES: usize = 32 << 20;

/// The most rows that are read at a time.
const BATCH_ROWS: usize = 8192;

fn failed(action: &str, name: &str, error: &dyn Display) -> Failure {
    Failure::Usage(format!("cannot {action} {name}: {error}"))
}

/// Opens a Parquet file.
pub(super) fn open(layout: &Layout, path: &str, pace: &Pace) -> Result<RowReader, Failure> {
    if path == STANDARD {
        let reason = "Parquet cannot be read from standard input; name a file with --in";
        return Err(Failure::Usage(reason.to_owned()));
    }
    let failed = |error: &dyn Display| failed("read", path, error);
    let open = || File::open(path).map_err(|error| failed(&error));
    let metadata = ArrowReaderMetadata::load(&open()?, ArrowReaderOptions::default());
    let metadata = metadata.map_err(|error| failed(&error))?;
    let rows = u64::try_from(metadata.metadata().file_metadata().num_rows()).ok();
    let schema = metadata.schema().clone();
    check_columns(layout, &schema).map_err(|error| failed(&error))?;
    let batch_size = pace.records_of(row_bytes(metadata.metadata())).min(BATCH_ROWS);
    let mut columns = Vec::new();
    for column in columns_read(layout, &schema) {
        // Readers move in their files: each has one of its own.
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(open()?, metadata.clone());
        let mask = ProjectionMask::roots(builder.parquet_schema(), [column]);
        let reader = builder.with_projection(mask).with_batch_size(batch_size).build();
        columns.push(
            ColumnReader::start(reader.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?,
        );
    }
    let batches = Box::new(ColumnReaders(columns));
    Ok(RowReader { name: path.to_owned(), schema, rows, batches, is_impatient: false })
}

/// A column that is decompressed and decoded on a thread of its own.
struct ColumnReader(Receiver<Result<RecordBatch, ArrowError>>);

impl ColumnReader {
    fn start(reader: ParquetRecordBatchReader) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(1);
        let read = move || {
            // The receiver leaves when the program ends early.
            let _ = reader.into_iter().try_for_each(|batch| sender.send(batch));
        };
        std::thread::Builder::new().name("column".to_owned()).spawn(read)?;
        Ok(Self(receiver))
    }
}

/// Columns side by side: a batch of each makes a batch of rows.
struct ColumnReaders(Vec<ColumnReader>);

impl Iterator for ColumnReaders {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let columns: Vec<Option<_>> = self.0.iter().map(|column| column.0.recv().ok()).collect();
        if columns.iter().all(Option::is_none) {
            return None;
        }
        let missing = || ArrowError::ParquetError("columns end at different rows".to_owned());
        let columns = columns.into_iter().map(|batch| batch.ok_or_else(missing)?);
        Some(columns.collect::<Result<Vec<_>, _>>().and_then(|batches| {
            let fields: Vec<_> = batches
                .iter()
                .flat_map(|batch| batch.schema().fields().iter().cloned().collect::<Vec<_>>())
                .collect();
            let values = batches.iter().flat_map(|batch| batch.columns().iter().cloned()).collect();
            RecordBatch::try_new(Arc::new(Schema::new(fields)), values)
        }))
    }
}

/// The mean length of a row in the row group where it is longest.
fn row_bytes(metadata: &ParquetMetaData) -> usize {
    let mean = |bytes: i64, rows: i64| bytes.max(0) / rows.max(1);
    let groups = metadata.row_groups().iter();
    let longest = groups.map(|group| mean(group.total_byte_size(), group.num_rows())).max().unwrap_or(0);
    usize::try_from(longest).unwrap_or(usize::MAX)
}

/// Writes a Parquet file.
pub(super) struct ParquetWriter {
    name: String,
    /// Taken when the file is finished.
    writer: Option<ArrowWriter<Output>>,
}

impl ParquetWriter {
    pub(super) fn create(layout: &Layout, path: &str, columns: SchemaRef) -> Result<Self, Failure> {
        if path == STANDARD {
            return Err(Failure::Usage("--out names the Parquet file for the answers".to_owned()));
        }
        // Answers are all different and have no order that anybody asks for.
        let answer = ColumnPath::from(layout.answer.name());
        let properties = WriterProperties::builder()
            .set_column_dictionary_enabled(answer.clone(), false)
            .set_column_statistics_enabled(answer, EnabledStatistics::None)
            .build();
        let writer = ArrowWriter::try_new(Output::create(path)?, columns, Some(properties));
        let writer = Some(writer.map_err(|error| failed("write", path, &error))?);
        Ok(Self { name: path.to_owned(), writer })
    }
}

impl RowWriter for ParquetWriter {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let written = writer.write(batch).and_then(|()| match writer.in_progress_size() > ROW_GROUP_BYTES {
            true => writer.flush(),
            false => Ok(()),
        });
        written.map_err(|error| failed("write", &self.name, &error))
    }

    fn flush(&mut self) -> Result<(), Failure> {
        // A row group is written when it is full.
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let output = writer.into_inner().map_err(|error| failed("write", &self.name, &error));
        output?.finish()
    }
}
