//! Options of the commands that compute with records of numbers.

use crate::arithmetic::{Arithmetic, NumberOperation};
use crate::failure::Failure;
use crate::io::Protected;
use crate::options::{EngineOptions, LineOption, MemoryOption};
use crate::records::{self, Format, FormatChoice, Operation, Places};
use modmill::Engine;

/// The files of records and answers, and the way to compute them.
#[derive(Debug, clap::Args)]
pub(crate) struct NumberOptions {
    /// File of records; - is standard input
    #[arg(long = "in", value_name = "FILE", default_value = "-", value_parser = crate::io::input_name)]
    input: String,
    /// File of answers; - is standard output
    #[arg(long = "out", value_name = "FILE", default_value = "-", value_parser = crate::io::output_name)]
    output: String,
    /// Format of both files: auto (by the extension of each), lines (JSON Lines), parquet or arrow
    /// (Arrow IPC: a file, or a stream through standard input and output); hex (numbers, one a line)
    /// for commands that take one number
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = parse_format)]
    format: FormatChoice,
    #[command(flatten)]
    lines: LineOption,
    #[command(flatten)]
    memory: MemoryOption,
    #[command(flatten)]
    engine: EngineOptions,
    /// Show no progress bar
    #[arg(long, short)]
    quiet: bool,
}

fn parse_format(text: &str) -> Result<FormatChoice, String> {
    match text.to_ascii_lowercase().as_str() {
        "auto" => Ok(FormatChoice::Auto),
        "lines" => Ok(FormatChoice::Lines),
        "hex" => Ok(FormatChoice::Hex),
        "parquet" => Ok(FormatChoice::Parquet),
        "arrow" => Ok(FormatChoice::Arrow),
        _ => Err("known: auto, lines, hex, parquet, arrow".to_owned()),
    }
}

impl NumberOptions {
    /// Computes an operation on every record of the input.
    pub(crate) fn run(&self, arithmetic: Arithmetic) -> Result<(), Failure> {
        self.answer(|engine| NumberOperation::new(arithmetic, engine))
    }

    /// Answers the records of the input by the operation that `operation` makes for an engine.
    pub(crate) fn answer<P: Operation>(&self, operation: impl FnOnce(&Engine) -> P) -> Result<(), Failure> {
        let (format, output_format) = self.format.of_both(&self.input, &self.output, Format::Lines);
        let engine = self.engine.engine()?;
        let operation = operation(&engine);
        let places = Places {
            format,
            output_format,
            missing_option: (self.format == FormatChoice::Auto).then_some("--format"),
            inputs: vec![&self.input],
            output: &self.output,
            protected: Protected::new([("--in", self.input.as_str())]),
            max_line: self.lines.max_line,
            memory: self.memory.memory,
            quiet: self.quiet,
        };
        records::run(&operation, &places, &engine)?.finish()
    }
}
