//! `modmill gcd`: greatest common divisors for a file of records.

use crate::arithmetic::Arithmetic;
use crate::failure::Failure;
use crate::number_options::NumberOptions;

const LONG_ABOUT: &str = r#"Finds greatest common divisors.

The input is JSON Lines, one object a line:
  {"a":"<hex>","b":"<hex>"}
The answer is the greatest number that divides both; the divisor of 0 and 0 is 0:
  {"result":"<hex>"}
  {"error":"line 3: ..."}    if the line is not such an object
Other fields are ignored. All else is as for powm: see `modmill powm --help`.

The time depends on the numbers, so they should be public."#;

const EXAMPLES: &str = r#"Examples:
  echo '{"a":"1e240","b":"10000"}' | modmill gcd
  modmill gcd --in pairs.jsonl --out divisors.jsonl
  modmill gcd --in pairs.parquet --out divisors.parquet"#;

/// Finds greatest common divisors
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Gcd {
    #[command(flatten)]
    options: NumberOptions,
}

impl Gcd {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.options.run(Arithmetic::Divisor)
    }
}
