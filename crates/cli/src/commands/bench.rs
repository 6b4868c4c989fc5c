//! `modmill bench`: every operation and size beside the peers found on the machine.

use crate::bench::contender::{Ours, Theirs};
use crate::bench::inputs::{Inputs, MIN_BITS, Shape};
use crate::bench::measure::{Measured, measure};
use crate::bench::record::{Header, PeerFound, Record, to_json};
use crate::bench::table;
use crate::failure::Failure;
use crate::io::{self, Output};
use crate::machine::{self, Build, Machine};
use crate::options::BackendOption;
use crate::peers::{self, Peer};
use crate::report;
use crate::stream::Bar;
use modmill::{Backend, Engine, EngineBuilder, Family, MAX_BITS, Op};
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

The latency of ours is that of a whole batch, of a peer that of one operation. A star marks the path
the engine chooses by itself.";

const EXAMPLES: &str = "\
Examples:
  modmill bench                                    powers at 1024, 2048 and 4096 bits, under a minute
  modmill bench --ops mul,mul_mod,square_mod,inv --bits 256,1024,4096
  modmill bench --bits 2048 --batch 1,8,64,512 --threads 1,4 --html report.html
  modmill bench --ops pow_vartime --exponent-bits 17     public exponent 65537
  modmill bench --algorithm all --peers=none --json paths.json
  modmill bench --peers=openssl,openssl=/opt/openssl/lib/libcrypto.so.3

Operations: mul, mul_mod, square_mod, pow, pow_vartime, inv";

/// Measures operations beside other libraries
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Bench {
    /// Operations
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "pow", value_parser = parse_op)]
    ops: Vec<Op>,
    /// Lengths of moduli, or of factors for mul
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1024,2048,4096")]
    #[arg(value_parser = parse_bits)]
    bits: Vec<usize>,
    #[command(flatten)]
    backend: BackendOption,
    /// Algorithms: auto (the engine's choice), row, two_pass, wide, narrow, ifma, or all (every path there is)
    /// [default: auto and the best path of every other algorithm]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_wanted)]
    algorithm: Vec<Wanted>,
    /// Items in a batch [default: 16 a thread for powers, 64 for inv, 1024 for products]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    batch: Vec<u32>,
    /// Threads, ours and the peers'; 0 means all cores
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1")]
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

/// Which paths of ours to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Chosen,
    Family(Family),
    Every,
}

fn parse_op(text: &str) -> Result<Op, String> {
    text.parse()
}

fn parse_wanted(text: &str) -> Result<Wanted, String> {
    match text {
        "auto" => Ok(Wanted::Chosen),
        "all" => Ok(Wanted::Every),
        _ => text.parse().map(Wanted::Family),
    }
}

fn parse_range(text: &str, least: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(bits) if (least..=MAX_BITS).contains(&bits) => Ok(bits),
        _ => Err(format!("not a length from {least} to {MAX_BITS} bits")),
    }
}

fn parse_bits(text: &str) -> Result<usize, String> {
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
            output.flush()?;
        }
        if let Some(output) = &mut html {
            output.write(&report::page(&header, &records))?;
            output.flush()?;
        }
        let Header { hardware, build, .. } = &header;
        let mut text = format!(
            "{}, {} cores; modmill {} at {}, {}\n",
            hardware.cpu, hardware.cores, build.version, build.commit, build.profile
        );
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

    fn records(&self, peers: &[Box<dyn Peer>]) -> Result<Vec<Record>, Failure> {
        let batches = self.batch.len().max(1);
        let points = self.ops.len() * self.bits.len() * batches * self.threads.len();
        let bar = Bar::new(Some(points as u64), self.quiet, "points");
        let mut records = Vec::new();
        for &threads in &self.threads {
            let engines = Engines::new(&self.algorithm, &self.backend.builder(threads.into()))?;
            for &op in &self.ops {
                for &bits in &self.bits {
                    for batch in 0..batches {
                        let threads = engines.chosen.threads();
                        let count = self.batch.get(batch).map_or(default_batch(op, threads), |&b| b as usize);
                        let exponent_bits = self.exponent_bits.unwrap_or(bits);
                        let shared_modulus = self.shared_modulus && op != Op::Mul;
                        let shape = Shape { op, bits, exponent_bits, count, shared_modulus };
                        bar.message(format!("{op} of {bits} bits, {count} a batch"));
                        records.extend(self.point(shape, &engines, peers)?);
                        bar.advance(1);
                    }
                }
            }
        }
        bar.finish();
        Ok(records)
    }

    fn point(
        &self,
        shape: Shape,
        engines: &Engines,
        peers: &[Box<dyn Peer>],
    ) -> Result<Vec<Record>, Failure> {
        let inputs = Inputs::random(shape, self.seed);
        let threads = engines.chosen.threads();
        let mut ours = engines.contenders(&inputs)?;
        let mut theirs: Vec<Theirs<'_>> =
            peers.iter().map(|peer| Theirs::new(peer.as_ref(), &inputs, threads)).collect();
        let point = measure(&inputs, &mut ours, &mut theirs, self.seconds)?;
        let powers = matches!(shape.op, Op::Pow | Op::PowVartime);
        let record = |measured: &Measured| Record {
            kind: "result",
            op: shape.op.name().to_owned(),
            bits: shape.bits,
            exponent_bits: powers.then_some(shape.exponent_bits),
            shared_modulus: shape.shared_modulus,
            backend: Backend::Cpu.name().to_owned(),
            algorithm: String::new(),
            isa: None,
            chosen: false,
            batch: shape.count,
            threads,
            ops_per_s: measured.best,
            median_ops_per_s: measured.median,
            latency_ms: measured.latency_ms,
            verified: measured.right,
            verified_with: point.checked_with.clone(),
            peer: None,
            peer_version: None,
            peer_library: None,
        };
        let our_records = ours.iter().zip(&point.ours).map(|(path, measured)| Record {
            backend: path.plan.backend.name().to_owned(),
            algorithm: path.plan.family.name().to_owned(),
            isa: path.plan.isa.map(|isa| isa.name().to_owned()),
            chosen: path.chosen,
            ..record(measured)
        });
        let peer_records = theirs.iter().zip(&point.peers).map(|(theirs, measured)| Record {
            algorithm: theirs.peer.function(shape.op).to_owned(),
            // The first peer is what the others are compared with; it is compared with ours.
            verified_with: if theirs.peer.about().name == point.checked_with {
                "modmill".to_owned()
            } else {
                point.checked_with.clone()
            },
            peer: Some(theirs.peer.about().name.to_owned()),
            peer_version: Some(theirs.peer.about().version.clone()),
            peer_library: Some(theirs.peer.about().library.clone()),
            ..record(measured)
        });
        Ok(our_records.chain(peer_records).collect())
    }
}

fn default_batch(op: Op, threads: usize) -> usize {
    match op {
        Op::Pow | Op::PowVartime => 16 * threads,
        Op::Inv => 64 * threads,
        _ => 1024 * threads,
    }
}

/// The engines of one number of threads.
struct Engines {
    /// The one that chooses by itself.
    chosen: Engine,
    /// Those held to something, and whether the free one is to be measured too.
    forced: Vec<Engine>,
    with_chosen: bool,
}

impl Engines {
    fn new(wanted: &[Wanted], settings: &EngineBuilder) -> Result<Self, Failure> {
        let chosen = settings.clone().build()?;
        let mut families: Vec<Family> = chosen.paths().iter().map(|path| path.family).collect();
        families.dedup();
        let default: Vec<Wanted> =
            [Wanted::Chosen].into_iter().chain(families.into_iter().map(Wanted::Family)).collect();
        let wanted = if wanted.is_empty() { &default } else { wanted };
        let mut forced = Vec::new();
        for wish in wanted {
            match *wish {
                Wanted::Chosen => {}
                Wanted::Family(family) => forced.push(settings.clone().family(family).build()?),
                Wanted::Every => {
                    for path in chosen.paths() {
                        forced.push(settings.clone().path(path).build()?);
                    }
                }
            }
        }
        let with_chosen = wanted.iter().any(|wish| matches!(wish, Wanted::Chosen | Wanted::Every));
        Ok(Self { chosen, forced, with_chosen })
    }

    /// Every path to measure at a point, once each.
    fn contenders<'a>(&'a self, inputs: &'a Inputs) -> Result<Vec<Ours<'a>>, Failure> {
        let Shape { op, bits, count, shared_modulus, .. } = inputs.shape;
        let explain = |engine: &Engine| match shared_modulus {
            true => engine.explain_one_modulus(op, bits, count),
            false => engine.explain(op, bits, count),
        };
        let mut contenders: Vec<Ours<'a>> = Vec::new();
        let mut engines: Vec<&Engine> = Vec::new();
        if self.with_chosen {
            engines.push(&self.chosen);
        }
        engines.extend(&self.forced);
        for engine in engines {
            let plan = explain(engine);
            let seen = |other: &Ours<'_>| other.plan.path() == plan.path();
            // Inverses take the same road on every path.
            if contenders.iter().any(seen) || op == Op::Inv && !contenders.is_empty() {
                continue;
            }
            let chosen = plan.path() == explain(&self.chosen).path();
            contenders.push(Ours::new(engine, plan, chosen, inputs)?);
        }
        Ok(contenders)
    }
}
