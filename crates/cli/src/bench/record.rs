//! What `bench --json` writes.

use crate::machine::{Build, Machine};
use serde::Serialize;

/// The first record: where, with what and how the others were measured.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Header {
    pub(crate) kind: &'static str,
    pub(crate) machine: String,
    #[serde(flatten)]
    pub(crate) hardware: Machine,
    #[serde(flatten)]
    pub(crate) build: Build,
    pub(crate) date: String,
    pub(crate) command: String,
    pub(crate) seconds: f64,
    pub(crate) seed: u64,
    pub(crate) peers: Vec<PeerFound>,
}

/// A peer that took part.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PeerFound {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) library: String,
}

impl PeerFound {
    pub(crate) fn of(peer: &dyn crate::peers::Peer) -> Self {
        Self {
            name: peer.about().name.to_owned(),
            version: peer.about().version.clone(),
            library: peer.about().library.clone(),
        }
    }
}

/// One contender at one point.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Record {
    pub(crate) kind: &'static str,
    pub(crate) op: String,
    /// Length of moduli and bases, or of factors.
    pub(crate) bits: usize,
    /// Length of exponents, for powers.
    pub(crate) exponent_bits: Option<usize>,
    pub(crate) shared_modulus: bool,
    pub(crate) backend: String,
    /// The family of algorithms, or the peer's function.
    pub(crate) algorithm: String,
    /// Ours only.
    pub(crate) isa: Option<String>,
    /// Whether the engine takes this path by itself.
    pub(crate) chosen: bool,
    pub(crate) batch: usize,
    pub(crate) threads: usize,
    /// Operations per second in the best slice.
    pub(crate) ops_per_s: f64,
    pub(crate) median_ops_per_s: f64,
    /// Milliseconds until a call had its answer: a batch of ours, one operation of a peer.
    pub(crate) latency_ms: f64,
    /// Operations per second while kernels run, without copies; GPUs only.
    pub(crate) kernel_ops_per_s: Option<f64>,
    /// The GPU's name.
    pub(crate) device: Option<String>,
    /// Whether its answers were compared and right.
    pub(crate) verified: bool,
    pub(crate) verified_with: String,
    /// Items whose answers were compared: all, or a random sample of a GPU's.
    pub(crate) verified_items: usize,
    /// `gmp`, `openssl` or `flint`; null for ours.
    pub(crate) peer: Option<String>,
    pub(crate) peer_version: Option<String>,
    /// The file the peer was loaded from.
    pub(crate) peer_library: Option<String>,
}

impl Record {
    /// Records of the same point are compared with each other. A GPU's batches are its own.
    pub(crate) fn same_point(&self, other: &Self) -> bool {
        let key = |record: &Self| (record.bits, record.exponent_bits, record.threads);
        let batches_match = self.backend != other.backend || self.batch == other.batch;
        self.op == other.op && key(self) == key(other) && batches_match
    }

    /// A peer with its version, as columns and legends name it.
    pub(crate) fn peer_label(&self) -> Option<String> {
        let peer = self.peer.as_ref()?;
        Some(match &self.peer_version {
            Some(version) => format!("{peer} {version}"),
            None => peer.clone(),
        })
    }

    /// A path or peer, as legends name it.
    pub(crate) fn label(&self) -> String {
        match (self.peer_label(), &self.isa) {
            (Some(label), _) => label,
            (None, Some(isa)) => format!("{isa}/{}", self.algorithm),
            (None, None) => format!("{}/{}", self.backend, self.algorithm),
        }
    }
}

/// Header and records as one JSON array, a record a line.
pub(crate) fn to_json(header: &Header, records: &[Record]) -> Result<String, serde_json::Error> {
    let mut lines = vec![serde_json::to_string(header)?];
    for record in records {
        lines.push(serde_json::to_string(record)?);
    }
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}
