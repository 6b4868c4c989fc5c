//! The `modmill` program.

mod arithmetic;
mod bench_header;
mod build;
mod commands;
mod failure;
mod gpus;
mod hexadecimal;
mod io;
mod number_options;
mod options;
mod progress;
mod records;

use clap::Parser;
use std::process::ExitCode;

const ABOUT: &str = "Batch modular arithmetic on big integers";

const LONG_ABOUT: &str = "\
Batch modular arithmetic on big integers.

modmill computes powers, products, inverses and divisors of whole batches of numbers at
once, and RSA signatures and encryption, on the fastest path that this machine has. Numbers
are hexadecimal and of any length. Moduli may be odd or even. One batch may mix lengths.";

const EXAMPLES: &str = "\
Examples:
  modmill info                      what this machine has, and which path an operation takes
  echo '{\"base\":\"3\",\"exp\":\"10001\",\"mod\":\"fffffffb\"}' | modmill powm
  modmill powm --in jobs.jsonl --out powers.jsonl
  modmill inv --in numbers.parquet --out inverses.parquet
  modmill bench --bits 2048,4096 --html report.html
  modmill selftest                  prove this build on this hardware
  modmill rsa sign --key key.pem --padding pss --hash sha256 --in message --out message.sig
  modmill ec keygen --curve ed25519 --out key.pem   a key for signatures on a curve
  modmill serve --data keys         a signing service for many clients
  modmill audit --in keys/          which RSA keys share a prime, and with which others
  modmill openssl doctor            prove that OpenSSL signs through modmill
  modmill fhe demo                  compute with encrypted bits
  modmill hardware simulate --improved   a hardware multiplier, cycle by cycle
  modmill load --endpoint http://127.0.0.1:4599 --credentials load.json --sweep
  modmill tune                      measure this machine's GPU, once
  modmill completions bash > /etc/bash_completion.d/modmill
  modmill man | man -l -            the manual; modmill man rsa sign, of a command

Environment (an empty variable counts as unset):
  MODMILL_BACKEND        auto, cpu or cuda: the default of --backend
  MODMILL_CPU            portable, x86, avx2, avx512 or avx512ifma: the most that the CPU may use
  MODMILL_CUDA_DEVICES   the numbers of the GPUs to use, separated by commas
  MODMILL_TUNE           the table of measurements that tune writes and engines read
  MODMILL_REQUIRE_GPU    1 lets a self-test without a GPU fail

Exit status:
  0  every item was answered
  1  some items have no answer, or a check failed
  2  the command line is wrong, or a file cannot be read or written
  3  audit found weak keys";

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
            failure.message().into_iter().for_each(failure::say);
            failure.exit_code()
        }
    }
}
