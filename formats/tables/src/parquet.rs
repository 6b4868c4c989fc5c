//! Parquet on checked lengths.
//!
//! A file ends with its footer, which says where the chunks of each column lie. A chunk is a sequence of
//! pages with a header each. The schema of Arrow that writers embed in the footer is passed over: the schema
//! of Parquet is enough. Before the decoder reads, these are looked at:
//!
//! * The footer lies in the file, has at most [`FOOTER_BYTES`], and every list in it is as long as it says.
//!   The schema has at most 64 levels and 2^16 columns.
//! * The chunks lie in the file, and their pages in them. A page expands to at most [`Limits::page`] bytes.
//!   Codecs that would expand a page to more than its header says are counted.
//! * A column of lists has at most 2^22 values and 64 more for each byte of its chunk, and expands to
//!   [`Limits::page`] or sixteen times its length in the file.
//! * A batch has as many rows as fit into [`Limits::batch`] by the sizes of pages and the longest value of
//!   the dictionary. It has at least one.

mod chunk;
mod delta;
mod expand;
mod footer;
mod page;
mod thrift;

pub use footer::FOOTER_BYTES;

use crate::{TableError, guarded};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use std::fs::File;

/// How much the pages and the batches of a column may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of a page.
    pub page: u64,
    /// The most bytes of a batch that has more than one row, about.
    pub batch: u64,
    /// The most rows of a batch.
    pub rows: usize,
}

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// A file whose footer was read.
#[derive(Debug, Clone)]
pub struct Table {
    metadata: ArrowReaderMetadata,
    /// The bytes of the file before its footer.
    end: u64,
}

impl Table {
    /// Reads the footer.
    ///
    /// # Errors
    ///
    /// The file is no Parquet file, or its parts lie outside of it.
    pub fn open(file: &File) -> Result<Self, TableError> {
        let end = footer::check(file)?;
        let options = ArrowReaderOptions::default().with_skip_arrow_metadata(true);
        let metadata = guarded(|| Ok(ArrowReaderMetadata::load(file, options)?))?;
        Ok(Self { metadata, end })
    }

    /// The columns.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.metadata.schema().clone()
    }

    /// The number of rows that the footer says.
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).ok()
    }

    /// The mean length of a row in the row group where it is longest, as the footer says.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        let mean = |bytes: i64, rows: i64| bytes.max(0) / rows.max(1);
        let groups = self.metadata.metadata().row_groups().iter();
        let longest = groups.map(|group| mean(group.total_byte_size(), group.num_rows())).max().unwrap_or(0);
        usize::try_from(longest).unwrap_or(usize::MAX)
    }

    /// The batches of the column at a position of the schema. Readers move in their files: `file` is a handle
    /// of this column's own.
    #[must_use]
    pub fn column(&self, file: File, column: usize, limits: Limits) -> Column {
        Column { table: self.clone(), file, column, limits, group: 0, reader: None, has_failed: false }
    }
}

/// The batches of one column. Their lengths are the column's own.
pub struct Column {
    table: Table,
    file: File,
    column: usize,
    limits: Limits,
    /// The next row group.
    group: usize,
    /// The batches of the row group before it.
    reader: Option<ParquetRecordBatchReader>,
    has_failed: bool,
}

impl Column {
    /// Opens the next row group: `false` after the last.
    fn open_group(&mut self) -> Result<bool, TableError> {
        let Self { table, file, column, limits, group, .. } = self;
        let metadata = table.metadata.metadata();
        if *group >= metadata.num_row_groups() {
            return Ok(false);
        }
        let mask = ProjectionMask::roots(table.metadata.parquet_schema(), [*column]);
        let mut rows = limits.rows.max(1);
        for (leaf, chunk) in metadata.row_group(*group).columns().iter().enumerate() {
            if mask.leaf_included(leaf) {
                rows = rows.min(chunk::rows(file, chunk, table.end, *limits)?);
            }
        }
        let reader = guarded(|| {
            let builder =
                ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone()?, table.metadata.clone());
            Ok(builder.with_row_groups(vec![*group]).with_projection(mask).with_batch_size(rows).build()?)
        })?;
        *group += 1;
        self.reader = Some(reader);
        Ok(true)
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        loop {
            if let Some(reader) = &mut self.reader
                && let Some(batch) = guarded(|| Ok(reader.next().transpose()?))?
            {
                return Ok(Some(batch));
            }
            if !self.open_group()? {
                return Ok(None);
            }
        }
    }
}

impl Iterator for Column {
    type Item = Result<RecordBatch, TableError>;

    /// The next batch. The first error is the last item.
    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let batch = self.batch();
        self.has_failed = batch.is_err();
        batch.transpose()
    }
}
