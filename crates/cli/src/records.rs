//! Records of named fields in files, answered in chunks: JSON Lines, Parquet, folders of files, single files.
//!
//! A [`Source`] reads chunks of records, an [`Operation`] answers them, and a [`Sink`] writes the answers in the
//! order of the records. A record that cannot be read or answered has an error at its place and costs no other
//! record its answer. Memory holds a few chunks at a time, however long the input is.

mod file;
mod folder;
mod format;
mod layout;
mod line_parser;
mod line_reader;
mod lines;
#[cfg(feature = "parquet")]
mod parquet;
mod queue;
mod tally;

pub(crate) use file::{check_terminal, read_all};
pub(crate) use format::{Format, FormatChoice};
pub(crate) use layout::{AnswerField, Field, FileNames, Layout, Notation, OtherFields};
pub(crate) use tally::Tally;

use crate::failure::{Failure, say};
use crate::io::{Protected, reads_terminal};
use crate::progress::Bar;
use file::{FileSink, FileSource};
use folder::{FolderSink, FolderSource};
use lines::{LineSink, LineSource};
use modmill::Engine;
use modmill_rsa::Hash;
#[cfg(feature = "parquet")]
use parquet::{RowSink, RowSource};
use zeroize::Zeroizing;

/// The most records of a chunk: enough to fill the lanes of every thread in each of several shapes.
const CHUNK_RECORDS: usize = 4096;
/// The number of input bytes after which a chunk takes no further record.
const CHUNK_BYTES: usize = 64 << 20;

/// The fields of a record in the order of its [`Layout`]; optional fields may be missing.
pub(crate) type Record = Vec<Option<Field>>;

/// The octets that answer a record, or why there are none. A verdict has no octets.
pub(crate) type Answer = Result<Zeroizing<Vec<u8>>, String>;

/// Answers records in order.
pub(crate) type Compute<'a> = dyn Fn(&[Record]) -> Result<Vec<Answer>, Failure> + 'a;

/// What is computed for each record.
pub(crate) struct Operation<'a> {
    pub(crate) layout: Layout,
    /// How fields are read from files; `None` if records have to be lines or rows.
    pub(crate) files: Option<FileRules>,
    pub(crate) compute: &'a Compute<'a>,
}

/// How records are read from files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileRules {
    /// The names of files in folders.
    pub(crate) names: FileNames,
    /// The hash function whose digest stands for the first field. It is computed while the file is read.
    pub(crate) hash: Option<Hash>,
}

/// Where records are and where their answers go.
pub(crate) struct Places<'a> {
    pub(crate) format: Format,
    /// Whether the user asked for this format. Otherwise it was guessed from names.
    pub(crate) is_format_given: bool,
    /// The file or folder of records; after it, for files and folders, the places of the further fields.
    pub(crate) inputs: Vec<&'a str>,
    pub(crate) output: &'a str,
    /// Files that may not be overwritten.
    pub(crate) protected: Protected,
    /// The most bytes of a line.
    pub(crate) max_line: u64,
    pub(crate) quiet: bool,
}

impl Places<'_> {
    fn input(&self) -> &str {
        self.inputs[0]
    }
}

/// Some records, and what a sink has to know about them.
struct Chunk<P> {
    records: Vec<Result<Record, String>>,
    origin: P,
    /// How far the progress bar moves when the chunk is answered.
    progress: u64,
}

/// Where the records of a chunk come from.
trait Origin {
    /// The name of a record for people, such as `line 3`.
    fn name(&self, record: usize) -> String;
}

trait Source {
    type Origin: Origin;
    /// The unit of [`Chunk::progress`].
    const PROGRESS_UNIT: &'static str;
    /// The plural of the word for a record.
    const RECORDS: &'static str;

    /// The sum of [`Chunk::progress`] over all chunks, if it is known.
    fn size(&self) -> Option<u64>;

    /// The next chunk, or `None` at the end. A chunk has at least one record.
    fn next_chunk(&mut self) -> Result<Option<Chunk<Self::Origin>>, Failure>;
}

trait Sink<O> {
    /// Whether an error has a place among the answers. If not, each error is printed to standard error.
    const HOLDS_ERRORS: bool;

    /// Writes the answers of one chunk. Errors begin with the names of their records.
    fn write(&mut self, origin: O, answers: &[Answer]) -> Result<(), Failure>;

    fn finish(&mut self) -> Result<(), Failure>;
}

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

/// The stages of the pipeline, chunk by chunk: read, compute, write.
fn answer_all<S: Source, W: Sink<S::Origin>>(
    mut source: S,
    mut sink: W,
    operation: &Operation<'_>,
    places: &Places<'_>,
) -> Result<Tally, Failure> {
    let quiet = places.quiet || reads_terminal(places.input());
    let bar = Bar::new(source.size(), quiet, S::PROGRESS_UNIT);
    let mut tally = Tally::new(S::RECORDS, W::HOLDS_ERRORS);
    while let Some(chunk) = source.next_chunk()? {
        let mut answers = compute(operation, chunk.records)?;
        for (record, answer) in answers.iter_mut().enumerate() {
            if let Err(reason) = answer {
                *reason = format!("{}: {reason}", chunk.origin.name(record));
            }
            tally.count(answer);
        }
        sink.write(chunk.origin, &answers)?;
        if !W::HOLDS_ERRORS {
            let errors = answers.iter().filter_map(|answer| answer.as_ref().err());
            bar.aside(|| errors.for_each(|error| say(error)));
        }
        bar.advance(chunk.progress);
    }
    sink.finish()?;
    bar.finish();
    Ok(tally)
}

/// Answers the records that could be read; the others keep their errors.
fn compute(operation: &Operation<'_>, records: Vec<Result<Record, String>>) -> Result<Vec<Answer>, Failure> {
    let mut readable = Vec::with_capacity(records.len());
    let places: Vec<Result<(), String>> =
        records.into_iter().map(|record| record.map(|record| readable.push(record))).collect();
    let mut answers = (operation.compute)(&readable)?.into_iter();
    let mut next = || answers.next().unwrap_or_else(|| Err("no answer".to_owned()));
    Ok(places.into_iter().map(|place| place.and_then(|()| next())).collect())
}
