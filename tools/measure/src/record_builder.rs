//! Makes the records of one point.

use crate::busy;
use crate::memory::Memory;
use crate::peers::About;
use crate::record::Record;
use crate::slices::Rates;
use modmill::{Backend, Isa, Plan};

/// The fields that all records of a point have in common.
#[derive(Debug, Clone)]
pub(crate) struct RecordBuilder {
    pub(crate) op: String,
    pub(crate) bits: usize,
    /// Bits of the exponents, for powers.
    pub(crate) exponent_bits: Option<usize>,
    pub(crate) shared_modulus: bool,
    pub(crate) memory: Memory,
    pub(crate) batch: usize,
    pub(crate) threads: usize,
    /// The library whose answers the others were compared with, and the number of items compared.
    pub(crate) verified_with: String,
    pub(crate) verified_items: usize,
}

/// One of our paths at a point.
pub(crate) struct OurResult<'a> {
    pub(crate) plan: &'a Plan,
    /// Whether the engine takes this path by itself.
    pub(crate) chosen: bool,
    /// The GPU's name.
    pub(crate) device: Option<String>,
    /// Operations per second of the kernels alone; GPUs only.
    pub(crate) kernel_rate: Option<f64>,
}

impl RecordBuilder {
    /// The record of one of our paths.
    pub(crate) fn ours(&self, ours: OurResult<'_>, rates: &Rates, is_right: bool) -> Record {
        let is_gpu = ours.plan.backend() == Backend::Cuda;
        let record = self.record(rates, is_right);
        Record {
            backend: ours.plan.backend().name().to_owned(),
            algorithm: ours.plan.family().name().to_owned(),
            isa: ours.plan.path.isa.map(|isa: Isa| isa.name().to_owned()),
            chosen: ours.chosen,
            kernel_ops_per_s: ours.kernel_rate,
            device: ours.device,
            // The host's threads feed a GPU and wait for it.
            cpu_ops_per_s: record.cpu_ops_per_s.filter(|_| !is_gpu),
            waited: record.waited.filter(|_| !is_gpu),
            busy: if is_gpu { busy::is_uneven(rates) } else { record.busy },
            ..record
        }
    }

    /// The record of a peer that computed with `function`.
    pub(crate) fn peer(&self, about: &About, function: &str, rates: &Rates, is_right: bool) -> Record {
        let record = self.record(rates, is_right);
        Record {
            algorithm: function.to_owned(),
            // A peer whose answers are the reference is itself compared with ours.
            verified_with: match about.name == self.verified_with {
                true => "modmill".to_owned(),
                false => record.verified_with,
            },
            peer: Some(about.name.to_owned()),
            peer_version: Some(about.version.clone()),
            peer_library: Some(about.library.clone()),
            ..record
        }
    }

    /// A record of the CPU that names no path.
    pub(crate) fn record(&self, rates: &Rates, is_right: bool) -> Record {
        let waited = rates.cores.map(|cores| (1.0 - cores / self.threads as f64).max(0.0));
        Record {
            kind: "result",
            op: self.op.clone(),
            bits: self.bits,
            exponent_bits: self.exponent_bits,
            shared_modulus: self.shared_modulus,
            memory: self.memory.to_string(),
            backend: Backend::Cpu.name().to_owned(),
            algorithm: String::new(),
            isa: None,
            chosen: false,
            batch: self.batch,
            threads: self.threads,
            ops_per_s: rates.best,
            median_ops_per_s: rates.median,
            cpu_ops_per_s: rates.cpu_rate,
            waited,
            stolen: rates.stolen,
            busy: busy::is_busy(rates, waited.filter(|_| self.threads == 1)),
            latency_ms: rates.latency_ms,
            kernel_ops_per_s: None,
            device: None,
            verified: is_right,
            verified_with: self.verified_with.clone(),
            verified_items: self.verified_items,
            peer: None,
            peer_version: None,
            peer_library: None,
        }
    }
}
