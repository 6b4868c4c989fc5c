//! `modmill isqrt`: square roots for a file of records.

use crate::arithmetic::Arithmetic;
use crate::failure::Failure;
use crate::number_options::NumberOptions;

const LONG_ABOUT: &str = r#"Finds square roots, rounded down.

The input is JSON Lines, one object a line:
  {"a":"<hex>"}
The answer is the greatest number whose square is at most a, and the difference of a and that
square, which is 0 for a square:
  {"result":"<hex>","remainder":"<hex>"}
  {"error":"line 3: ..."}    if the line is not such an object
Other fields are ignored. All else is as for powm: see `modmill powm --help`.

Numbers are taken to be secret. The time depends on the lengths that they are written with."#;

const EXAMPLES: &str = r#"Examples:
  echo '{"a":"1e240"}' | modmill isqrt
  modmill isqrt --in numbers.jsonl --out roots.jsonl
  modmill isqrt --in numbers.parquet --out roots.parquet"#;

/// Finds square roots, rounded down
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Isqrt {
    #[command(flatten)]
    options: NumberOptions,
}

impl Isqrt {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.options.run(Arithmetic::Root)
    }
}
