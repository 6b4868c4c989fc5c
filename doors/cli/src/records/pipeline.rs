//! The stages that every format goes through: read a chunk of records, compute its answers, format them,
//! write them.
//!
//! Each stage has a thread, and all but the last share their work among the threads of the engine. While a
//! chunk is computed, the next one is read, parsed and prepared, the last one is formatted, and the one
//! before it is written. A stage hands a chunk on only when the next stage takes it, so that memory holds a
//! few chunks at a time.

use super::format::Format;
use super::layout::{FileNames, Layout};
use super::meter::Meter;
use super::pace::Pace;
use super::table::{Answers, Reason, Records};
use super::tally::Tally;
use crate::failure::{Failure, say};
use crate::io::{Protected, reads_terminal};
use crate::progress::{Bar, show_compilations};
use modmill::Watch;
use modmill_rsa::Hash;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

/// The computation of records. Its three steps run at the same time as the same steps of other chunks.
pub(crate) trait Operation: Sync {
    /// Records as they are computed.
    type Prepared: Send;
    /// Answers as they were computed.
    type Computed: Send;

    fn layout(&self) -> Layout;

    /// How fields are read from files; `None` if records have to be lines or rows.
    fn files(&self) -> Option<FileRules>;

    /// The mode of files with answers, on Unix, if it is not that of other new files.
    fn mode(&self) -> Option<u32> {
        None
    }

    /// Whether all records are computed together, as one chunk.
    fn is_whole(&self) -> bool {
        false
    }

    /// Brings the records of a chunk into the form in which they are computed.
    fn prepare(&self, records: Vec<Records>) -> Self::Prepared;

    fn compute(&self, prepared: Self::Prepared) -> Result<Self::Computed, Failure>;

    /// The answers, in as many pieces as there were pieces of records.
    fn finish(&self, computed: Self::Computed) -> Vec<Answers>;

    /// The watch that counts the records while they are computed, if there is one.
    fn watch(&self) -> Option<&Watch> {
        None
    }
}

/// How records are read from files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileRules {
    /// The names of files in folders.
    pub(crate) names: FileNames,
    /// The hash function whose digest stands for the first field. It is computed while the file is read.
    pub(crate) hash: Option<Hash>,
}

/// The places of records and of their answers.
pub(crate) struct Places<'a> {
    /// The format of the records.
    pub(crate) format: Format,
    /// The format of the answers.
    pub(crate) output_format: Format,
    /// The option that names the format, if the user did not give it and the format was guessed from names.
    pub(crate) missing_option: Option<&'static str>,
    /// The file or folder of records; after it, for files and folders, the places of the further fields.
    pub(crate) inputs: Vec<&'a str>,
    pub(crate) output: &'a str,
    /// Files that may not be overwritten.
    pub(crate) protected: Protected,
    /// The most bytes of a line.
    pub(crate) max_line: u64,
    /// The bytes of memory for records.
    pub(crate) memory: u64,
    pub(crate) quiet: bool,
}

impl Places<'_> {
    /// The file or folder of records.
    pub(super) fn input(&self) -> &str {
        self.inputs[0]
    }
}

/// Some records that one thread parsed, and what a sink has to know about them.
pub(super) struct Piece<O> {
    pub(super) records: Records,
    pub(super) origin: O,
}

/// Records that are computed together.
pub(super) struct Chunk<O> {
    pub(super) pieces: Vec<Piece<O>>,
    /// How far the progress bar moves while the chunk is computed.
    pub(super) progress: u64,
}

/// The origin of a piece's records.
pub(super) trait Origin: Send {
    /// The name of a record for people, such as `line 3`.
    fn name(&self, record: usize) -> String;
}

/// Ends the input of a source that may be waiting for it on another thread.
pub(super) type Stop = Box<dyn Fn() + Send + Sync>;

/// Reads records.
pub(super) trait Source: Send {
    type Origin: Origin;
    /// The unit of [`Chunk::progress`].
    const PROGRESS_UNIT: &'static str;
    /// The plural of the word for a record.
    const RECORDS: &'static str;

    /// The sum of [`Chunk::progress`] over all chunks, if it is known.
    fn size(&self) -> Option<u64>;

    /// The next chunk, or `None` at the end. A chunk has at least one record.
    fn next_chunk(&mut self) -> Result<Option<Chunk<Self::Origin>>, Failure>;

    /// Ends the input, if [`Source::next_chunk`] waits for anything.
    fn stop(&self) -> Stop {
        Box::new(|| {})
    }
}

/// Brings answers into the form in which they are written.
pub(super) trait Formatter<O>: Send {
    type Formatted: Send;

    /// Formats the answers of one chunk. Errors begin with the names of their records.
    fn format(&self, pieces: Vec<(O, Answers)>) -> Result<Self::Formatted, Failure>;
}

/// A formatter for sinks that write answers as they are.
pub(super) struct AsTheyAre;

impl<O: Send> Formatter<O> for AsTheyAre {
    type Formatted = Vec<(O, Answers)>;

    fn format(&self, pieces: Vec<(O, Answers)>) -> Result<Self::Formatted, Failure> {
        Ok(pieces)
    }
}

/// Writes answers.
pub(super) trait Sink<O>: Send {
    /// Whether an error has a place among the answers. If not, each error is printed to standard error.
    const HOLDS_ERRORS: bool;

    type Formatter: Formatter<O>;

    /// The formatter of this sink. It works while the sink writes the chunk before.
    fn formatter(&self) -> Self::Formatter;

    /// Writes the answers of one chunk.
    fn write(&mut self, answers: <Self::Formatter as Formatter<O>>::Formatted) -> Result<(), Failure>;

    fn finish(self) -> Result<(), Failure>;
}

/// A chunk on its way from stage to stage.
struct Passing<O, T> {
    origins: Vec<O>,
    records: usize,
    progress: u64,
    content: T,
}

/// The answers of a chunk on their way to the sink.
struct Leaving<T> {
    formatted: T,
    /// Errors that have no place among the answers.
    errors: Vec<Reason>,
}

/// Reads, computes, formats and writes all records.
pub(super) fn answer_all<P: Operation, S: Source, W: Sink<S::Origin>>(
    mut source: S,
    mut sink: W,
    operation: &P,
    places: &Places<'_>,
    pace: &Pace,
) -> Result<Tally, Failure> {
    if !places.quiet {
        show_compilations();
    }
    let quiet = places.quiet || reads_terminal(places.input());
    let bar = Bar::new(source.size(), quiet, S::PROGRESS_UNIT);
    let meter = Meter::new(operation.watch());
    let mut tally = Tally::new(S::RECORDS, W::HOLDS_ERRORS);
    let stop = source.stop();
    thread::scope(|scope| {
        let (to_compute, from_source) = sync_channel(0);
        let (to_format, from_compute) = sync_channel(0);
        let (to_sink, from_format) = sync_channel(0);
        let reading = scope.spawn(move || read(&mut source, operation, &to_compute));
        let (sink, tally, bar, stop, meter) = (&mut sink, &mut tally, &bar, &stop, &meter);
        let _shown = meter.show(scope, bar);
        let formatter = sink.formatter();
        // After an error, nobody wants the rest of the input.
        let formatting = scope.spawn(move || {
            let format = Formatting { operation, formatter, holds_errors: W::HOLDS_ERRORS, tally };
            format.run(&from_compute, &to_sink).inspect_err(|_| stop())
        });
        let writing = scope.spawn(move || write(sink, &from_format, bar).inspect_err(|_| stop()));
        let computed = compute(operation, &from_source, &to_format, (pace, meter)).inspect_err(|_| stop());
        // The other stages end when their channels do.
        drop((from_source, to_format));
        let failed = || Failure::Usage("a thread of the program failed".to_owned());
        let written = writing.join().unwrap_or_else(|_| Err(failed()));
        let formatted = formatting.join().unwrap_or_else(|_| Err(failed()));
        let read = reading.join().unwrap_or_else(|_| Err(failed()));
        written.and(formatted).and(computed).and(read)
    })?;
    sink.finish()?;
    bar.finish();
    Ok(tally)
}

/// The first stage: reads chunks until the input ends or nobody takes them.
fn read<P: Operation, S: Source>(
    source: &mut S,
    operation: &P,
    to_compute: &SyncSender<Passing<S::Origin, P::Prepared>>,
) -> Result<(), Failure> {
    while let Some(Chunk { mut pieces, mut progress }) = source.next_chunk()? {
        while operation.is_whole()
            && let Some(more) = source.next_chunk()?
        {
            pieces.extend(more.pieces);
            progress += more.progress;
        }
        let (records, origins): (Vec<Records>, Vec<S::Origin>) =
            pieces.into_iter().map(|piece| (piece.records, piece.origin)).unzip();
        let count = records.iter().map(Records::len).sum();
        let content = operation.prepare(records);
        if to_compute.send(Passing { origins, records: count, progress, content }).is_err() {
            break;
        }
    }
    Ok(())
}

/// The second stage.
fn compute<P: Operation, O>(
    operation: &P,
    from_source: &Receiver<Passing<O, P::Prepared>>,
    to_format: &SyncSender<Passing<O, P::Computed>>,
    (pace, meter): (&Pace, &Meter<'_>),
) -> Result<(), Failure> {
    for Passing { origins, records, progress, content } in from_source {
        let start = Instant::now();
        meter.begin(records, progress);
        let content = operation.compute(content)?;
        meter.end();
        pace.learn(records, start.elapsed());
        if to_format.send(Passing { origins, records, progress, content }).is_err() {
            break;
        }
    }
    Ok(())
}

/// The third stage: names the errors, counts and formats.
struct Formatting<'a, P, F> {
    operation: &'a P,
    formatter: F,
    holds_errors: bool,
    tally: &'a mut Tally,
}

impl<P: Operation, F> Formatting<'_, P, F> {
    fn run<O: Origin>(
        self,
        from_compute: &Receiver<Passing<O, P::Computed>>,
        to_sink: &SyncSender<Leaving<F::Formatted>>,
    ) -> Result<(), Failure>
    where
        F: Formatter<O>,
    {
        for Passing { origins, content, .. } in from_compute {
            let mut pieces: Vec<(O, Answers)> =
                origins.into_iter().zip(self.operation.finish(content)).collect();
            let mut errors = Vec::new();
            for (origin, answers) in &mut pieces {
                for (record, reason) in answers.errors_mut() {
                    *reason = format!("{}: {reason}", origin.name(*record)).into();
                }
                self.tally.count(answers);
                if !self.holds_errors {
                    errors.extend(answers.errors().iter().map(|(_, reason)| reason.clone()));
                }
            }
            let formatted = self.formatter.format(pieces)?;
            if to_sink.send(Leaving { formatted, errors }).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// The last stage.
fn write<O, W: Sink<O>>(
    sink: &mut W,
    from_format: &Receiver<Leaving<<W::Formatter as Formatter<O>>::Formatted>>,
    bar: &Bar,
) -> Result<(), Failure> {
    for Leaving { formatted, errors } in from_format {
        sink.write(formatted)?;
        if !errors.is_empty() {
            bar.aside(|| errors.iter().for_each(|reason| say(reason)));
        }
    }
    Ok(())
}
