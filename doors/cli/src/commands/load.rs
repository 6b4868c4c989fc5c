//! `modmill load`: an open-loop load generator for a signing service.

mod help;
mod report;

use super::bench::parse_seconds;
use crate::failure::{self, Failure};
use crate::io::{self, Output};
use crate::progress::Bar;
use help::{EXAMPLES, LONG_ABOUT};
use modmill_load::{
    Credentials, Endpoint, Growth, Interface, Mixture, Padding, Point, Process, STEPS, Session, Settings,
    Soak, Spread,
};
use report::{Report, Results};
use std::path::PathBuf;
use std::time::Duration;

/// The time between two lines of a soak.
const SOAK_EVERY: Duration = Duration::from_secs(10);

/// Loads a signing service and measures it
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Load {
    /// URL of the server
    #[arg(long, value_name = "URL")]
    endpoint: String,
    /// Allow a server on another machine
    #[arg(long)]
    remote: bool,
    /// Interface: kms, transit or bulk
    #[arg(long, value_name = "NAME", default_value_t)]
    interface: Interface,
    /// JSON with access_key_id and secret_access_key, or with token
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// PEM file of certificates that an https server is checked by
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Region in the signatures of requests
    #[arg(long, value_name = "NAME", default_value = "us-east-1")]
    region: String,
    /// Requests that start in a second [default: each connection asks again after each answer]
    #[arg(long, value_name = "N", value_parser = parse_rate)]
    rate: Option<f64>,
    /// Measure saturation, and then 10 % to 120 % of it
    #[arg(long, conflicts_with = "rate")]
    sweep: bool,
    /// Arrivals: poisson or uniform
    #[arg(long, value_name = "NAME", default_value_t)]
    arrivals: Spread,
    /// Seconds of measurement for each rate
    #[arg(long, value_name = "S", default_value = "10", value_parser = parse_seconds)]
    duration: Duration,
    /// Seconds of load before each measurement
    #[arg(long, value_name = "S", default_value = "2", value_parser = parse_seconds)]
    warm_up: Duration,
    /// Seconds after which a request is given up
    #[arg(long, value_name = "S", default_value = "10", value_parser = parse_seconds)]
    timeout: Duration,
    /// Connections [default: 64 for kms, 4 for the others]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    connections: Option<u16>,
    /// Speak HTTP/2
    #[arg(long)]
    http2: bool,
    /// Requests at the same time on a connection of HTTP/2
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=4096))]
    streams: u16,
    /// Keys to make
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    keys: u16,
    /// Length of the keys: 2048, 3072 or 4096
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = parse_bits)]
    bits: u16,
    /// Use these keys and make none
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    key: Vec<String>,
    /// Padding of signatures, with SHA-256: pkcs1v15 or pss
    #[arg(long, value_name = "NAME", default_value_t)]
    padding: Padding,
    /// Operations with their weights, for kms: sign=8,verify=1,encrypt=1,decrypt=1
    #[arg(long, value_name = "LIST", default_value_t)]
    mix: Mixture,
    /// Digests in a request, for bulk and for transit, where modmill serve takes 65536 at most
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    batch: u32,
    /// Verify every N-th signature; 0 verifies none [default: 1, and 64 for bulk]
    #[arg(long, value_name = "N")]
    verify_every: Option<u64>,
    /// Process of the server, for its CPU time and memory
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Option<u32>,
    /// Open N connections, let them rest for --duration, and report the server's memory
    #[arg(long, value_name = "N", requires = "pid", conflicts_with_all = ["rate", "sweep", "soak", "svg"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    idle: Option<u32>,
    /// Load the server for this number of minutes, and fail if its memory grows
    #[arg(long, value_name = "MIN", requires_all = ["pid", "rate"], conflicts_with_all = ["sweep", "svg"])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    soak: Option<u32>,
    /// Growth of memory that a soak allows, in percent
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(..=1000))]
    growth: u32,
    /// Seed of arrivals and digests
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads of the load generator; 0 means half of the cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Write the results to this file
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Draw latency and throughput against the offered load to this file
    #[arg(long, value_name = "FILE", requires = "sweep")]
    svg: Option<String>,
    /// Show no progress bar
    #[arg(long, short)]
    quiet: bool,
}

/// Reads one of the lengths that the interfaces have keys of.
fn parse_bits(text: &str) -> Result<u16, String> {
    let bits = text.parse().ok().filter(|bits| [2048, 3072, 4096].contains(bits));
    bits.ok_or_else(|| "keys have 2048, 3072 or 4096 bits".to_owned())
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| (0.001..=1e8).contains(rate));
    rate.ok_or_else(|| "not a rate from 0.001 to 100000000 requests a second".to_owned())
}

impl From<modmill_load::Error> for Failure {
    fn from(error: modmill_load::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

impl Load {
    pub(crate) fn run(self) -> Result<(), Failure> {
        // The files are opened first: a misspelt folder should not show after minutes of measuring.
        let json = self.json.as_deref().map(Output::create).transpose()?;
        let svg = self.svg.as_deref().map(Output::create).transpose()?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.threads > 0 { self.threads.into() } else { cores.div_ceil(2) };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
        let runtime = runtime.map_err(|error| Failure::Usage(format!("cannot start threads: {error}")))?;
        let report = runtime.block_on(self.measure())?;
        if let Some(mut output) = json {
            output.write(&report.to_json()?)?;
            output.finish()?;
        }
        if let Some(mut output) = svg {
            output.write(&report.picture())?;
            output.finish()?;
        }
        report.verdict()
    }

    async fn measure(&self) -> Result<Report, Failure> {
        let endpoint = Endpoint::new(&self.endpoint, self.http2, self.ca.as_deref())?;
        if !endpoint.is_local() && !self.remote {
            let why = "is on another machine; --remote says that you may load it";
            return Err(Failure::Usage(format!("{} {why}", self.endpoint)));
        }
        let process = self.pid.map(Process::new).transpose()?;
        let results = match (self.idle, process) {
            (Some(count), Some(process)) => self.idle(&endpoint, process, count as usize).await?,
            _ => {
                let session = Session::open(self.settings(endpoint, process)?).await?;
                let results = self.load(&session).await;
                // The keys go even if the load failed. Keys that stay are no reason to lose the results.
                if let Err(error) = session.close().await {
                    failure::say(&error.to_string());
                }
                results?
            }
        };
        Ok(Report::new(self.title(), self.duration, self.seed, results))
    }

    /// The title of the report: interface, operations and length of the keys.
    fn title(&self) -> String {
        let batch = if self.interface == Interface::Kms {
            String::new()
        } else {
            format!(", batches of {}", self.batch)
        };
        format!("{} with RSA-{}, {}{batch}", self.interface, self.bits, self.mix)
    }

    fn settings(&self, endpoint: Endpoint, process: Option<Process>) -> Result<Settings, Failure> {
        let defaults = Settings::new(endpoint, self.interface, self.credentials()?);
        let is_bulk = self.interface == Interface::Bulk;
        Ok(Settings {
            region: self.region.clone(),
            keys: self.keys.into(),
            bits: self.bits.into(),
            key_names: self.key.clone(),
            padding: self.padding,
            mixture: self.mix.clone(),
            batch: self.batch as usize,
            connections: self.connections.map_or(defaults.connections, usize::from),
            streams: self.streams.into(),
            timeout: self.timeout,
            warm_up: self.warm_up,
            duration: self.duration,
            spread: self.arrivals,
            seed: self.seed,
            verify_every: self.verify_every.unwrap_or(if is_bulk { 64 } else { 1 }),
            process,
            ..defaults
        })
    }

    fn credentials(&self) -> Result<Credentials, Failure> {
        let mut credentials = match &self.credentials {
            None => Credentials::default(),
            Some(file) => {
                let name = file.display().to_string();
                let text = std::fs::read(file).map_err(|error| Failure::file("read", &name, &error))?;
                let text = zeroize::Zeroizing::new(text);
                // The error of the parser may quote what it read.
                let wrong = |_| Failure::Usage(format!("{name} is not the JSON of credentials"));
                serde_json::from_slice(&text).map_err(wrong)?
            }
        };
        let from_environment = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let Credentials { access_key_id, secret_access_key, token } = &mut credentials;
        *access_key_id = access_key_id.take().or_else(|| from_environment("AWS_ACCESS_KEY_ID"));
        let secret = || from_environment("AWS_SECRET_ACCESS_KEY").map(Into::into);
        *secret_access_key = secret_access_key.take().or_else(secret);
        *token = token.take().or_else(|| from_environment("VAULT_TOKEN").map(Into::into));
        Ok(credentials)
    }

    async fn load(&self, session: &Session) -> Result<Results, Failure> {
        if let Some(minutes) = self.soak {
            return self.soak(session, minutes).await;
        }
        io::print(&format!("{}\n", modmill_load::table_header()))?;
        let steps: &[f64] = if self.sweep { &STEPS } else { &[] };
        let bar = Bar::new(Some(steps.len() as u64 + 1), self.quiet, "rates");
        let mut printed = Ok(());
        let mut done = |point: &Point| {
            bar.advance(1);
            let line = bar.aside(|| io::print(&format!("{point}\n")));
            printed = std::mem::replace(&mut printed, Ok(())).and(line);
        };
        let points = match self.sweep {
            true => modmill_load::sweep(session, steps, done).await?,
            false => {
                let point = session.measure(self.rate).await?;
                done(&point);
                vec![point]
            }
        };
        bar.finish();
        printed?;
        Ok(Results::Points(points))
    }

    async fn soak(&self, session: &Session, minutes: u32) -> Result<Results, Failure> {
        let bound = f64::from(self.growth) / 100.0;
        let duration = Duration::from_secs(60 * u64::from(minutes));
        let soak = Soak { rate: self.rate.unwrap_or(1.0), duration, every: SOAK_EVERY, bound };
        let mut printed = Ok(());
        let print = |stretch: &modmill_load::Stretch| {
            let line = io::print(&format!("{stretch}\n"));
            printed = std::mem::replace(&mut printed, Ok(())).and(line);
        };
        let stretches = soak.run(session, print).await?;
        printed?;
        let growth = Growth::of(&stretches, bound);
        Ok(Results::Soak { stretches, growth })
    }

    async fn idle(&self, endpoint: &Endpoint, process: Process, count: usize) -> Result<Results, Failure> {
        let bar = Bar::new(Some(count as u64), self.quiet, "connections");
        let idle =
            modmill_load::idle(endpoint, process, (count, "/health"), self.duration, |_| bar.advance(1))
                .await?;
        bar.finish();
        io::print(&format!("{idle}\n"))?;
        Ok(Results::Idle(idle))
    }
}
