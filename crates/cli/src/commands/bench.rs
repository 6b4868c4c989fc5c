//! `modmill bench`: every operation and size beside the peers found on the machine.

use crate::bench::contender::{Call, Theirs};
use crate::bench::inputs::{Inputs, MIN_BITS, Shape};
use crate::bench::measurand::Measurand;
use crate::bench::measure::{Known, measure};
use crate::bench::record::{Header, PeerFound, Record, to_json};
use crate::bench::rsa;
use crate::bench::scribe::Scribe;
use crate::bench::sides::{Engines, Side, Wanted};
use crate::bench::table;
use crate::failure::Failure;
use crate::io::{self, Output};
use crate::machine::{self, Build, Machine};
use crate::options::BackendOption;
use crate::peers::{self, Peer};
use crate::progress::Bar;
use crate::report;
use modmill::{Backend, Engine, HUGE_BITS, Op};
use std::time::Duration;

const LONG_ABOUT: &str = "\
Measures operations beside the other libraries found on this machine, and checks every answer.

Everyone gets the same random inputs: odd moduli of full length, bases below them, exponents of full
length. Slices of ours and theirs take turns, so that whatever else the machine does falls on all
alike; ops/s is the best slice and median the median one. Every answer of ours is compared with a
peer's, or with num-bigint's where no peer is there; a difference makes the exit status 1.

Peers (GMP, OpenSSL, FLINT) are loaded at run time where they are found; --peers=none leaves them
out. They are called for one operation after the other on each of --threads threads, with numbers and
Montgomery constants prepared beforehand. Ours prepare the constants of each modulus within the
measured time, unless --shared-modulus gives all items the same one.

GPUs are measured beside all this with batches that fill them, from the caller's numbers to the
answers, copies and all; kernel ops/s is what their kernels reach without the copies. Up to 256 items
of theirs are compared with the CPU's answers: all, or a random sample. mul_mod_chain and
square_mod_chain are Montgomery products one after the other, as papers measure them: nothing is
copied or prepared in between.

rsa_sign goes from SHA-256 digests to PKCS #1 v1.5 signatures, each checked with the public exponent,
rsa_verify back, and rsa_decrypt from OAEP ciphertexts to messages; OpenSSL does the same by EVP_PKEY_sign,
EVP_PKEY_verify and EVP_PKEY_decrypt. Keys are random, and their constants kept from call to call. Batches
that fill a GPU have 1024 different messages or so, again and again; all answers are compared.

The latency of ours is that of a whole batch, of a peer that of one operation. A star marks the path
the engine chooses by itself.";

const EXAMPLES: &str = "\
Examples:
  modmill bench                                    powers at 1024, 2048 and 4096 bits, under a minute
  modmill bench --ops mul,mul_mod,square_mod,inv --bits 256,1024,4096
  modmill bench --bits 2048 --batch 1,8,64,512 --threads 1,4 --html report.html
  modmill bench --ops pow_vartime --exponent-bits 17     public exponent 65537
  modmill bench --ops rsa_sign,rsa_verify,rsa_decrypt --bits 2048,3072,4096 --algorithm auto
  modmill bench --algorithm all --peers=none --json paths.json
  modmill bench --backend cuda --ops pow,mul_mod,square_mod_chain --algorithm all
  modmill bench --peers=openssl,openssl=/opt/openssl/lib/libcrypto.so.3
  modmill bench --ops mul,gcd --bits 786432,4194304 --batch 1 --peers=gmp,flint=/opt/flint/lib/libflint.so

Operations: mul, square, mul_mod, square_mod, pow, pow_vartime, inv, gcd; rsa_sign, rsa_verify, rsa_decrypt;
on GPUs: mul_mod_chain, square_mod_chain";

/// Measures operations beside other libraries
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Bench {
    /// Operations
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "pow", value_parser = parse_measurand)]
    ops: Vec<Measurand>,
    /// Lengths of moduli, or of factors for mul
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1024,2048,4096")]
    #[arg(value_parser = parse_bits)]
    bits: Vec<usize>,
    #[command(flatten)]
    backend: BackendOption,
    /// Algorithms: auto (the engine's choice), row, two_pass, wide, narrow, ifma, rns, fft, or all (every path there is)
    /// [default: auto, and on the CPU the best path of every other algorithm]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Wanted::parse)]
    algorithm: Vec<Wanted>,
    /// Items in a batch [default: 16 a thread for powers, 64 for inv, 1024 for products; on GPUs 8
    /// times what they compute at once, 16 times for products, less if that takes long]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    batch: Vec<u32>,
    /// Threads, ours and the peers'; 0 means all cores [default: 1, with --backend cuda all cores]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u16).range(..=4096))]
    threads: Vec<u16>,
    /// Seconds for each measured path or peer at each point
    #[arg(long, value_name = "S", default_value = "1", value_parser = parse_seconds)]
    seconds: Duration,
    /// Length of exponents, if not that of the modulus; 17 is 65537 for pow_vartime
    #[arg(long, value_name = "N", value_parser = parse_exponent_bits)]
    exponent_bits: Option<usize>,
    /// One modulus for all items
    #[arg(long)]
    shared_modulus: bool,
    /// Keys of an RSA batch, which its items have in turn; with more than one, every item is handed its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    keys: u16,
    /// RSA by blinded exponents and direct reads of tables on GPUs, where all items have one key
    #[arg(long)]
    direct_tables: bool,
    /// Peers: all found, or a list of gmp, openssl, flint (or name=FILE), or none
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true)]
    #[arg(default_value = "all", default_missing_value = "all", value_parser = peers::parse)]
    peers: peers::Choice,
    /// Seed of the random inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the records to this file
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Write a report with plots to this file
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Show no progress bar
    #[arg(long, short)]
    quiet: bool,
}

fn parse_measurand(text: &str) -> Result<Measurand, String> {
    text.parse()
}

fn parse_range(text: &str, least: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(bits) if (least..=HUGE_BITS).contains(&bits) => Ok(bits),
        _ => Err(format!("not a length from {least} to {HUGE_BITS} bits")),
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
        let peers = peers::load(&self.peers).map_err(Failure::Usage)?;
        // Opened first: a minute of measuring should not end in a misspelt directory.
        let mut json = self.json.as_deref().map(Output::create).transpose()?;
        let mut html = self.html.as_deref().map(Output::create).transpose()?;
        let header = self.header(&peers);
        let records = self.records(&peers)?;
        if let Some(output) = &mut json {
            let text = to_json(&header, &records);
            output.write(&text.map_err(|error| Failure::Usage(error.to_string()))?)?;
            output.finish()?;
        }
        if let Some(output) = &mut html {
            output.write(&report::page(&header, &records))?;
            output.finish()?;
        }
        let Header { hardware, build, .. } = &header;
        let mut text = format!(
            "{}, {} cores; modmill {} at {}, {}\n",
            hardware.cpu, hardware.cores, build.version, build.commit, build.profile
        );
        if let Some(device) = records.iter().find_map(|record| record.device.as_ref()) {
            text += &format!("{device}\n");
        }
        text += &format!("{}\n", table::results(&records).trim_fmt());
        if records.iter().any(|record| record.chosen) {
            text += "* the path the engine chooses by itself\n";
        }
        io::print(&text)?;
        let wrong: Vec<&Record> = records.iter().filter(|record| !record.verified).collect();
        match wrong.first() {
            None => Ok(()),
            Some(first) => Err(Failure::Items(format!(
                "wrong answers in {} of {} records; the first: {} of {} bits by {}",
                wrong.len(),
                records.len(),
                first.op,
                first.bits,
                first.label()
            ))),
        }
    }

    fn header(&self, peers: &[Box<dyn Peer>]) -> Header {
        let hardware = Machine::detect();
        let mut command: Vec<String> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        if let Some(program) = command.first_mut() {
            *program = "modmill".to_owned();
        }
        Header {
            kind: "header",
            machine: format!("{} {}, {} cores", hardware.os, hardware.architecture, hardware.cores),
            hardware,
            build: Build::this(),
            date: machine::now(),
            command: command.join(" "),
            seconds: self.seconds.as_secs_f64(),
            seed: self.seed,
            peers: peers.iter().map(|peer| PeerFound::of(peer.as_ref())).collect(),
        }
    }

    /// What feeds a GPU are all cores.
    fn threads(&self) -> Vec<u16> {
        match self.threads.is_empty() {
            true => vec![u16::from(!self.backend.is_cuda())],
            false => self.threads.clone(),
        }
    }

    fn records(&self, peers: &[Box<dyn Peer>]) -> Result<Vec<Record>, Failure> {
        let batches = self.batch.len().max(1);
        let threads = self.threads();
        let points = self.ops.len() * self.bits.len() * batches * threads.len();
        let bar = Bar::new(Some(points as u64), self.quiet, "points");
        let cpu = Engine::builder().backend(Backend::Cpu).build()?;
        let mut records = Vec::new();
        let all = threads
            .iter()
            .map(|&threads| Engines::new(&self.algorithm, &self.backend.builder(threads.into())))
            .collect::<Result<Vec<Engines>, _>>()?;
        let chain = self.ops.iter().find(|measurand| matches!(measurand, Measurand::Chain(_)));
        if let (Some(chain), Some(why)) = (chain, all.iter().find_map(Engines::without_gpu)) {
            return Err(Failure::Usage(format!("{chain} is for GPUs: {why}")));
        }
        for &measurand in &self.ops {
            for &bits in &self.bits {
                for batch in 0..batches {
                    // Numbers of threads one after the other, as close in time as they come.
                    for engines in &all {
                        for side in &engines.sides {
                            let message = |count| {
                                let backend = side.backend;
                                bar.message(format!(
                                    "{measurand} of {bits} bits on {backend}, {count} a batch"
                                ));
                            };
                            let field = Field { engines, side, peers, cpu: &cpu };
                            records.extend(self.side(measurand, bits, batch, &field, message)?);
                        }
                        bar.advance(1);
                    }
                }
            }
        }
        bar.finish();
        Ok(records)
    }

    /// Measures everyone of one side with one of the batches.
    fn side(
        &self,
        measurand: Measurand,
        bits: usize,
        batch: usize,
        field: &Field<'_>,
        message: impl Fn(usize),
    ) -> Result<Vec<Record>, Failure> {
        let Field { engines, side, peers, cpu } = *field;
        // Peers alone are measured once, with as many items as beside a CPU.
        let has = side.has(measurand);
        let count = match self.batch.get(batch) {
            Some(&count) if has => count as usize,
            _ => side.default_batch(measurand, bits, engines.chosen.threads())?,
        };
        let peers = if has || batch == 0 { side.peers(measurand, peers) } else { &[] };
        if !has && peers.is_empty() {
            return Ok(Vec::new());
        }
        message(count);
        if let Measurand::Rsa(op) = measurand {
            let shape =
                rsa::Shape { op, bits, count, keys: self.keys.into(), direct_tables: self.direct_tables };
            return rsa::point(&rsa::Task::new(shape, cpu)?, engines, side, peers, self.seconds);
        }
        let inputs = Inputs::random(self.shape(measurand, bits, count), self.seed);
        self.point(measurand, &inputs, &Field { peers, ..*field })
    }

    fn shape(&self, measurand: Measurand, bits: usize, count: usize) -> Shape {
        let op = measurand.op();
        let exponent_bits = self.exponent_bits.unwrap_or(bits);
        Shape {
            op,
            bits,
            exponent_bits,
            count,
            shared_modulus: self.shared_modulus && !matches!(op, Op::Mul | Op::Square | Op::Gcd),
        }
    }

    /// Measures everyone of one side at one point: on the CPU turn by turn with the peers, GPUs alone.
    fn point(
        &self,
        measurand: Measurand,
        inputs: &Inputs,
        field: &Field<'_>,
    ) -> Result<Vec<Record>, Failure> {
        let Field { engines, side, peers, cpu } = *field;
        let threads = engines.chosen.threads();
        let mut ours = engines.contenders(side, measurand, inputs)?;
        let mut records = Vec::new();
        if side.backend == Backend::Cuda {
            for path in &mut ours {
                let known = match &path.call {
                    Call::Engine(_) => Known::by_cpu(inputs, cpu)?,
                    Call::Chain(chain) => chain.known(inputs),
                };
                let point = measure(inputs, std::slice::from_mut(path), &mut [], self.seconds, Some(known))?;
                let scribe = Scribe { measurand, shape: inputs.shape, threads, known: &point.known };
                records.extend(point.ours.iter().map(|measured| scribe.ours(path, side, measured)));
            }
            return Ok(records);
        }
        let mut theirs: Vec<Theirs<'_>> =
            peers.iter().map(|peer| Theirs::of_inputs(peer.as_ref(), inputs, threads)).collect();
        let point = measure(inputs, &mut ours, &mut theirs, self.seconds, None)?;
        let scribe = Scribe { measurand, shape: inputs.shape, threads, known: &point.known };
        records
            .extend(ours.iter().zip(&point.ours).map(|(path, measured)| scribe.ours(path, side, measured)));
        records.extend(theirs.iter().zip(&point.peers).map(|(peer, measured)| scribe.theirs(peer, measured)));
        Ok(records)
    }
}

/// Who is measured at a point, and who knows the answers.
struct Field<'a> {
    engines: &'a Engines,
    side: &'a Side,
    peers: &'a [Box<dyn Peer>],
    cpu: &'a Engine,
}
