//! `modmill mul`: products for a file of records.

use crate::arithmetic::Arithmetic;
use crate::failure::Failure;
use crate::number_options::NumberOptions;

const LONG_ABOUT: &str = r#"Multiplies numbers, with or without a modulus.

The input is JSON Lines, one object a line:
  {"a":"<hex>","b":"<hex>"}                the whole product
  {"a":"<hex>","b":"<hex>","mod":"<hex>"}  the product modulo N
Both kinds may stand in one file. Fields of other names are errors, because a misspelt "mod"
would change the answer. All else is as for powm: see `modmill powm --help`."#;

const EXAMPLES: &str = r#"Examples:
  echo '{"a":"ffff","b":"ffff"}' | modmill mul
  modmill mul --in factors.jsonl --out products.jsonl
  modmill mul --in factors.parquet --out products.parquet"#;

/// Multiplies numbers, with or without a modulus
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Mul {
    #[command(flatten)]
    options: NumberOptions,
}

impl Mul {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.options.run(Arithmetic::Product)
    }
}
