//! The `modmill` program.

mod build;
mod commands;
mod failure;
mod gpus;
mod io;
mod items;
mod jsonl;
mod octets;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod stream;
mod task;

use clap::Parser;
use std::io::Write;
use std::process::ExitCode;

const ABOUT: &str = "Batch modular arithmetic on big integers";

const LONG_ABOUT: &str = "\
Batch modular arithmetic on big integers.

modmill computes powers, products and inverses modulo N for whole batches at once, on the fastest
path this machine has. Numbers are hexadecimal, of any length; moduli may be odd or
even, and one batch may mix lengths.";

const EXAMPLES: &str = "\
Examples:
  modmill info                                  what this machine has, and which path is taken
  echo '{\"base\":\"3\",\"exp\":\"10001\",\"mod\":\"fffffffb\"}' | modmill powm
  modmill powm --in jobs.jsonl --out powers.jsonl
  modmill bench --bits 2048,4096 --html report.html
  modmill selftest                              prove this build on this hardware
  modmill rsa sign --key key.pem --padding pss --hash sha256 --in message --out signature
  modmill tune                                  measure this machine's GPU, once
  modmill completions bash > /etc/bash_completion.d/modmill

Environment:
  MODMILL_BACKEND        auto, cpu or cuda: as --backend
  MODMILL_CPU            portable, avx2 or avx512: use no more than this instruction set
  MODMILL_CUDA_DEVICES   numbers of the GPUs to use, separated by commas
  MODMILL_TUNE           the table of measurements that tune writes and engines read
  MODMILL_REQUIRE_GPU    1: a self-test without a GPU fails

Exit status:
  0  everything was answered
  1  some items had no answer, or a check failed
  2  wrong usage, or a file that cannot be read or written";

#[derive(Parser)]
#[command(name = "modmill", version = build::VERSION, about = ABOUT, long_about = LONG_ABOUT)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    match Cli::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                // Nothing is left to do when even this cannot be written.
                let _ = writeln!(std::io::stderr(), "modmill: {message}");
            }
            failure.exit_code()
        }
    }
}
