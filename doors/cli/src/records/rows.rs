//! Rows of Arrow's record batches as records: binary or text columns.
//!
//! Parquet and Arrow share everything but how batches are read and written.

use super::beside::FieldSource;
use super::layout::{Layout, Notation};
use super::pace::Pace;
use super::pipeline::{Chunk, Origin, Piece, Source, Stop};
use super::queue::{Receiver, queue};
use super::table::Records;
use crate::failure::Failure;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{Field as Column, Schema, SchemaRef};
use modmill::Engine;
use modmill::hex::HexError;
use modmill_tables::{TableError, guarded};
use rayon::prelude::*;
use std::io;
use std::sync::Arc;

use super::row_values::{Cell, Values};

/// The most rows of a piece, which one thread parses.
const PIECE_ROWS: usize = 4096;
/// The bytes of a piece, about.
const PIECE_BYTES: usize = 4 << 20;
/// The memory for records divided by this is the most that a message or a page may expand to. A batch is in
/// memory while the next one is read.
pub(super) const SHARE: u64 = 8;

/// A file or stream of record batches, opened for reading.
pub(super) struct RowReader {
    pub(super) name: String,
    /// The columns that the batches have.
    pub(super) schema: SchemaRef,
    pub(super) rows: Option<u64>,
    pub(super) batches: Box<dyn Iterator<Item = Result<RecordBatch, TableError>> + Send>,
    /// Whether rows are answered as soon as no further ones arrive.
    pub(super) is_impatient: bool,
}

/// Refuses columns that are not of the layout's types, or that are missing.
pub(super) fn check_columns(layout: &Layout, schema: &Schema) -> Result<(), String> {
    for (index, name) in layout.names().enumerate() {
        match schema.field_with_name(name) {
            Ok(column) if Values::takes(column.data_type()) => {}
            Ok(column) => {
                let kind = column.data_type();
                return Err(format!("the column {name:?} is {kind}; it must be binary or hexadecimal text"));
            }
            Err(_) if index < layout.required.len() => {
                let columns: Vec<&str> =
                    schema.fields().iter().map(|column| column.name().as_str()).collect();
                return Err(format!("no column {name:?} among {}", columns.join(", ")));
            }
            Err(_) => {}
        }
    }
    Ok(())
}

/// The positions of the columns that are read: the fields of records and what stands beside answers.
pub(super) fn columns_read(layout: &Layout, schema: &Schema) -> Vec<usize> {
    let is_read = |name: &str| layout.position(name).is_some() || layout.keeps(name);
    let columns = schema.fields().iter().enumerate();
    columns.filter(|(_, column)| is_read(column.name())).map(|(index, _)| index).collect()
}

/// Reads batches on a thread of its own, and parses them on the threads of the engine.
pub(super) struct RowSource<'a> {
    layout: Layout,
    engine: &'a Engine,
    name: String,
    rows: Option<u64>,
    batches: Receiver<RecordBatch>,
    next_row: u64,
    /// The columns that stand beside the answers.
    kept: Vec<Arc<Column>>,
}

/// The first row of a piece, and the columns that stand beside the answers.
pub(super) struct RowOrigin {
    first_row: u64,
    pub(super) kept: Vec<(Arc<Column>, ArrayRef)>,
}

impl Origin for RowOrigin {
    fn name(&self, record: usize) -> String {
        format!("row {}", self.first_row + record as u64)
    }
}

impl<'a> RowSource<'a> {
    pub(super) fn new(
        layout: Layout,
        reader: RowReader,
        engine: &'a Engine,
        pace: &Arc<Pace>,
    ) -> Result<Self, Failure> {
        let RowReader { name, schema, rows, batches, is_impatient } = reader;
        let kept = schema.fields().iter().filter(|column| layout.keeps(column.name())).cloned().collect();
        let (sender, receiver) = queue(pace.clone(), is_impatient);
        let read = move || {
            let push = |(piece, bytes): (RecordBatch, usize)| {
                let rows = piece.num_rows();
                sender.push(piece, rows, bytes)
            };
            let mut end = Ok(());
            for batch in batches {
                let pieces = batch.and_then(|batch| guarded(|| Ok(pieces(&layout, &batch))));
                match pieces.map(|pieces| pieces.into_iter().all(push)) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(TableError::Io(error)) => {
                        end = Err(error);
                        break;
                    }
                    Err(error) => {
                        end = Err(io::Error::other(error));
                        break;
                    }
                }
            }
            sender.end(end);
        };
        let thread = std::thread::Builder::new().name("reader".to_owned()).spawn(read);
        thread.map_err(|error| Failure::file("read", &name, &error))?;
        Ok(Self { layout, engine, name, rows, batches: receiver, next_row: 1, kept })
    }
}

impl FieldSource for RowSource<'_> {
    fn kept_columns(&self) -> Vec<Arc<Column>> {
        self.kept.clone()
    }
}

/// The pieces of a batch, each with its bytes. None of them copies. Values of dictionaries count for every
/// row that names them.
fn pieces(layout: &Layout, batch: &RecordBatch) -> Vec<(RecordBatch, usize)> {
    let rows = batch.num_rows();
    let (read, others): (Vec<_>, Vec<_>) = (0..batch.num_columns())
        .partition(|&index| layout.position(batch.schema_ref().field(index).name()).is_some());
    let values: Vec<Values<'_>> =
        read.into_iter().filter_map(|index| Values::new(batch.column(index))).collect();
    let size = |index: usize| batch.column(index).to_data().get_slice_memory_size().unwrap_or(0);
    let beside = others.into_iter().map(size).sum::<usize>() / rows.max(1);
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for row in 0..rows {
        bytes += beside + values.iter().map(|values| values.octets(row)).sum::<usize>();
        let count = row + 1 - start;
        if bytes >= PIECE_BYTES || count == PIECE_ROWS || row + 1 == rows {
            pieces.push((batch.slice(start, count), bytes));
            (start, bytes) = (row + 1, 0);
        }
    }
    pieces
}

/// The records of a piece.
fn parse(layout: &Layout, batch: &RecordBatch) -> Records {
    let columns: Vec<Option<Values<'_>>> =
        layout.names().map(|name| batch.column_by_name(name).and_then(Values::new)).collect();
    let octets = |row| columns.iter().flatten().map(|values| values.octets(row)).sum::<usize>();
    let octets = (0..batch.num_rows()).map(octets).sum();
    let mut records = Records::with_room(columns.len(), octets, batch.num_rows());
    for row in 0..batch.num_rows() {
        let start = records.octets_len();
        records.begin();
        if let Err(reason) = parse_row(layout, &columns, row, &mut records) {
            records.drop_last(start);
            records.push_error(reason.into());
        }
    }
    records
}

/// Gives the last record the fields of a row.
fn parse_row(
    layout: &Layout,
    columns: &[Option<Values<'_>>],
    row: usize,
    records: &mut Records,
) -> Result<(), String> {
    for (position, name) in layout.names().enumerate() {
        match columns[position].as_ref().and_then(|values| values.get(row)) {
            None => {}
            Some(Cell::Octets([])) if layout.notation == Notation::Number => {
                return Err(format!("{name}: {}", HexError::Empty));
            }
            Some(Cell::Octets(octets)) => records.set_octets(position, octets, 8 * octets.len()),
            Some(Cell::Text(text)) => {
                let is_read = records.set_text(position, layout.notation, text.as_bytes());
                if !is_read {
                    let reason = layout.notation.parse(text).err().unwrap_or_default();
                    return Err(format!("{name}: {reason}"));
                }
            }
        }
    }
    layout.check_required(|position| records.has(position), "value")
}

impl Source for RowSource<'_> {
    type Origin = RowOrigin;
    const PROGRESS_UNIT: &'static str = "rows";
    const RECORDS: &'static str = "rows";

    fn size(&self) -> Option<u64> {
        self.rows
    }

    fn next_chunk(&mut self) -> Result<Option<Chunk<RowOrigin>>, Failure> {
        let batches = self.batches.take().map_err(|error| Failure::file("read", &self.name, &error))?;
        if batches.is_empty() {
            return Ok(None);
        }
        let layout = &self.layout;
        let records: Vec<Records> =
            self.engine.install(|| batches.par_iter().map(|batch| parse(layout, batch)).collect());
        let mut progress = 0;
        let mut pieces = Vec::with_capacity(records.len());
        for (records, batch) in records.into_iter().zip(batches) {
            let kept = self.kept.iter().filter_map(|column| {
                Some((Arc::clone(column), Arc::clone(batch.column_by_name(column.name())?)))
            });
            let origin = RowOrigin { first_row: self.next_row + progress, kept: kept.collect() };
            progress += batch.num_rows() as u64;
            pieces.push(Piece { records, origin });
        }
        self.next_row += progress;
        Ok(Some(Chunk { pieces, progress }))
    }

    fn stop(&self) -> Stop {
        self.batches.stop()
    }
}
