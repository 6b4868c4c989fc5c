//! `modmill inv`: inverses modulo N for a file of records.

use crate::arithmetic::Arithmetic;
use crate::failure::Failure;
use crate::number_options::NumberOptions;

const LONG_ABOUT: &str = r#"Inverts numbers modulo N.

The input is JSON Lines, one object a line:
  {"a":"<hex>","mod":"<hex>"}
The answer is the number below N whose product with a is 1 modulo N:
  {"result":"<hex>"}
  {"error":"line 3: ..."}    if a and N have a common factor, or if the line is not such an object
Other fields are ignored. All else is as for powm: see `modmill powm --help`.

Numbers are taken to be secret up to 32768 bits. The time for longer numbers depends on
their values."#;

const EXAMPLES: &str = r#"Examples:
  echo '{"a":"3","mod":"fffffffb"}' | modmill inv
  modmill inv --in numbers.jsonl --out inverses.jsonl
  modmill inv --in numbers.parquet --out inverses.parquet"#;

/// Inverts numbers modulo N
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Inv {
    #[command(flatten)]
    options: NumberOptions,
}

impl Inv {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.options.run(Arithmetic::Inverse)
    }
}
