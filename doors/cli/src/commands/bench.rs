//! `modmill bench`: every operation and size, compared with the peers found on the machine.

mod callers;
mod checked;
mod file_inputs;
mod files;
mod help;

use crate::bench_header::bench_header;
use crate::failure::Failure;
use crate::io::{self, Output};
use crate::options::{BackendOption, MemoryOption};
use crate::progress::Bar;
use files::{FileBench, FileOp};
use help::{EXAMPLES, LONG_ABOUT};
use modmill::{Op, TRANSFORM_MAX_BITS};
use modmill_measure::record::{Record, to_json};
use modmill_measure::{
    AlgorithmChoice, BenchOp, MIN_BITS, Memory, PeerChoice, Peers, Progress, RsaOp, batches, report, table,
};
use std::time::Duration;

/// Measures operations and compares them with other libraries
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Bench {
    /// Operations
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "pow", value_parser = parse_op)]
    ops: Vec<BenchOp>,
    /// Lengths of moduli, or of factors for mul
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1024,2048,4096")]
    #[arg(value_parser = parse_bits)]
    bits: Vec<usize>,
    #[command(flatten)]
    backend: BackendOption,
    /// Algorithms: auto (the engine's choice), row, two_pass, wide, narrow, ifma, rns, fft, or all (every
    /// path of this machine) [default: auto, and on the CPU the best path of every other algorithm]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_algorithm)]
    algorithm: Vec<AlgorithmChoice>,
    /// Items in a batch [default: 16 per thread for powers, 64 for inv, 1024 for products; on GPUs 8 waves,
    /// 16 for products, fewer if they take long; 64 with --callers]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    batch: Vec<u32>,
    /// Threads of ours and of the peers; 0 means all cores [default: 1; all cores with --backend cuda,
    /// --files, --callers or --batches]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u16).range(..=4096))]
    threads: Vec<u16>,
    /// Seconds for each path or peer at each point
    #[arg(long, value_name = "S", default_value = "1", value_parser = parse_seconds)]
    seconds: Duration,
    /// Length of exponents [default: that of the modulus]; for pow_vartime, 17 means 65537
    #[arg(long, value_name = "N", value_parser = parse_exponent_bits)]
    exponent_bits: Option<usize>,
    /// Give all items the same modulus
    #[arg(long)]
    shared_modulus: bool,
    /// Place of operands and answers: plain (answers in new memory), reused (answers in the memory of the
    /// last call), pinned (both in memory that a GPU copies by itself) or resident (both on the GPU)
    #[arg(long, value_name = "KIND", default_value_t, value_parser = parse_memory)]
    place: Memory,
    /// Different keys in an RSA batch, which its items use in turn
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    keys: u16,
    /// RSA on GPUs with one key: blind the exponents, and read table entries directly
    #[arg(long)]
    direct_tables: bool,
    /// Measure the program from file to file
    #[arg(long, conflicts_with_all = ["algorithm", "shared_modulus", "html"])]
    files: bool,
    /// Numbers of threads that call one engine at the same time; each number is measured
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(conflicts_with_all = ["algorithm", "html", "files", "batches", "place"])]
    callers: Vec<u16>,
    /// Measure batches of growing sizes on the CPU and on GPUs
    #[arg(long, conflicts_with = "files")]
    batches: bool,
    #[command(flatten)]
    memory: MemoryOption,
    /// Peers: all (those found), none, or a list of gmp, openssl, flint or name=FILE
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true)]
    #[arg(default_value = "all", default_missing_value = "all", value_parser = parse_peers)]
    peers: PeerChoice,
    /// Seed of the random inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the records to this file
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Write a report with plots to this file
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Draw throughput and latency by batch size to this file
    #[arg(long, value_name = "FILE", requires = "batches")]
    svg: Option<String>,
    /// Show no progress bar
    #[arg(long, short)]
    quiet: bool,
}

fn parse_op(text: &str) -> Result<BenchOp, String> {
    text.parse()
}

fn parse_memory(text: &str) -> Result<Memory, String> {
    text.parse()
}

fn parse_algorithm(text: &str) -> Result<AlgorithmChoice, String> {
    text.parse()
}

fn parse_peers(text: &str) -> Result<PeerChoice, String> {
    text.parse()
}

fn parse_range(text: &str, least: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(bits) if (least..=TRANSFORM_MAX_BITS).contains(&bits) => Ok(bits),
        _ => Err(format!("not a length from {least} to {TRANSFORM_MAX_BITS} bits")),
    }
}

pub(crate) fn parse_bits(text: &str) -> Result<usize, String> {
    parse_range(text, MIN_BITS)
}

fn parse_exponent_bits(text: &str) -> Result<usize, String> {
    parse_range(text, 1)
}

pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if (1e-3..=86_400.0).contains(&seconds) => Ok(time),
        _ => Err("not a time from 0.001 to 86400 seconds".to_owned()),
    }
}

impl Bench {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if self.files {
            return self.run_files();
        }
        if !self.callers.is_empty() {
            return self.run_callers();
        }
        let peers =
            if self.batches { no_peers()? } else { Peers::load(&self.peers).map_err(Failure::Usage)? };
        // The files are opened first: a misspelt folder should not show after minutes of measuring.
        let json = self.json.as_deref().map(Output::create).transpose()?;
        let html = self.html.as_deref().map(Output::create).transpose()?;
        let svg = self.svg.as_deref().map(Output::create).transpose()?;
        let header = bench_header(self.seconds, self.seed, Some(&peers));
        let bench = self.settings(peers);
        let bar = Bar::new(Some(bench.points() as u64), self.quiet, "points");
        let results = bench.run(&bar)?;
        bar.finish();
        if let Some(mut output) = json {
            let text = to_json(&header, &results);
            output.write(&text.map_err(|error| Failure::Usage(error.to_string()))?)?;
            output.finish()?;
        }
        if let Some(mut output) = html {
            output.write(&report::page(&header, &results.records))?;
            output.finish()?;
        }
        if let Some(mut output) = svg {
            output.write(&report::batches_picture(&results.records))?;
            output.finish()?;
        }
        io::print(&table::results(&header, &results))?;
        if self.batches {
            io::print(&batches::summary(&results.records))?;
        }
        let wrong: Vec<&Record> = results.records.iter().filter(|record| !record.verified).collect();
        match wrong.first() {
            None => Ok(()),
            Some(first) => Err(Failure::Items(format!(
                "wrong answers in {} of {} records; the first: {} of {} bits by {}",
                wrong.len(),
                results.records.len(),
                first.op,
                first.bits,
                first.label()
            ))),
        }
    }

    /// Measures files instead of batches.
    fn run_files(&self) -> Result<(), Failure> {
        let ops = self.ops.iter().map(|&op| file_op(op)).collect::<Result<Vec<FileOp>, Failure>>()?;
        let json = self.json.as_deref().map(Output::create).transpose()?;
        let mut records = Vec::new();
        let threads = if self.threads.is_empty() { &[0][..] } else { &self.threads };
        io::print(&modmill_measure::files::header())?;
        for &threads in threads {
            let engine = self.backend.builder(threads.into()).build()?;
            let bench = FileBench {
                engine: &engine,
                ops: &ops,
                bits: &self.bits,
                exponent_bits: self.exponent_bits,
                counts: self.batch.iter().map(|&count| count as usize).collect(),
                time: self.seconds,
                seed: self.seed,
                memory: self.memory.memory,
            };
            let bar = Bar::new(Some(bench.files() as u64), self.quiet, "files");
            let measuring = |what| bar.message(what);
            bench.run(measuring, |record| {
                bar.advance(1);
                bar.aside(|| io::print(&modmill_measure::files::line(&record)))?;
                records.push(record);
                Ok(())
            })?;
            bar.finish();
        }
        if let Some(mut output) = json {
            let text =
                modmill_measure::files::to_json(&bench_header(self.seconds, self.seed, None), &records);
            output.write(&text.map_err(|error| Failure::Usage(error.to_string()))?)?;
            output.finish()?;
        }
        match records.iter().find(|record| !record.verified) {
            None => Ok(()),
            Some(wrong) => Err(Failure::Items(format!(
                "wrong answers to {} of {} bits in {}",
                wrong.op, wrong.bits, wrong.format
            ))),
        }
    }

    fn settings(&self, peers: Peers) -> modmill_measure::Bench {
        // A GPU is fed by all cores, and compared with all of them.
        let default_threads = usize::from(!self.backend.is_cuda() && !self.batches);
        let mut algorithms = self.algorithm.clone();
        let mut batches: Vec<usize> = self.batch.iter().map(|&count| count as usize).collect();
        if self.batches && algorithms.is_empty() {
            algorithms.push(AlgorithmChoice::Auto);
        }
        if self.batches && batches.is_empty() {
            batches = batches::sizes();
        }
        modmill_measure::Bench {
            ops: self.ops.clone(),
            bits: self.bits.clone(),
            algorithms,
            batches,
            threads: match self.threads.is_empty() {
                true => vec![default_threads],
                false => self.threads.iter().copied().map(usize::from).collect(),
            },
            time: self.seconds,
            exponent_bits: self.exponent_bits,
            shared_modulus: self.shared_modulus,
            memory: self.place,
            keys: self.keys.into(),
            direct_tables: self.direct_tables,
            seed: self.seed,
            engine: self.backend.builder(0),
            peers,
        }
    }
}

fn no_peers() -> Result<Peers, Failure> {
    Peers::load(&PeerChoice::These(Vec::new())).map_err(Failure::Usage)
}

/// The operation of a command that reads files.
fn file_op(op: BenchOp) -> Result<FileOp, Failure> {
    match op {
        BenchOp::Call(op) if !matches!(op, Op::Div | Op::Isqrt | Op::Jacobi) => Ok(FileOp::Numbers(op)),
        BenchOp::Rsa(RsaOp::Sign) => Ok(FileOp::Sign),
        _ => Err(Failure::Usage(format!(
            "--files measures powers, products, inverses, divisors and rsa_sign; {op} is none of them"
        ))),
    }
}

impl Progress for Bar {
    fn measuring(&self, what: String) {
        self.message(what);
    }

    fn point_done(&self) {
        self.advance(1);
    }
}
