//! Parquet files. Columns are read at the same time, each on a thread of its own.

use super::layout::Layout;
use super::pace::Pace;
use super::row_sink::RowWriter;
use super::rows::{RowReader, SHARE, check_columns, columns_read};
use crate::failure::Failure;
use crate::io::{Output, STANDARD};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use modmill_tables::TableError;
use modmill_tables::parquet::{Column, Limits, Table};
use parquet::arrow::ArrowWriter;
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

/// The bytes of a page that are taken however many columns share the memory.
const LEAST_PAGE_BYTES: u64 = 4 << 20;

/// The batches of a column that are in memory: one that is read, one that waits, one that is handed on.
const BATCHES: u64 = 3;

fn failed(action: &str, name: &str, error: &dyn Display) -> Failure {
    Failure::Usage(format!("cannot {action} {name}: {error}"))
}

/// Opens a Parquet file. `memory` is the memory for records.
pub(super) fn open(layout: &Layout, path: &str, memory: u64, pace: &Pace) -> Result<RowReader, Failure> {
    if path == STANDARD {
        let reason = "Parquet cannot be read from standard input; name a file with --in";
        return Err(Failure::Usage(reason.to_owned()));
    }
    let failed = |error: &dyn Display| failed("read", path, error);
    let open = || File::open(path).map_err(|error| failed(&error));
    let table = Table::open(&open()?).map_err(|error| failed(&error))?;
    let schema = table.schema();
    check_columns(layout, &schema).map_err(|error| failed(&error))?;
    let positions = columns_read(layout, &schema);
    let count = positions.len().max(1) as u64;
    let limits = Limits {
        page: (memory / (2 * SHARE * count)).max(LEAST_PAGE_BYTES),
        batch: memory / (SHARE * BATCHES * count),
        rows: pace.records_of(table.row_bytes()).min(BATCH_ROWS),
    };
    let mut columns = Vec::new();
    for position in positions {
        let column = table.column(open()?, position, limits);
        columns.push(ColumnReader::start(column).map_err(|error| failed(&error))?);
    }
    let batches = Box::new(ColumnReaders(columns));
    Ok(RowReader { name: path.to_owned(), schema, rows: table.rows(), batches, is_impatient: false })
}

/// A column that is decompressed and decoded on a thread of its own.
struct ColumnReader {
    batches: Receiver<Result<RecordBatch, TableError>>,
    /// Rows that wait for those of other columns.
    rows: Option<RecordBatch>,
}

impl ColumnReader {
    fn start(column: Column) -> io::Result<Self> {
        let (sender, batches) = sync_channel(1);
        let read = move || {
            // The receiver leaves when the program ends early.
            let _ = column.into_iter().try_for_each(|batch| sender.send(batch));
        };
        std::thread::Builder::new().name("column".to_owned()).spawn(read)?;
        Ok(Self { batches, rows: None })
    }

    /// The number of rows that there are, 0 at the end.
    fn fill(&mut self) -> Result<usize, TableError> {
        while self.rows.as_ref().is_none_or(|rows| rows.num_rows() == 0) {
            match self.batches.recv() {
                Ok(batch) => self.rows = Some(batch?),
                Err(_) => return Ok(0),
            }
        }
        Ok(self.rows.as_ref().map_or(0, RecordBatch::num_rows))
    }

    /// Takes the first `count` rows.
    fn take(&mut self, count: usize) -> Option<RecordBatch> {
        let rows = self.rows.take()?;
        self.rows = Some(rows.slice(count, rows.num_rows() - count));
        Some(rows.slice(0, count))
    }
}

/// Columns side by side. Each has batches of its own lengths, and rows go as far as the shortest.
struct ColumnReaders(Vec<ColumnReader>);

impl ColumnReaders {
    fn batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let lengths = self.0.iter_mut().map(ColumnReader::fill).collect::<Result<Vec<_>, _>>()?;
        let (least, most) = (lengths.iter().min(), lengths.iter().max());
        let count = match (least, most) {
            (Some(0), Some(0)) | (None, _) | (_, None) => return Ok(None),
            (Some(0), _) => {
                let reason = "columns end at different rows";
                return Err(TableError::Malformed(reason.to_owned()));
            }
            (Some(&least), _) => least,
        };
        let batches: Vec<RecordBatch> = self.0.iter_mut().filter_map(|column| column.take(count)).collect();
        let fields: Vec<_> = batches
            .iter()
            .flat_map(|batch| batch.schema().fields().iter().cloned().collect::<Vec<_>>())
            .collect();
        let values = batches.iter().flat_map(|batch| batch.columns().iter().cloned()).collect();
        Ok(Some(RecordBatch::try_new(Arc::new(Schema::new(fields)), values)?))
    }
}

impl Iterator for ColumnReaders {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}

/// Writes a Parquet file.
pub(super) struct ParquetWriter {
    name: String,
    /// Taken when the file is finished.
    writer: Option<ArrowWriter<Output>>,
}

impl ParquetWriter {
    pub(super) fn create(
        layout: &Layout,
        path: &str,
        mode: Option<u32>,
        columns: SchemaRef,
    ) -> Result<Self, Failure> {
        if path == STANDARD {
            return Err(Failure::Usage("--out names the Parquet file for the answers".to_owned()));
        }
        // Answers are all different and have no order that anybody asks for.
        let properties =
            layout.answer.names().iter().fold(WriterProperties::builder(), |properties, &name| {
                let answer = ColumnPath::from(name);
                properties
                    .set_column_dictionary_enabled(answer.clone(), false)
                    .set_column_statistics_enabled(answer, EnabledStatistics::None)
            });
        let output = Output::create_with(path, mode)?;
        let writer = ArrowWriter::try_new(output, columns, Some(properties.build()));
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
