//! The inputs, the outputs and the engine of commands on messages and signatures.

use super::key_options::check_standard_input;
use crate::failure::Failure;
use crate::io::{Protected, STANDARD, print};
use crate::options::{EngineOptions, LineOption, MemoryOption};
use crate::records::{self, AnswerField, Format, FormatChoice, Operation, Places, Tally};
use modmill::Engine;

/// The option that says what the input is. Its name is not the same in all commands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormatOption {
    pub(crate) name: &'static str,
    pub(crate) choice: FormatChoice,
}

/// The inputs, the outputs and the engine of a command.
#[derive(Debug, clap::Args)]
pub(crate) struct Streams {
    /// Input: a file, a folder of files, *.jsonl, *.parquet or *.arrow; - is standard input
    #[arg(long = "in", value_name = "FILE", default_value = "-", value_parser = crate::io::input_name)]
    input: String,
    /// Output: of the same kind, or another of *.jsonl, *.parquet and *.arrow; - is standard output
    #[arg(long = "out", value_name = "FILE", default_value = "-", value_parser = crate::io::output_name)]
    output: String,
    #[command(flatten)]
    lines: LineOption,
    #[command(flatten)]
    memory: MemoryOption,
    #[command(flatten)]
    pub(crate) engine: EngineOptions,
    /// Show no progress bar, and do not confirm signatures in words
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print the number of items and of failed items to standard output, in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Streams {
    pub(crate) fn format(&self, format: FormatOption) -> Format {
        format.choice.of(&self.input, Format::File)
    }

    /// Whether answers are written: a verdict on a file or a folder is not.
    fn writes(&self, format: FormatOption, answer: AnswerField) -> bool {
        answer != AnswerField::Verdict || self.format(format).has_fields()
    }

    /// Whether answers are written to standard output.
    pub(crate) fn writes_to_standard_output(&self, format: FormatOption, answer: AnswerField) -> bool {
        self.writes(format, answer) && self.output == STANDARD
    }

    /// The value of `--out`.
    #[cfg(feature = "ec")]
    pub(crate) fn output(&self) -> &str {
        &self.output
    }

    /// The option of the input, and its file.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&str, &str)> {
        std::iter::once(("--in", self.input.as_str()))
    }

    /// Refuses combinations of options before anything is read. `keys` are the options that name keys, and
    /// their files; `signatures` is the value of `--sig`.
    pub(crate) fn check<'a>(
        &'a self,
        format: FormatOption,
        answer: AnswerField,
        keys: impl Iterator<Item = (&'a str, &'a str)>,
        signatures: Option<&'a str>,
    ) -> Result<(), Failure> {
        check_standard_input(keys.chain(self.inputs()).chain(signatures.map(|file| ("--sig", file))))?;
        if !self.writes(format, answer) && self.output != STANDARD {
            let reason = "--out is for lines and rows: the verdict on files is the exit status; leave it out";
            return Err(Failure::Usage(reason.to_owned()));
        }
        if self.json && self.writes_to_standard_output(format, answer) {
            let reason = "--json and the answers cannot both go to standard output; name a file with --out";
            return Err(Failure::Usage(reason.to_owned()));
        }
        Ok(())
    }

    /// Answers all records and prints the summary that was asked for.
    pub(crate) fn run<'a>(
        &'a self,
        format: FormatOption,
        operation: &impl Operation,
        keys: impl Iterator<Item = (&'a str, &'a str)>,
        signatures: Option<&'a str>,
        engine: &Engine,
    ) -> Result<Tally, Failure> {
        let FormatOption { name, choice } = format;
        let (format, output_format) = choice.of_both(&self.input, &self.output, Format::File);
        let places = Places {
            format,
            output_format,
            missing_option: (choice == FormatChoice::Auto).then_some(name),
            inputs: std::iter::once(self.input.as_str()).chain(signatures).collect(),
            output: &self.output,
            protected: Protected::new(
                keys.chain(self.inputs()).chain(signatures.map(|file| ("--sig", file))),
            ),
            max_line: self.lines.max_line,
            memory: self.memory.memory,
            quiet: self.quiet,
        };
        let tally = records::run(operation, &places, engine)?;
        if self.json {
            let text = serde_json::to_string(&tally).map_err(|error| Failure::Usage(error.to_string()))?;
            print(&format!("{text}\n"))?;
        }
        Ok(tally)
    }
}
