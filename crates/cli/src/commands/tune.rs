//! `modmill tune`: measures this machine's GPU and writes the table that engines then choose by.

use super::bench::{parse_bits, parse_seconds};
use crate::bench::table::{number, plain, right};
use crate::failure::Failure;
use crate::io::{self, Output};
use crate::stream::Bar;
use crate::tune::{Findings, Tuner, merge};
use modmill::cuda::{Cuda, FAMILIES, Layout, Settings, Table, Timing};
use modmill::{Backend, Engine, Family};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LONG_ABOUT: &str = "\
Measures this machine's GPU and writes the table that engines choose by.

How numbers are best spread over a GPU's threads depends on the GPU, on their length and on how many
there are. For each length every algorithm is measured in every layout worth it, with the GPU full and
with a single warp on every multiprocessor; answers are checked against the CPU. Of each algorithm the
ways that are the fastest for some size of batch are kept, the others dropped. Lengths in between are
computed like their neighbours.

The table is written where engines on this machine look for it: the file that MODMILL_TUNE names, or
tune-<GPU>.json in the folder of the cache. What it says of other lengths stays. Without it engines
use what was measured on an H200, or estimate from the rates of the GPU. The GPU is the first one, or the one that MODMILL_CUDA_DEVICES names.";

const EXAMPLES: &str = "\
Examples:
  modmill tune                                     some minutes, once
  modmill tune --bits 2048 --algorithm row,wide --seconds 60
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
    /// Algorithms: row, two_pass, wide, narrow, rns [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_family)]
    algorithm: Vec<Family>,
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
    let known = FAMILIES.map(Family::name).join(", ");
    let family = text.parse().ok().filter(|family| FAMILIES.contains(family));
    family.ok_or_else(|| format!("GPUs have no algorithm {text:?}; known: {known}"))
}

impl Tune {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let all = Cuda::open(Settings::default()).map_err(|error| Failure::Usage(error.to_string()))?;
        let device = all.devices().next().cloned();
        let device = device.ok_or_else(|| Failure::Usage("there is no GPU".to_owned()))?;
        let name = device.properties().name.clone();
        let out = self.place(&name)?;
        let mut json = self.json.as_deref().map(Output::create).transpose()?;
        let cuda = Cuda::on(vec![device], Settings::default());
        let cpu = Engine::builder().backend(Backend::Cpu).build()?;
        let tuner = Tuner { cuda: &cuda, cpu: &cpu };
        let families = if self.algorithm.is_empty() { FAMILIES.to_vec() } else { self.algorithm.clone() };

        let bar = Bar::new(Some(self.bits.len() as u64), self.quiet, "lengths");
        let (mut found, mut table) = (Findings::default(), all.table().clone());
        for (done, &bits) in self.bits.iter().enumerate() {
            bar.message(format!("compiling for {bits} bits"));
            let more = tuner.measure(bits, &families, self.seconds, |variant| {
                let Layout { threads, block, .. } = variant.layout;
                bar.message(format!("{bits} bits: {}, {threads} of {block} threads", variant.family));
            })?;
            found.timings.extend(more.timings);
            found.failed.extend(more.failed);
            found.wrong |= more.wrong;
            // What was measured is kept even if the rest never is.
            table = merge(all.table(), &name, &families, &self.bits[..=done], &found.timings);
            table.write(&out).map_err(|error| Failure::file("write", &out.to_string_lossy(), &error))?;
            bar.advance(1);
        }
        bar.finish();
        match &mut json {
            Some(output) => {
                output.write(&format!("{:#}\n", to_json(&name, &found, &table)))?;
                output.flush()?;
            }
            None => io::print(&to_text(&name, &found, &table, &out))?,
        }
        match found {
            Findings { wrong: true, .. } => Err(Failure::Items("some answers were wrong".to_owned())),
            Findings { timings, .. } if timings.is_empty() => {
                Err(Failure::Items("nothing could be measured".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// Where to write; minutes of measuring should not end in a misspelt directory.
    fn place(&self, device: &str) -> Result<PathBuf, Failure> {
        let out = self.out.clone().or_else(|| Table::place(device)).ok_or_else(|| {
            Failure::Usage("there is no folder for the table; name a file with --out".to_owned())
        })?;
        let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
        match folder {
            Some(folder) if !folder.is_dir() => {
                let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
                Err(Failure::file("write", &out.to_string_lossy(), &missing))
            }
            _ => Ok(out),
        }
    }
}

fn rate(timing: &Timing) -> f64 {
    timing.wave as f64 / timing.wave_seconds
}

fn to_json(device: &str, found: &Findings, table: &Table) -> Value {
    let timings = found.timings.iter().map(|timing| {
        let mut value = json!(timing);
        value["ops_per_s"] = json!(rate(timing));
        value["kept"] = json!(table.timings.contains(timing));
        value
    });
    let failed = found.failed.iter().map(|(variant, why)| {
        let (bits, family) = (32 * variant.words, variant.family.name());
        json!({ "bits": bits, "family": family, "layout": variant.layout, "reason": why })
    });
    json!({
        "device": device,
        "timings": timings.collect::<Vec<_>>(),
        "failed": failed.collect::<Vec<_>>(),
    })
}

/// What was kept.
fn to_text(device: &str, found: &Findings, table: &Table, out: &Path) -> String {
    let mut text = plain();
    text.set_header([
        "bits",
        "algorithm",
        "threads",
        "block",
        "blocks",
        "cut",
        "window",
        "at once",
        "powers/s",
        "alone ms",
    ]);
    for timing in found.timings.iter().filter(|timing| table.timings.contains(timing)) {
        let Layout { threads, block, resident, cut } = timing.layout;
        text.add_row([
            right(timing.bits),
            timing.family.name().into(),
            right(threads),
            right(block),
            right(resident),
            right(cut.map_or_else(|| "-".to_owned(), |cut| cut.to_string())),
            right(timing.window),
            right(timing.wave),
            right(number(rate(timing))),
            right(number(1e3 * timing.alone_seconds)),
        ]);
    }
    let mut text = format!("{device}\n{}\nkept in {}\n", text.trim_fmt(), out.display());
    if let Some((variant, why)) = found.failed.first() {
        let (family, bits, threads) = (variant.family, 32 * variant.words, variant.layout.threads);
        text += &format!(
            "{} variants could not be measured; the first: {family} of {bits} bits, {threads} threads: {why}\n",
            found.failed.len()
        );
    }
    text
}
