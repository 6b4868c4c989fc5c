//! `modmill powm`: powers from a file.

use crate::failure::Failure;
use crate::jsonl::Schema;
use crate::stream::{self, StreamOptions};
use crate::task::Work;

const LONG_ABOUT: &str = r#"Powers modulo N for a file of tasks.

The input is JSON Lines, one task a line:
  {"base":"<hex>","exp":"<hex>","mod":"<hex>"}
Numbers are hexadecimal, big-endian, upper or lower case, with or without 0x, of up to 2^34
bits; a line is read as a whole. The modulus may be odd or even, the base may be larger than the
modulus, 0^0 is 1, and everything is 0 modulo 1. Other fields are ignored.

The output has one line for each line of the input, in the same order:
  {"result":"<hex>"}     lower case, no leading zeros
  {"error":"line 3: ..."}  for a line that is no task; the others are still answered,
                         and the exit status is 1 at the end
Empty lines at the end of the input are ignored; before that they are errors.

Exponents and bases are taken to be secret: the time of a line depends only on how long its numbers
are written (leading zeros count) and on its modulus. --vartime is faster where exponents are public.

The file is read and answered in chunks, so it may be larger than memory. With --features parquet,
*.parquet files are read and written as well: binary columns base, exp, mod (big-endian bytes) in,
and result, error out."#;

const EXAMPLES: &str = r#"Examples:
  echo '{"base":"3","exp":"10001","mod":"fffffffb"}' | modmill powm
  modmill powm --in jobs.jsonl --out powers.jsonl
  modmill powm --vartime --threads 4 < verify.jsonl > answers.jsonl"#;

/// Powers modulo N for a file of tasks
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Powm {
    #[command(flatten)]
    stream: StreamOptions,
    /// Exponents are public: let the time depend on them
    #[arg(long)]
    vartime: bool,
}

impl Powm {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let work = if self.vartime { Work::PowVartime } else { Work::Pow };
        stream::run(&self.stream, Schema::Powm, work)
    }
}
