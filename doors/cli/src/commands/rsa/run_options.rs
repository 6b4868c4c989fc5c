//! Options of the commands that process messages, signatures and ciphertexts.

use super::key_options::{KeyOptions, check_standard_input};
use crate::failure::Failure;
use crate::io::{Protected, STANDARD, print};
use crate::options::{EngineOptions, LineOption, MemoryOption};
use crate::records::{self, AnswerField, Format, FormatChoice, Operation, Places, Tally};
use modmill::Engine;
use modmill_rsa::Rsa;

/// Protection of private operations beyond constant time.
#[derive(Debug, clap::Args)]
pub(crate) struct ProtectionOptions {
    /// Blind the inputs of private operations by random factors
    #[arg(long)]
    blinding: bool,
    /// Let GPUs read only the entries of power tables that they need, under blinded exponents: faster,
    /// but hides less (see SECURITY.md)
    #[arg(long)]
    direct_tables: bool,
}

impl ProtectionOptions {
    pub(crate) fn rsa<'a>(&self, engine: &'a Engine) -> Rsa<'a> {
        Rsa::new(engine).blinding(self.blinding).blinded_direct_reads(self.direct_tables)
    }
}

/// The key, the inputs, the outputs and the engine of a command.
#[derive(Debug, clap::Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    /// Input: a file, a folder of files, *.jsonl, *.parquet or *.arrow; - is standard input
    #[arg(long = "in", value_name = "FILE", default_value = "-", value_parser = crate::io::input_name)]
    input: String,
    /// Output: of the same kind, or another of *.jsonl, *.parquet and *.arrow; - is standard output
    #[arg(long = "out", value_name = "FILE", default_value = "-", value_parser = crate::io::output_name)]
    output: String,
    /// Format of the input and the output
    #[arg(long, value_enum, value_name = "NAME", default_value = "auto", ignore_case = true)]
    format: FormatChoice,
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

impl RunOptions {
    pub(crate) fn format(&self) -> Format {
        self.format.of(&self.input, Format::File)
    }

    /// Whether answers are written: a verdict on a file or a folder is not.
    fn writes(&self, answer: AnswerField) -> bool {
        answer != AnswerField::Verdict || self.format().has_fields()
    }

    /// Whether answers are written to standard output.
    pub(crate) fn writes_to_standard_output(&self, answer: AnswerField) -> bool {
        self.writes(answer) && self.output == STANDARD
    }

    /// The options that name inputs, and their files. `signatures` is the value of `--sig`.
    fn files<'a>(&'a self, signatures: Option<&'a str>) -> impl Iterator<Item = (&'a str, &'a str)> {
        let input = std::iter::once(("--in", self.input.as_str()));
        self.key.files().chain(input).chain(signatures.map(|file| ("--sig", file)))
    }

    /// The option of the input, and its file.
    #[cfg(feature = "serve")]
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&str, &str)> {
        std::iter::once(("--in", self.input.as_str()))
    }

    /// Refuses combinations of options before anything is read.
    pub(crate) fn check(&self, answer: AnswerField, signatures: Option<&str>) -> Result<(), Failure> {
        check_standard_input(self.files(signatures))?;
        if !self.writes(answer) && self.output != STANDARD {
            let reason = "--out is for lines and rows: the verdict on files is the exit status; leave it out";
            return Err(Failure::Usage(reason.to_owned()));
        }
        if self.json && self.writes_to_standard_output(answer) {
            let reason = "--json and the answers cannot both go to standard output; name a file with --out";
            return Err(Failure::Usage(reason.to_owned()));
        }
        Ok(())
    }

    /// Answers all records and prints the summary that was asked for.
    pub(crate) fn run(
        &self,
        operation: &impl Operation,
        signatures: Option<&str>,
        engine: &Engine,
    ) -> Result<Tally, Failure> {
        let (format, output_format) = self.format.of_both(&self.input, &self.output, Format::File);
        let places = Places {
            format,
            output_format,
            is_format_given: self.format != FormatChoice::Auto,
            inputs: std::iter::once(self.input.as_str()).chain(signatures).collect(),
            output: &self.output,
            protected: Protected::new(self.files(signatures)),
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
