//! The stages that every format goes through: read a chunk of records, compute its answers, write them.

use super::format::Format;
use super::layout::{Field, FileNames, Layout};
use super::tally::Tally;
use crate::failure::{Failure, say};
use crate::io::{Protected, reads_terminal};
use crate::progress::Bar;
use modmill_rsa::Hash;
use zeroize::Zeroizing;

/// The most records of a chunk: enough to fill the lanes of every thread in each of several shapes.
pub(super) const CHUNK_RECORDS: usize = 4096;
/// The number of input bytes after which a chunk takes no further record.
pub(super) const CHUNK_BYTES: usize = 64 << 20;

/// The fields of a record in the order of its [`Layout`]; optional fields may be missing.
pub(crate) type Record = Vec<Option<Field>>;

/// The octets that answer a record, or why there are none. A verdict has no octets.
pub(crate) type Answer = Result<Zeroizing<Vec<u8>>, String>;

/// Answers records in order.
pub(crate) type Compute<'a> = dyn Fn(&[Record]) -> Result<Vec<Answer>, Failure> + 'a;

/// The computation of one record.
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
    /// The file or folder of records.
    pub(super) fn input(&self) -> &str {
        self.inputs[0]
    }
}

/// Some records, and what a sink has to know about them.
pub(super) struct Chunk<O> {
    pub(super) records: Vec<Result<Record, String>>,
    pub(super) origin: O,
    /// How far the progress bar moves when the chunk is answered.
    pub(super) progress: u64,
}

/// Where the records of a chunk come from.
pub(super) trait Origin {
    /// The name of a record for people, such as `line 3`.
    fn name(&self, record: usize) -> String;
}

/// Reads records.
pub(super) trait Source {
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

/// Writes answers.
pub(super) trait Sink<O> {
    /// Whether an error has a place among the answers. If not, each error is printed to standard error.
    const HOLDS_ERRORS: bool;

    /// Writes the answers of one chunk. Errors begin with the names of their records.
    fn write(&mut self, origin: O, answers: &[Answer]) -> Result<(), Failure>;

    fn finish(&mut self) -> Result<(), Failure>;
}

/// The stages of the pipeline, chunk by chunk: read, compute, write.
pub(super) fn answer_all<S: Source, W: Sink<S::Origin>>(
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
