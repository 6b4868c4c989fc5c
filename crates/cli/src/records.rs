//! Records of named fields in files, answered in chunks: JSON Lines, Parquet, folders of files, single files.
//!
//! A source reads chunks of records, an [`Operation`] answers them, and a sink writes the answers in the order of the
//! records (see `pipeline`). Each format is a file with its source and its sink. A record that cannot be read or
//! answered has an error at its place and costs no other record its answer. Memory holds a few chunks at a time,
//! however long the input is.

mod file;
mod folder;
mod format;
mod layout;
mod line_parser;
mod line_reader;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod pipeline;
mod queue;
mod tally;

pub(crate) use file::{check_terminal, read_all};
pub(crate) use format::{Format, FormatChoice};
pub(crate) use layout::{AnswerField, Field, FileNames, Layout, Notation, OtherFields};
pub(crate) use pipeline::{Answer, FileRules, Operation, Places, Record};
pub(crate) use tally::Tally;

use crate::failure::Failure;
use file::{FileSink, FileSource};
use folder::{FolderSink, FolderSource};
use lines::{LineSink, LineSource};
use modmill::Engine;
#[cfg(feature = "parquet")]
use parquet::{RowSink, RowSource};
use pipeline::answer_all;

/// Answers all records and counts them.
pub(crate) fn run(operation: &Operation<'_>, places: &Places<'_>, engine: &Engine) -> Result<Tally, Failure> {
    match (places.format, operation.files) {
        (Format::Lines, _) => {
            places.protected.check(places.output)?;
            let source = LineSource::open(operation.layout, places)?;
            answer_all(source, LineSink::create(operation.layout, places.output)?, operation, places)
        }
        #[cfg(feature = "parquet")]
        (Format::Parquet, _) => {
            places.protected.check(places.output)?;
            let source = RowSource::open(operation.layout, places.input())?;
            let sink = RowSink::create(operation.layout, places.output, source.kept_columns())?;
            answer_all(source, sink, operation, places)
        }
        #[cfg(not(feature = "parquet"))]
        (Format::Parquet, _) => Err(Failure::Usage(format!(
            "{}: this build reads no Parquet; build modmill-cli with --features parquet",
            places.input()
        ))),
        (Format::Folder, Some(rules)) => {
            let source = FolderSource::open(rules, places, engine)?;
            let sink = FolderSink::create(operation.layout, rules, places, engine)?;
            answer_all(source, sink, operation, places)
        }
        (Format::File, Some(rules)) => {
            let source = FileSource::open(operation.layout, rules, places)?;
            answer_all(source, FileSink::create(operation.layout, places)?, operation, places)
        }
        (Format::Folder | Format::File, None) => Err(Failure::Usage(format!(
            "{} is a folder; name a file of JSON Lines or a Parquet file",
            places.input()
        ))),
    }
}
