//! Options of the commands that process messages, signatures and ciphertexts.

use super::key_options::KeyOptions;
use super::streams::{FormatOption, Streams};
use crate::failure::Failure;
use crate::records::{AnswerField, Format, FormatChoice, Operation, Tally};
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
    /// Format of the input and the output
    #[arg(long, value_enum, value_name = "NAME", default_value = "auto", ignore_case = true)]
    format: FormatChoice,
    #[command(flatten)]
    pub(crate) streams: Streams,
}

impl RunOptions {
    pub(crate) fn format_option(&self) -> FormatOption {
        FormatOption { name: "--format", choice: self.format }
    }

    pub(crate) fn format(&self) -> Format {
        self.streams.format(self.format_option())
    }

    /// Whether answers are written to standard output.
    pub(crate) fn writes_to_standard_output(&self, answer: AnswerField) -> bool {
        self.streams.writes_to_standard_output(self.format_option(), answer)
    }

    /// Refuses combinations of options before anything is read.
    pub(crate) fn check(&self, answer: AnswerField, signatures: Option<&str>) -> Result<(), Failure> {
        self.streams.check(self.format_option(), answer, self.key.files(), signatures)
    }

    /// The option of the input, and its file.
    #[cfg(feature = "serve")]
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.streams.inputs()
    }

    /// Answers all records and prints the summary that was asked for.
    pub(crate) fn run(
        &self,
        operation: &impl Operation,
        signatures: Option<&str>,
        engine: &Engine,
    ) -> Result<Tally, Failure> {
        self.streams.run(self.format_option(), operation, self.key.files(), signatures, engine)
    }
}
