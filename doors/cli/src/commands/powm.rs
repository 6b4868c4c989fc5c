//! `modmill powm`: powers modulo N for a file of records.

use crate::arithmetic::Arithmetic;
use crate::failure::Failure;
use crate::number_options::NumberOptions;

const LONG_ABOUT: &str = r#"Raises numbers to powers modulo N.

The input is JSON Lines, one object a line:
  {"base":"<hex>","exp":"<hex>","mod":"<hex>"}
Numbers are hexadecimal, most significant digit first, in upper or lower case, with or
without 0x, and have up to 2^34 bits. The modulus may be odd or even. The base may be larger
than the modulus. 0^0 is 1, and every number is 0 modulo 1. Other fields are ignored.

The output has one line for each line of the input, in the same order:
  {"result":"<hex>"}         lower case, no leading zeros
  {"error":"line 3: ..."}    if the line is not such an object
A line with an error costs no other line its answer; the exit status is then 1. Empty lines
at the end of the input are ignored. Empty lines before that are errors.

Bases and exponents are taken to be secret: the time for a line depends only on its modulus
and on how long its numbers are written, leading zeros included. --vartime is faster and is
for public exponents.

Lines are answered in chunks, so the input may be larger than memory. Lines from a pipe or a
terminal are answered as soon as no further ones arrive.

*.parquet and *.arrow files are read and written too: columns base, exp and mod, binary with
the most significant byte first or hexadecimal text, give the columns result and error. The
answers to any of them may go to any other, by the extension of --out.
--format arrow reads an Arrow stream from standard input and writes one to standard output."#;

const EXAMPLES: &str = r#"Examples:
  echo '{"base":"3","exp":"10001","mod":"fffffffb"}' | modmill powm
  modmill powm --in jobs.jsonl --out powers.jsonl
  modmill powm --in jobs.parquet --out powers.parquet
  make-batches | modmill powm --format arrow | use-batches
  modmill powm --vartime --threads 4 < verify.jsonl > answers.jsonl"#;

/// Raises numbers to powers modulo N
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Powm {
    #[command(flatten)]
    options: NumberOptions,
    /// Let the time depend on the exponents, which are public
    #[arg(long)]
    vartime: bool,
}

impl Powm {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.options.run(if self.vartime { Arithmetic::PowerVartime } else { Arithmetic::Power })
    }
}
