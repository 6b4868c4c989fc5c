//! Options of the commands that compute with records of numbers.

use crate::arithmetic::Arithmetic;
use crate::failure::Failure;
use crate::io::Protected;
use crate::options::{EngineOptions, LineOption};
use crate::records::{self, Format, FormatChoice, Operation, Places, Record};

/// Where records are, and how they are computed.
#[derive(Debug, clap::Args)]
pub(crate) struct NumberOptions {
    /// File of records; - is standard input
    #[arg(long = "in", value_name = "FILE", default_value = "-", value_parser = crate::io::input_name)]
    input: String,
    /// File of answers; - is standard output
    #[arg(long = "out", value_name = "FILE", default_value = "-", value_parser = crate::io::output_name)]
    output: String,
    /// Format of both files: auto (by the extension of --in), lines (JSON Lines) or parquet
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = parse_format)]
    format: FormatChoice,
    #[command(flatten)]
    lines: LineOption,
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
        "parquet" => Ok(FormatChoice::Parquet),
        _ => Err("known: auto, lines, parquet".to_owned()),
    }
}

impl NumberOptions {
    /// Answers the records of the input.
    pub(crate) fn run(&self, arithmetic: Arithmetic) -> Result<(), Failure> {
        let format = self.format()?;
        let engine = self.engine.engine()?;
        let compute = |records: &[Record]| Ok(arithmetic.answer(&engine, records));
        let operation = Operation { layout: arithmetic.layout(), files: None, compute: &compute };
        let places = Places {
            format,
            is_format_given: self.format != FormatChoice::Auto,
            inputs: vec![&self.input],
            output: &self.output,
            protected: Protected::new([("--in", self.input.as_str())]),
            max_line: self.lines.max_line,
            quiet: self.quiet,
        };
        records::run(&operation, &places, &engine)?.finish()
    }

    fn format(&self) -> Result<Format, Failure> {
        let format = self.format.of(&self.input, Format::Lines);
        let is_parquet = [Some(format), Format::by_name(&self.output)].map(|it| it == Some(Format::Parquet));
        if self.format == FormatChoice::Auto && format != Format::Folder && is_parquet[0] != is_parquet[1] {
            return Err(Failure::Usage(format!(
                "--in {} and --out {} must both be Parquet files or both JSON Lines",
                self.input, self.output
            )));
        }
        Ok(format)
    }
}
