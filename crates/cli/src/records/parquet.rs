//! Parquet: binary columns in, a column of answers and a column of errors out.

use super::layout::{AnswerField, ERROR, Layout};
use super::pipeline::{Answer, CHUNK_BYTES, CHUNK_RECORDS, Chunk, Origin, Record, Sink, Source};
use crate::failure::Failure;
use crate::io::{Output, STANDARD};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, LargeBinaryArray,
    RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field as Column, Schema};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::file::metadata::ParquetMetaData;
use std::fmt::Display;
use std::fs::File;
use std::sync::Arc;

/// Bytes of answers that are gathered before they are written out as a row group.
const ROW_GROUP_BYTES: usize = 32 << 20;

fn failed(action: &str, name: &str, error: &dyn Display) -> Failure {
    Failure::Usage(format!("cannot {action} {name}: {error}"))
}

/// Reads rows.
pub(super) struct RowSource {
    layout: Layout,
    name: String,
    reader: ParquetRecordBatchReader,
    rows: Option<u64>,
    next_row: u64,
    /// The columns that stand beside the answers.
    kept: Vec<Arc<Column>>,
}

/// The first row of a chunk, and the columns that stand beside the answers.
pub(super) struct RowOrigin {
    first_row: u64,
    kept: Vec<ArrayRef>,
}

impl Origin for RowOrigin {
    fn name(&self, record: usize) -> String {
        format!("row {}", self.first_row + record as u64)
    }
}

impl RowSource {
    pub(super) fn open(layout: Layout, path: &str) -> Result<Self, Failure> {
        if path == STANDARD {
            let reason = "Parquet cannot be read from standard input; name a file with --in";
            return Err(Failure::Usage(reason.to_owned()));
        }
        let failed = |error: &dyn Display| failed("read", path, error);
        let file = File::open(path).map_err(|error| failed(&error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| failed(&error))?;
        let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
        let schema = builder.schema().clone();
        for (index, name) in layout.names().enumerate() {
            check_binary(&schema, name, index < layout.required.len()).map_err(|error| failed(&error))?;
        }
        let is_read = |name: &str| layout.position(name).is_some() || layout.keeps(name);
        let columns =
            schema.fields().iter().map(|column| column.name().as_str()).filter(|name| is_read(name));
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns);
        let batch_size = rows_of_chunk(builder.metadata());
        let reader = builder.with_projection(mask).with_batch_size(batch_size).build();
        let kept = schema.fields().iter().filter(|column| layout.keeps(column.name())).cloned().collect();
        let reader = reader.map_err(|error| failed(&error))?;
        Ok(Self { layout, name: path.to_owned(), reader, rows, next_row: 1, kept })
    }

    pub(super) fn kept_columns(&self) -> Vec<Arc<Column>> {
        self.kept.clone()
    }

    fn record(&self, batch: &RecordBatch, row: usize) -> Result<Record, String> {
        let field = |name: &'static str| {
            let octets = batch.column_by_name(name).and_then(|column| octets(column, row));
            let field = octets.map(|octets| self.layout.notation.read(octets));
            field.transpose().map_err(|reason| format!("{name}: {reason}"))
        };
        let record = self.layout.names().map(field).collect::<Result<Record, _>>()?;
        self.layout.check_required(&record, "value")?;
        Ok(record)
    }
}

/// The rows of a chunk, by the mean length of a row in the longest row group.
fn rows_of_chunk(metadata: &ParquetMetaData) -> usize {
    let mean = |bytes: i64, rows: i64| bytes.max(0) / rows.max(1);
    let groups = metadata.row_groups().iter();
    let longest = groups.map(|group| mean(group.total_byte_size(), group.num_rows())).max().unwrap_or(0);
    (CHUNK_BYTES / usize::try_from(longest).unwrap_or(usize::MAX).max(1)).clamp(1, CHUNK_RECORDS)
}

/// Refuses a column that is not binary, or that is needed and missing.
fn check_binary(found: &Schema, name: &str, is_needed: bool) -> Result<(), String> {
    match found.field_with_name(name) {
        Ok(column) => match column.data_type() {
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Ok(()),
            other => Err(format!("the column {name:?} is {other}; it must be binary")),
        },
        Err(_) if is_needed => {
            let columns: Vec<&str> = found.fields().iter().map(|column| column.name().as_str()).collect();
            Err(format!("no column {name:?} among {}", columns.join(", ")))
        }
        Err(_) => Ok(()),
    }
}

/// A value of any of Arrow's binary layouts; `None` if it is missing.
fn octets(column: &ArrayRef, row: usize) -> Option<&[u8]> {
    if column.is_null(row) {
        return None;
    }
    let any = column.as_any();
    if let Some(array) = any.downcast_ref::<BinaryArray>() {
        Some(array.value(row))
    } else if let Some(array) = any.downcast_ref::<LargeBinaryArray>() {
        Some(array.value(row))
    } else if let Some(array) = any.downcast_ref::<BinaryViewArray>() {
        Some(array.value(row))
    } else {
        any.downcast_ref::<FixedSizeBinaryArray>().map(|array| array.value(row))
    }
}

impl Source for RowSource {
    type Origin = RowOrigin;
    const PROGRESS_UNIT: &'static str = "rows";
    const RECORDS: &'static str = "rows";

    fn size(&self) -> Option<u64> {
        self.rows
    }

    fn next_chunk(&mut self) -> Result<Option<Chunk<RowOrigin>>, Failure> {
        let Some(batch) = self.reader.next() else { return Ok(None) };
        let batch = batch.map_err(|error| failed("read", &self.name, &error))?;
        let records = (0..batch.num_rows()).map(|row| self.record(&batch, row)).collect();
        let kept = self.kept.iter().filter_map(|column| batch.column_by_name(column.name()).cloned());
        let origin = RowOrigin { first_row: self.next_row, kept: kept.collect() };
        let progress = batch.num_rows() as u64;
        self.next_row += progress;
        Ok(Some(Chunk { records, origin, progress }))
    }
}

/// Writes a row for each record.
pub(super) struct RowSink {
    layout: Layout,
    name: String,
    columns: Arc<Schema>,
    /// Taken when the file is finished.
    writer: Option<ArrowWriter<Output>>,
}

impl RowSink {
    pub(super) fn create(layout: Layout, path: &str, kept: Vec<Arc<Column>>) -> Result<Self, Failure> {
        if path == STANDARD {
            return Err(Failure::Usage("--out names the Parquet file for the answers".to_owned()));
        }
        let kind = match layout.answer {
            AnswerField::Octets(_) => DataType::Binary,
            AnswerField::Verdict => DataType::Boolean,
        };
        let answer = Arc::new(Column::new(layout.answer.name(), kind, true));
        let error = Arc::new(Column::new(ERROR, DataType::Utf8, true));
        let columns = Arc::new(Schema::new(kept.into_iter().chain([answer, error]).collect::<Vec<_>>()));
        let writer = ArrowWriter::try_new(Output::create(path)?, columns.clone(), None);
        let writer = Some(writer.map_err(|error| failed("write", path, &error))?);
        Ok(Self { layout, name: path.to_owned(), columns, writer })
    }
}

fn answer_column(kind: AnswerField, answers: &[Answer]) -> ArrayRef {
    match kind {
        AnswerField::Octets(_) => {
            let octets = answers.iter().map(|answer| answer.as_ref().ok().map(|octets| octets.as_slice()));
            Arc::new(octets.collect::<BinaryArray>())
        }
        AnswerField::Verdict => {
            Arc::new(answers.iter().map(|answer| Some(answer.is_ok())).collect::<BooleanArray>())
        }
    }
}

impl Sink<RowOrigin> for RowSink {
    const HOLDS_ERRORS: bool = true;

    fn write(&mut self, origin: RowOrigin, answers: &[Answer]) -> Result<(), Failure> {
        let failed = |error: &dyn Display| failed("write", &self.name, error);
        let errors: StringArray = answers.iter().map(|answer| answer.as_ref().err()).collect();
        let mut columns = origin.kept;
        columns.extend([answer_column(self.layout.answer, answers), Arc::new(errors)]);
        let batch = RecordBatch::try_new(self.columns.clone(), columns).map_err(|error| failed(&error))?;
        if let Some(writer) = &mut self.writer {
            writer.write(&batch).map_err(|error| failed(&error))?;
            if writer.in_progress_size() > ROW_GROUP_BYTES {
                writer.flush().map_err(|error| failed(&error))?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let output = writer.into_inner().map_err(|error| failed("write", &self.name, &error));
        output?.finish()
    }
}
