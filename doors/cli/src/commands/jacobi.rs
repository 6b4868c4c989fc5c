//! `modmill jacobi`: Jacobi symbols for a file of records.

use crate::arithmetic::Arithmetic;
use crate::failure::Failure;
use crate::number_options::NumberOptions;

const LONG_ABOUT: &str = r#"Finds Jacobi symbols.

The input is JSON Lines, one object a line:
  {"a":"<hex>","mod":"<hex>"}
The answer is the symbol of a modulo an odd number, "1", "0" or "-1":
  {"result":"-1"}
  {"error":"line 3: ..."}    if the modulus is even, or if the line is not such an object
In Parquet and Arrow the answers are integers of 8 bits. Other fields are ignored. All else is
as for powm: see `modmill powm --help`.

Numbers may have up to 32768 bits. The time depends on them, so they should be public."#;

const EXAMPLES: &str = r#"Examples:
  echo '{"a":"3","mod":"fffffffb"}' | modmill jacobi
  modmill jacobi --in numbers.jsonl --out symbols.jsonl
  modmill jacobi --in numbers.parquet --out symbols.parquet"#;

/// Finds Jacobi symbols
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Jacobi {
    #[command(flatten)]
    options: NumberOptions,
}

impl Jacobi {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.options.run(Arithmetic::Symbol)
    }
}
