//! `modmill batch-gcd`: the factors that the numbers of a file share.

use crate::arithmetic::SharedFactors;
use crate::failure::Failure;
use crate::number_options::NumberOptions;

const LONG_ABOUT: &str = r#"Finds the factors that numbers share with any other number of the file, as for RSA moduli.

The input is JSON Lines, one object a line:
  {"n":"<hex>"}
The answer is the greatest common divisor of n and the product of all other numbers: 1 if n shares
no factor, and n itself if the number is there twice or both of its primes are shared:
  {"result":"<hex>"}
  {"error":"line 3: ..."}    if the line is not such an object, or n is zero
Other fields are ignored. With --format hex each line is a number and nothing else, as in files of
fastgcd, and so are the answers; a number without an answer leaves an empty line, and the error is
printed. Memory holds all numbers and the levels of their product tree: N numbers take about
log2(N) + 6 times their length. All else is as for powm: see `modmill powm --help`.

The time depends on the numbers, so they should be public."#;

const EXAMPLES: &str = r#"Examples:
  modmill batch-gcd --in moduli.jsonl --out factors.jsonl
  modmill batch-gcd --in moduli.hex --out factors.hex --format hex
  modmill batch-gcd --in moduli.parquet --out factors.parquet"#;

/// Finds the factors that the numbers of a file share
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct BatchGcd {
    #[command(flatten)]
    options: NumberOptions,
}

impl BatchGcd {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.options.answer(|engine| SharedFactors::new(engine.watched_by(None)))
    }
}
