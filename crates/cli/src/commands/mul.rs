//! `modmill mul`: products from a file.

use crate::failure::Failure;
use crate::jsonl::Schema;
use crate::stream::{self, StreamOptions};
use crate::task::Work;

const LONG_ABOUT: &str = r#"Products, plain or modulo N, for a file of tasks.

The input is JSON Lines, one task a line:
  {"a":"<hex>","b":"<hex>"}                the whole product
  {"a":"<hex>","b":"<hex>","mod":"<hex>"}  the product modulo N
Both kinds may stand in one file. Fields of other names are errors, because a misspelt "mod" would
change the answer. All else is as for powm: {"result":"<hex>"} or {"error":"..."} for each line, in
the same order, and an exit status of 1 at the end if there was an error."#;

const EXAMPLES: &str = r#"Examples:
  echo '{"a":"ffff","b":"ffff"}' | modmill mul
  modmill mul --in factors.jsonl --out products.jsonl"#;

/// Products, plain or modulo N, for a file of tasks
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Mul {
    #[command(flatten)]
    stream: StreamOptions,
}

impl Mul {
    pub(crate) fn run(self) -> Result<(), Failure> {
        stream::run(&self.stream, Schema::Mul, Work::Mul)
    }
}
