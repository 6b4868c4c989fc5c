//! Files of tasks, answered chunk by chunk in bounded memory.

use crate::failure::Failure;
use crate::io::{Input, Output, check_distinct};
use crate::jsonl::{self, Schema};
use crate::options::EngineOptions;
use crate::task::{self, Answer, Work};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use modmill::Engine;
use std::time::Duration;

/// Tasks computed together: enough to fill every thread's lanes in each of several shapes.
pub(crate) const CHUNK_TASKS: usize = 4096;
/// Input bytes held at a time, about.
const CHUNK_BYTES: usize = 8 << 20;

/// Options of the commands that compute files.
#[derive(Debug, clap::Args)]
pub(crate) struct StreamOptions {
    /// File of tasks to read; - is standard input
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(crate) input: String,
    /// File of answers to write; - is standard output
    #[arg(long = "out", value_name = "FILE", default_value = "-")]
    pub(crate) output: String,
    #[command(flatten)]
    pub(crate) engine: EngineOptions,
    /// Show no progress bar
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Answers a file.
pub(crate) fn run(options: &StreamOptions, schema: Schema, work: Work) -> Result<(), Failure> {
    let engine = options.engine.engine()?;
    check_distinct(&options.input, &options.output)?;
    match (is_parquet(&options.input), is_parquet(&options.output)) {
        (false, false) => run_lines(options, schema, work, &engine),
        (true, true) => run_parquet(options, schema, work, &engine),
        _ => Err(Failure::Usage(format!(
            "{} and {} must both be Parquet files or both JSON Lines",
            options.input, options.output
        ))),
    }
}

fn is_parquet(path: &str) -> bool {
    path.to_ascii_lowercase().ends_with(".parquet")
}

#[cfg(not(feature = "parquet"))]
fn run_parquet(options: &StreamOptions, _: Schema, _: Work, _: &Engine) -> Result<(), Failure> {
    Err(Failure::Usage(format!(
        "{}: this build reads JSON Lines only; build modmill-cli with --features parquet for Parquet",
        options.input
    )))
}

#[cfg(feature = "parquet")]
use crate::parquet::run as run_parquet;

fn run_lines(options: &StreamOptions, schema: Schema, work: Work, engine: &Engine) -> Result<(), Failure> {
    let input = Input::open(&options.input)?;
    let mut output = Output::create(&options.output)?;
    let bar = Bar::new(input.size, options.quiet, "bytes");
    let mut reader = jsonl::Reader::new(input.reader, schema);
    let mut tally = Tally::default();
    loop {
        let (mut numbers, mut tasks, mut bytes) = (Vec::new(), Vec::new(), 0);
        while tasks.len() < CHUNK_TASKS && bytes < CHUNK_BYTES {
            let line = reader.next_line().map_err(|error| Failure::file("read", &input.name, &error))?;
            let Some(line) = line else { break };
            numbers.push(line.number);
            tasks.push(line.task);
            bytes += line.bytes;
        }
        if tasks.is_empty() {
            break;
        }
        let answers = task::answer(engine, work, &tasks);
        for (number, answer) in numbers.into_iter().zip(&answers) {
            tally.count(answer, || format!("line {number}"));
            output.write(&jsonl::write(number, answer))?;
        }
        output.flush()?;
        bar.advance(bytes as u64);
    }
    bar.finish();
    tally.finish("lines")
}

/// Counts answers and remembers the first error.
#[derive(Default)]
pub(crate) struct Tally {
    items: u64,
    failed: u64,
    first: String,
}

impl Tally {
    pub(crate) fn count(&mut self, answer: &Answer, place: impl FnOnce() -> String) {
        self.items += 1;
        if let Err(reason) = answer {
            self.failed += 1;
            if self.failed == 1 {
                self.first = format!("{}: {reason}", place());
            }
        }
    }

    pub(crate) fn finish(self, what: &str) -> Result<(), Failure> {
        match self.failed {
            0 => Ok(()),
            failed => Err(Failure::Items(format!(
                "{failed} of {} {what} could not be answered; the first: {}",
                self.items, self.first
            ))),
        }
    }
}

/// Progress on standard error, if that is a terminal.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// A bar up to `size`, or a spinner where that is unknown.
    pub(crate) fn new(size: Option<u64>, quiet: bool, unit: &str) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(size, target);
        let template = match (size, unit) {
            (Some(_), "bytes") => {
                "{wide_bar} {bytes}/{total_bytes}  {bytes_per_sec}  {elapsed} of about {duration}"
            }
            (Some(_), _) => "{wide_bar} {pos}/{len}  {msg}  {elapsed} of about {duration}",
            (None, "bytes") => "{spinner} {bytes}  {bytes_per_sec}  {elapsed}",
            (None, _) => "{spinner} {pos}  {msg}  {elapsed}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self(bar)
    }

    pub(crate) fn advance(&self, amount: u64) {
        self.0.inc(amount);
    }

    pub(crate) fn message(&self, text: String) {
        self.0.set_message(text);
    }

    /// Prints while the bar stands aside.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
