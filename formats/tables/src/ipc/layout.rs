//! The buffers of a record batch against its body, before anything is decoded.

use super::Limits;
use crate::TableError;
use arrow_ipc::{CompressionType, FieldNode, MetadataVersion, RecordBatch};
use arrow_schema::{DataType, UnionMode};
use flatbuffers::VectorIter;
use std::io::{self, Read};

/// The most bytes that a byte of LZ4 expands to.
const LZ4_RATIO: u64 = 256;

/// Rows that a column may have however short its message is.
const FREE_ROWS: u64 = 1 << 20;

/// A walk over the columns of a batch, in the order in which the decoder takes their nodes and buffers.
pub(super) struct Layout<'a> {
    body: &'a [u8],
    limits: Limits,
    version: MetadataVersion,
    codec: Option<CompressionType>,
    nodes: VectorIter<'a, FieldNode>,
    buffers: VectorIter<'a, arrow_ipc::Buffer>,
    variadic: std::vec::IntoIter<i64>,
    /// Whether the decoder reads the column. What it passes over is not expanded.
    is_read: bool,
    /// The bytes of all buffers as they stand in the body.
    stored: u64,
    /// The bytes that buffers expand to.
    expanded: u64,
    /// The rows of the longest column.
    rows: u64,
}

impl<'a> Layout<'a> {
    pub(super) fn new(
        batch: &RecordBatch<'a>,
        body: &'a [u8],
        version: MetadataVersion,
        limits: Limits,
    ) -> Result<Self, TableError> {
        let codec = batch.compression().map(|compression| compression.codec());
        match codec {
            Some(_) if limits.expanded == 0 => {
                return Err(TableError::Refused("compressed batches are not taken here".to_owned()));
            }
            None | Some(CompressionType::LZ4_FRAME | CompressionType::ZSTD) => {}
            Some(other) => {
                return Err(TableError::Refused(format!(
                    "a batch is compressed by an unknown codec, number {}",
                    other.0
                )));
            }
        }
        let missing = |part: &str| TableError::malformed(format!("a record batch has no {part}"));
        Ok(Self {
            body,
            limits,
            version,
            codec,
            nodes: batch.nodes().ok_or_else(|| missing("nodes"))?.iter(),
            buffers: batch.buffers().ok_or_else(|| missing("buffers"))?.iter(),
            variadic: batch.variadicBufferCounts().into_iter().flatten().collect::<Vec<_>>().into_iter(),
            is_read: true,
            stored: 0,
            expanded: 0,
            rows: u64::try_from(batch.length())
                .map_err(|_| TableError::malformed("the number of rows of a batch is negative"))?,
        })
    }

    /// Checks all columns, of which the decoder reads those at the positions `read`, or all. Returns the
    /// bytes that the batch will take.
    pub(super) fn check<'t>(
        mut self,
        columns: impl Iterator<Item = &'t DataType>,
        read: Option<&[usize]>,
    ) -> Result<u64, TableError> {
        for (index, kind) in columns.enumerate() {
            self.is_read = read.is_none_or(|read| read.contains(&index));
            self.column(kind)?;
        }
        if self.variadic.next().is_some() {
            return Err(TableError::malformed(
                "a record batch has more counts of buffers than columns of views",
            ));
        }
        let bytes = self.body.len() as u64 + self.expanded;
        if self.rows > bytes.saturating_mul(8).saturating_add(FREE_ROWS) {
            return Err(TableError::malformed(format!(
                "{} rows do not fit into a message of {bytes} bytes",
                self.rows
            )));
        }
        Ok(bytes)
    }

    fn column(&mut self, kind: &DataType) -> Result<(), TableError> {
        self.node()?;
        match kind {
            DataType::Null => Ok(()),
            DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary => self.take(3),
            DataType::Utf8View | DataType::BinaryView => {
                let count = self.variadic.next().and_then(|count| u64::try_from(count).ok());
                let count = count
                    .ok_or_else(|| TableError::malformed("a column of views has no count of its buffers"))?;
                self.take(count.saturating_add(2))
            }
            DataType::List(field) | DataType::LargeList(field) | DataType::Map(field, _) => {
                self.take(2)?;
                self.column(field.data_type())
            }
            DataType::ListView(field) | DataType::LargeListView(field) => {
                self.take(3)?;
                self.column(field.data_type())
            }
            DataType::FixedSizeList(field, _) => {
                self.take(1)?;
                self.column(field.data_type())
            }
            DataType::Struct(fields) => {
                self.take(1)?;
                fields.iter().try_for_each(|field| self.column(field.data_type()))
            }
            DataType::RunEndEncoded(ends, values) => {
                self.column(ends.data_type())?;
                self.column(values.data_type())
            }
            DataType::Union(fields, mode) => {
                // Unions had a buffer of nulls before the fifth version.
                let nulls = u64::from(self.version < MetadataVersion::V5);
                self.take(nulls + if *mode == UnionMode::Dense { 2 } else { 1 })?;
                fields.iter().try_for_each(|(_, field)| self.column(field.data_type()))
            }
            // Numbers, bits, bytes of a fixed size, and the indices of a dictionary: nulls and values.
            _ => self.take(2),
        }
    }

    fn node(&mut self) -> Result<(), TableError> {
        let node =
            self.nodes.next().ok_or_else(|| TableError::malformed("a record batch has too few nodes"))?;
        let (length, nulls) = (u64::try_from(node.length()), u64::try_from(node.null_count()));
        match (length, nulls) {
            (Ok(length), Ok(nulls)) if nulls <= length => {
                self.rows = self.rows.max(length);
                Ok(())
            }
            _ => Err(TableError::malformed(format!(
                "a column has {} rows and {} nulls",
                node.length(),
                node.null_count()
            ))),
        }
    }

    /// Takes the next `count` buffers.
    fn take(&mut self, count: u64) -> Result<(), TableError> {
        (0..count).try_for_each(|_| self.buffer())
    }

    fn buffer(&mut self) -> Result<(), TableError> {
        let buffer =
            self.buffers.next().ok_or_else(|| TableError::malformed("a record batch has too few buffers"))?;
        let place = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = place
            .and_then(|(start, length)| self.body.get(start..start.checked_add(length)?))
            .ok_or_else(|| {
                TableError::malformed(format!(
                    "a buffer of {} bytes at {} is outside of its message of {} bytes",
                    buffer.length(),
                    buffer.offset(),
                    self.body.len()
                ))
            })?;
        self.stored += bytes.len() as u64;
        if self.stored > self.body.len() as u64 {
            return Err(TableError::malformed("the buffers of a record batch overlap"));
        }
        match self.codec {
            Some(codec) if self.is_read && !bytes.is_empty() => self.expand(codec, bytes),
            _ => Ok(()),
        }
    }

    /// Counts what a compressed buffer expands to. Its first eight bytes say it; -1 stands before bytes that
    /// are not compressed.
    fn expand(&mut self, codec: CompressionType, bytes: &[u8]) -> Result<(), TableError> {
        let (length, content) = bytes
            .split_first_chunk()
            .ok_or_else(|| TableError::malformed("a compressed buffer has no length"))?;
        let length = match i64::from_le_bytes(*length) {
            -1 => return Ok(()),
            length => u64::try_from(length).map_err(|_| {
                TableError::malformed(format!("a compressed buffer says that it has {length} bytes"))
            })?,
        };
        self.expanded = self.expanded.saturating_add(length);
        if self.expanded > self.limits.expanded {
            return Err(TableError::TooLong(format!(
                "a compressed batch expands to {} bytes or more; at most {} are taken",
                self.expanded, self.limits.expanded
            )));
        }
        let most = LZ4_RATIO.saturating_mul(content.len() as u64);
        if codec == CompressionType::LZ4_FRAME && most > length && most > self.limits.expanded {
            let decoder = lz4_flex::frame::FrameDecoder::new(content);
            let damaged = |error| TableError::malformed(format!("a compressed buffer is damaged: {error}"));
            if io::copy(&mut decoder.take(length + 1), &mut io::sink()).map_err(damaged)? > length {
                return Err(TableError::malformed(format!(
                    "a compressed buffer expands to more than its {length} bytes"
                )));
            }
        }
        Ok(())
    }
}
