//! Records of named fields in files, answered in chunks: JSON Lines, Parquet, Arrow, folders of files, single files.
//!
//! A source reads chunks of records, an [`Operation`] answers them, and a sink writes the answers in the order of the
//! records (see `pipeline`). Each format is a file with its source and its sink. A record that cannot be read or
//! answered has an error at its place and costs no other record its answer. Memory holds a few chunks at a time,
//! however long the input is.

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(feature = "parquet")]
mod arrow_batches;
mod block_parser;
mod block_pool;
mod file;
mod folder;
mod format;
mod layout;
mod line_parser;
mod line_reader;
mod line_sink;
mod lines;
mod pace;
#[cfg(feature = "parquet")]
mod parquet;
mod pipeline;
mod plain_line;
mod queue;
#[cfg(feature = "parquet")]
mod row_values;
#[cfg(feature = "parquet")]
mod rows;
mod secret;
mod table;
mod tally;

pub(crate) use file::{check_terminal, read_all};
pub(crate) use format::{Format, FormatChoice};
pub(crate) use layout::{AnswerField, FileNames, Layout, Notation, OtherFields};
pub(crate) use pace::CHUNK_TIME;
pub(crate) use pipeline::{FileRules, Operation, Places};
pub(crate) use table::{Answers, Reason, Records, Value};
pub(crate) use tally::Tally;

use crate::failure::Failure;
use file::{FileSink, FileSource};
use folder::{FolderSink, FolderSource};
use line_sink::LineSink;
use lines::LineSource;
use modmill::Engine;
use pace::Pace;
use pipeline::answer_all;
#[cfg(feature = "parquet")]
use rows::{RowFormatter, RowReader, RowSink, RowSource, RowWriter, answer_schema};
use std::sync::Arc;

/// Answers all records and counts them.
pub(crate) fn run<P: Operation>(
    operation: &P,
    places: &Places<'_>,
    engine: &Engine,
) -> Result<Tally, Failure> {
    let layout = operation.layout();
    let pace = Arc::new(Pace::new(engine, places.memory));
    match (places.format, operation.files()) {
        (Format::Lines, _) => {
            places.protected.check(places.output)?;
            let source = LineSource::open(layout, places, engine, &pace)?;
            let sink = LineSink::create(layout, places.output, engine)?;
            answer_all(source, sink, operation, places, &pace)
        }
        #[cfg(feature = "parquet")]
        (Format::Parquet, _) => {
            places.protected.check(places.output)?;
            let reader = parquet::open(&layout, places.input(), &pace)?;
            answer_rows(operation, places, engine, &pace, reader, |columns| {
                parquet::ParquetWriter::create(&layout, places.output, columns.clone())
            })
        }
        #[cfg(feature = "parquet")]
        (Format::Arrow, _) => {
            places.protected.check(places.output)?;
            let reader = arrow::open(&layout, places.input())?;
            answer_rows(operation, places, engine, &pace, reader, |columns| {
                arrow::ArrowWriter::create(places.output, columns)
            })
        }
        #[cfg(not(feature = "parquet"))]
        (Format::Parquet | Format::Arrow, _) => Err(Failure::Usage(format!(
            "{}: this build reads no Parquet and no Arrow; build modmill-cli with --features parquet",
            places.input()
        ))),
        (Format::Folder, Some(rules)) => {
            let source = FolderSource::open(rules, places, engine, pace.clone())?;
            let sink = FolderSink::create(layout, rules, places, engine)?;
            answer_all(source, sink, operation, places, &pace)
        }
        (Format::File, Some(rules)) => {
            let source = FileSource::open(layout, rules, places)?;
            answer_all(source, FileSink::create(layout, places)?, operation, places, &pace)
        }
        (Format::Folder | Format::File, None) => Err(Failure::Usage(format!(
            "{} is a folder; name a file of JSON Lines, a Parquet file or an Arrow file",
            places.input()
        ))),
    }
}

/// Answers the rows of record batches.
#[cfg(feature = "parquet")]
fn answer_rows<P: Operation, W: RowWriter>(
    operation: &P,
    places: &Places<'_>,
    engine: &Engine,
    pace: &Arc<Pace>,
    reader: RowReader,
    create: impl FnOnce(&arrow_schema::SchemaRef) -> Result<W, Failure>,
) -> Result<Tally, Failure> {
    let layout = operation.layout();
    let source = RowSource::new(layout, reader, engine, pace)?;
    let columns = answer_schema(&layout, source.kept_columns());
    let writer = create(&columns)?;
    let formatter = RowFormatter { layout, engine, columns };
    answer_all(source, RowSink { formatter, writer }, operation, places, pace)
}
