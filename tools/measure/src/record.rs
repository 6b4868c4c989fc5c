//! The records of a benchmark, in the form that `bench --json` writes.

use crate::error::Refusal;
use crate::machine::{Build, Machine};
use crate::peers::About;
use serde::Serialize;
use std::fmt;

/// The first record: the machine, the build and the settings of the measurement.
#[derive(Debug, Clone, Serialize)]
pub struct Header {
    /// Always `header`.
    pub kind: &'static str,
    /// Operating system, architecture and cores.
    pub machine: String,
    /// The machine.
    #[serde(flatten)]
    pub hardware: Machine,
    /// The build of the program.
    #[serde(flatten)]
    pub build: Build,
    /// The time at the start, in UTC.
    pub date: String,
    /// The command line.
    pub command: String,
    /// Seconds for each contender at each point.
    pub seconds: f64,
    /// The seed of the random inputs.
    pub seed: u64,
    /// The peers that took part.
    pub peers: Vec<About>,
}

/// A peer that does not compute numbers of this length, and was therefore left out at a point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Always `left_out`.
    pub kind: &'static str,
    /// The operation.
    pub op: String,
    /// Bits of moduli and bases, or of factors.
    pub bits: usize,
    /// The peer's name.
    pub peer: String,
    /// The version that the peer reports.
    pub peer_version: String,
    /// The function that refused, and the inputs that it refused.
    pub reason: String,
}

impl LeftOut {
    pub(crate) fn new(op: &str, bits: usize, about: &About, refusal: &Refusal) -> Self {
        Self {
            kind: "left_out",
            op: op.to_owned(),
            bits,
            peer: about.name.to_owned(),
            peer_version: about.version.clone(),
            reason: refusal.to_string(),
        }
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, bits, peer, peer_version, reason, .. } = self;
        write!(f, "{peer} {peer_version} is left out of {op} at {bits} bits: {reason}")
    }
}

/// The results of a benchmark.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// One record per contender and point.
    pub records: Vec<Record>,
    /// The peers that refused some of the inputs.
    pub left_out: Vec<LeftOut>,
}

/// The result of one contender at one point.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// Always `result`.
    pub kind: &'static str,
    /// The operation.
    pub op: String,
    /// Bits of moduli and bases, or of factors.
    pub bits: usize,
    /// Bits of exponents, for powers.
    pub exponent_bits: Option<usize>,
    /// Whether all items have the same modulus or key.
    pub shared_modulus: bool,
    /// The memory of operands and answers: `plain`, `reused` or `pinned`.
    pub memory: String,
    /// The backend that computed.
    pub backend: String,
    /// The family of algorithms, or the peer's function.
    pub algorithm: String,
    /// The instruction set, for our paths on the CPU.
    pub isa: Option<String>,
    /// Whether the engine takes this path by itself.
    pub chosen: bool,
    /// Items in a batch.
    pub batch: usize,
    /// Worker threads.
    pub threads: usize,
    /// Operations per second in the best slice.
    pub ops_per_s: f64,
    /// Operations per second in the median slice.
    pub median_ops_per_s: f64,
    /// Operations per second of processor time of all threads, over all slices; CPUs only.
    pub cpu_ops_per_s: Option<f64>,
    /// The part of the time in which the threads had no processor: others had it, or a thread had nothing to
    /// do; CPUs only.
    pub waited: Option<f64>,
    /// The part of the processors' time that the hypervisor gave to other machines.
    pub stolen: Option<f64>,
    /// Whether other work on the machine shows in the figures.
    pub busy: bool,
    /// Median milliseconds of a call: a whole batch of ours, or one operation of a peer.
    pub latency_ms: f64,
    /// Operations per second of the kernels alone, without copies; GPUs only.
    pub kernel_ops_per_s: Option<f64>,
    /// The GPU's name.
    pub device: Option<String>,
    /// Whether the compared answers were right.
    pub verified: bool,
    /// The library that the answers were compared with.
    pub verified_with: String,
    /// Items whose answers were compared: all of them, or a random sample of a GPU's batch.
    pub verified_items: usize,
    /// `gmp`, `openssl` or `flint`; `None` for our paths.
    pub peer: Option<String>,
    /// The version that the peer reports.
    pub peer_version: Option<String>,
    /// The file that the peer was loaded from.
    pub peer_library: Option<String>,
}

impl Record {
    /// Whether two records belong to the same point. A GPU has its own batch sizes, so these may differ
    /// between backends.
    pub(crate) fn same_point(&self, other: &Self) -> bool {
        let key = |record: &Self| (record.bits, record.exponent_bits, record.threads);
        let batches_match = self.backend != other.backend || self.batch == other.batch;
        self.op == other.op && key(self) == key(other) && batches_match
    }

    /// A peer's name and version, for columns and legends.
    pub(crate) fn peer_label(&self) -> Option<String> {
        let peer = self.peer.as_ref()?;
        Some(match &self.peer_version {
            Some(version) => format!("{peer} {version}"),
            None => peer.clone(),
        })
    }

    /// The name of a path or peer, for legends.
    #[must_use]
    pub fn label(&self) -> String {
        match (self.peer_label(), &self.isa) {
            (Some(label), _) => label,
            (None, Some(isa)) => format!("{isa}/{}", self.algorithm),
            (None, None) => format!("{}/{}", self.backend, self.algorithm),
        }
    }
}

/// The header and all results as one JSON array, one record per line.
pub fn to_json(header: &Header, results: &Results) -> Result<String, serde_json::Error> {
    let mut lines = vec![serde_json::to_string(header)?];
    for record in &results.records {
        lines.push(serde_json::to_string(record)?);
    }
    for left_out in &results.left_out {
        lines.push(serde_json::to_string(left_out)?);
    }
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

/// The header and records of one kind as one JSON array, one record per line.
pub(crate) fn json_lines(header: &Header, records: &[impl Serialize]) -> Result<String, serde_json::Error> {
    let mut lines = vec![serde_json::to_string(header)?];
    for record in records {
        lines.push(serde_json::to_string(record)?);
    }
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}
