//! Records of named fields in files, answered in chunks: JSON Lines, Parquet, Arrow, folders of files, single
//! files.
//!
//! A source reads chunks of records, an [`Operation`] answers them, and a sink writes the answers in the
//! order of the records (see `pipeline`). Each format is a file with its source and its sink. A record that
//! cannot be read or answered has an error at its place and costs no other record its answer. Memory holds a
//! few chunks at a time, however long the input is.

#[cfg(feature = "files")]
mod arrow;
#[cfg(feature = "files")]
mod arrow_batches;
mod beside;
mod block_parser;
mod block_pool;
#[cfg(feature = "audit")]
mod collect;
#[cfg(feature = "audit")]
mod csv;
mod file;
mod folder;
mod format;
mod hex_sink;
mod layout;
mod line_parser;
mod line_reader;
mod line_sink;
mod lines;
mod meter;
mod pace;
#[cfg(feature = "files")]
mod parquet;
mod pipeline;
mod plain_line;
mod queue;
#[cfg(feature = "files")]
mod row_sink;
#[cfg(feature = "files")]
mod row_values;
#[cfg(feature = "files")]
mod rows;
mod secret;
mod table;
mod tally;

#[cfg(feature = "audit")]
pub(crate) use collect::collect;
pub(crate) use file::{check_terminal, read_small};
pub(crate) use format::{Format, FormatChoice};
pub(crate) use layout::{AnswerField, FileNames, Layout, Notation, OtherFields};
pub(crate) use pace::CHUNK_TIME;
pub(crate) use pipeline::{FileRules, Operation, Places};
pub(crate) use table::{Answers, Reason, Records, Value};
pub(crate) use tally::Tally;

use crate::failure::Failure;
use crate::io::Output;
use file::{FileSink, FileSource};
use folder::{FolderSink, FolderSource};
use hex_sink::HexSink;
use line_reader::LineKind;
use line_sink::LineSink;
use lines::LineSource;
use modmill::Engine;
use pace::Pace;
use pipeline::answer_all;
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
        (Format::Lines | Format::Parquet | Format::Arrow, _) => {
            places.protected.check(places.output)?;
            answer_fields(operation, places, engine, &pace)
        }
        (Format::Hex, _) => {
            places.protected.check(places.output)?;
            if layout.names().len() != 1 || !matches!(layout.answer, AnswerField::Octets(_)) {
                let reason = "--format hex has one number a line, and this command takes or answers more";
                return Err(Failure::Usage(reason.to_owned()));
            }
            let source = LineSource::open(layout, LineKind::Number, places, engine, &pace)?;
            let output = Output::create_with(places.output, operation.mode())?;
            answer_all(source, HexSink::new(layout, output, engine), operation, places, &pace)
        }
        (Format::Folder, Some(rules)) => {
            let source = FolderSource::open(rules, places, engine, pace.clone())?;
            let sink = FolderSink::create(layout, rules, places, operation.mode(), engine)?;
            answer_all(source, sink, operation, places, &pace)
        }
        (Format::File, Some(rules)) => {
            let source = FileSource::open(layout, rules, places)?;
            let sink = FileSink::create(layout, places, operation.mode())?;
            answer_all(source, sink, operation, places, &pace)
        }
        #[cfg(feature = "audit")]
        (Format::Csv, _) => Err(Failure::Usage("CSV is read by audit alone".to_owned())),
        (Format::Folder | Format::File, None) => Err(Failure::Usage(format!(
            "{} is a folder; name a file of JSON Lines, a Parquet file or an Arrow file",
            places.input()
        ))),
    }
}

/// Answers records with named fields. The input and the output may have different formats.
#[cfg(feature = "files")]
fn answer_fields<P: Operation>(
    operation: &P,
    places: &Places<'_>,
    engine: &Engine,
    pace: &Arc<Pace>,
) -> Result<Tally, Failure> {
    let layout = operation.layout();
    let reader = match places.format {
        Format::Parquet => parquet::open(&layout, places.input(), places.memory, pace)?,
        Format::Arrow => arrow::open(&layout, places.input(), places.memory)?,
        _ => {
            let source = LineSource::open(layout, LineKind::Object, places, engine, pace)?;
            return answer_to(source, operation, places, engine, pace);
        }
    };
    let source = rows::RowSource::new(layout, reader, engine, pace)?;
    answer_to(source, operation, places, engine, pace)
}

/// Answers the records of `source` in the format of the output.
#[cfg(feature = "files")]
fn answer_to<P: Operation, S: beside::FieldSource>(
    source: S,
    operation: &P,
    places: &Places<'_>,
    engine: &Engine,
    pace: &Pace,
) -> Result<Tally, Failure> {
    use row_sink::{RowFormatter, RowSink, answer_schema};
    let (layout, mode, kept) = (operation.layout(), operation.mode(), source.kept_columns());
    if places.output_format == Format::Lines {
        beside::check_text(&kept).map_err(Failure::Usage)?;
        let output = Output::create_with(places.output, mode)?;
        return answer_all(source, LineSink::new(layout, output, engine), operation, places, pace);
    }
    let columns = answer_schema(&layout, kept);
    let formatter = RowFormatter { layout, engine, columns: columns.clone() };
    if places.output_format == Format::Parquet {
        let writer = parquet::ParquetWriter::create(&layout, places.output, mode, columns)?;
        return answer_all(source, RowSink { formatter, writer }, operation, places, pace);
    }
    let writer = arrow::ArrowWriter::create(places.output, mode, &columns)?;
    answer_all(source, RowSink { formatter, writer }, operation, places, pace)
}

/// Answers JSON Lines: this build has no other format with named fields.
#[cfg(not(feature = "files"))]
fn answer_fields<P: Operation>(
    operation: &P,
    places: &Places<'_>,
    engine: &Engine,
    pace: &Arc<Pace>,
) -> Result<Tally, Failure> {
    if (places.format, places.output_format) != (Format::Lines, Format::Lines) {
        return Err(Failure::Usage(format!(
            "{}: this build reads and writes no Parquet and no Arrow; build modmill-cli with --features files",
            places.input()
        )));
    }
    let layout = operation.layout();
    let source = LineSource::open(layout, LineKind::Object, places, engine, pace)?;
    let output = Output::create_with(places.output, operation.mode())?;
    answer_all(source, LineSink::new(layout, output, engine), operation, places, pace)
}
