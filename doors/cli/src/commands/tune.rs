//! `modmill tune`: measures this machine's GPU and writes the table that engines then choose by.

use super::bench::{parse_bits, parse_seconds};
use crate::failure::Failure;
use crate::io::{self, Output};
use crate::progress::Bar;
use modmill::Family;
use modmill_measure::gpu_families;
use std::path::PathBuf;
use std::time::Duration;

const LONG_ABOUT: &str = "\
Measures this machine's GPU and writes the table that engines choose by.

The best way to spread numbers over a GPU's threads depends on the GPU, on the length of the numbers and \
on how many there are. At each length every algorithm is measured in every useful layout, with the GPU \
full and with a single warp on every multiprocessor. Products by transforms (fft) are measured in full \
batches and alone. All answers are checked against the CPU. Of each algorithm, the layouts that are the \
fastest for some size of batch are kept. Other lengths are computed like their neighbours.

The table is written to the file that MODMILL_TUNE names, or to tune-<GPU>.json in the cache folder: \
engines on this machine look for it there. Entries for other lengths stay in it. Without a table, \
engines use the measurements of an H200, or estimates from the rates of another GPU. The measured GPU \
is the first one, or the one that MODMILL_CUDA_DEVICES names.";

const EXAMPLES: &str = "\
Examples:
  modmill tune                                     some minutes, once
  modmill tune --bits 2048 --algorithm row,wide --seconds 60
  modmill tune --algorithm fft --transform-bits 65536,1048576
  modmill tune --out table.json && MODMILL_TUNE=table.json modmill info --backend cuda
  MODMILL_CUDA_DEVICES=1 modmill tune              the second GPU";

/// Measures this machine's GPU, for engines to choose by
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Tune {
    /// Lengths of moduli and exponents
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_bits)]
    #[arg(default_value = "128,256,384,512,1024,1536,2048,3072,4096,8192")]
    bits: Vec<usize>,
    /// Algorithms: row, two_pass, wide, narrow, rns, fft [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_family)]
    algorithm: Vec<Family>,
    /// Lengths of factors, for products by transforms
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_bits)]
    #[arg(default_value = "16384,65536,262144,1048576,4194304,16777216")]
    transform_bits: Vec<usize>,
    /// Seconds for each length, besides compiling
    #[arg(long, value_name = "S", default_value = "20", value_parser = parse_seconds)]
    seconds: Duration,
    /// Write the table to this file, not where engines look for it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write everything that was measured as JSON, to standard output if no file is named
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<String>,
    /// Show no progress bar
    #[arg(long, short)]
    quiet: bool,
}

fn parse_family(text: &str) -> Result<Family, String> {
    let families = gpu_families();
    let family = text.parse().ok().filter(|family| families.contains(family));
    family.ok_or_else(|| {
        let known: Vec<&str> = families.iter().map(|family| family.name()).collect();
        format!("GPUs have no algorithm {text:?}; known: {}", known.join(", "))
    })
}

impl Tune {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let tune = modmill_measure::Tune {
            bits: self.bits,
            families: if self.algorithm.is_empty() { gpu_families() } else { self.algorithm },
            transform_bits: self.transform_bits,
            time: self.seconds,
            out: self.out,
        };
        let json = self.json.as_deref().map(Output::create).transpose()?;
        let bar = Bar::new(Some(tune.lengths() as u64), self.quiet, "lengths");
        let tuned = tune.run(&bar)?;
        bar.finish();
        match json {
            Some(mut output) => {
                output.write(&format!("{:#}\n", tuned.to_json()))?;
                output.finish()?;
            }
            None => io::print(&tuned.to_text())?,
        }
        Ok(tuned.check()?)
    }
}
