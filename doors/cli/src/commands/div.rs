//! `modmill div`: quotients and remainders for a file of records.

use crate::arithmetic::Arithmetic;
use crate::failure::Failure;
use crate::number_options::NumberOptions;

const LONG_ABOUT: &str = r#"Divides numbers, with remainders.

The input is JSON Lines, one object a line:
  {"a":"<hex>","b":"<hex>"}
The answer is the quotient, rounded down, and the remainder:
  {"quotient":"<hex>","remainder":"<hex>"}
  {"error":"line 3: ..."}    if b is zero, or if the line is not such an object
Other fields are ignored. All else is as for powm: see `modmill powm --help`.

Numbers are taken to be secret. The time depends on their lengths, and on that of b without
leading zeros."#;

const EXAMPLES: &str = r#"Examples:
  echo '{"a":"1e240","b":"10000"}' | modmill div
  modmill div --in pairs.jsonl --out quotients.jsonl
  modmill div --in pairs.parquet --out quotients.parquet"#;

/// Divides numbers, with remainders
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Div {
    #[command(flatten)]
    options: NumberOptions,
}

impl Div {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.options.run(Arithmetic::Quotient)
    }
}
