//! Writes records of what was measured at a point.

use super::contender::{Ours, Theirs};
use super::inputs::Shape;
use super::measurand::Measurand;
use super::measure::{Known, Measured};
use super::record::Record;
use super::sides::Side;
use modmill::{Backend, Isa};

/// What all records of a point have in common.
pub(crate) struct Scribe<'a> {
    pub(crate) measurand: Measurand,
    pub(crate) shape: Shape,
    pub(crate) threads: usize,
    pub(crate) known: &'a Known,
}

impl Scribe<'_> {
    pub(crate) fn ours(&self, path: &Ours<'_>, side: &Side, measured: &Measured) -> Record {
        Record {
            backend: path.plan.backend.name().to_owned(),
            algorithm: path.plan.family.name().to_owned(),
            isa: path.plan.isa.map(|isa: Isa| isa.name().to_owned()),
            chosen: path.chosen,
            kernel_ops_per_s: measured.kernel,
            device: side.device(),
            ..self.record(measured)
        }
    }

    pub(crate) fn theirs(&self, theirs: &Theirs<'_>, measured: &Measured) -> Record {
        let about = theirs.peer.about();
        let record = self.record(measured);
        Record {
            algorithm: theirs.peer.function(self.shape.op).to_owned(),
            // The first peer is what the others are compared with; it is compared with ours.
            verified_with: if about.name == self.known.by {
                "modmill".to_owned()
            } else {
                record.verified_with
            },
            peer: Some(about.name.to_owned()),
            peer_version: Some(about.version.clone()),
            peer_library: Some(about.library.clone()),
            ..record
        }
    }

    fn record(&self, measured: &Measured) -> Record {
        let Shape { bits, exponent_bits, count, shared_modulus, .. } = self.shape;
        Record {
            kind: "result",
            op: self.measurand.to_string(),
            bits,
            exponent_bits: self.measurand.is_power().then_some(exponent_bits),
            shared_modulus,
            backend: Backend::Cpu.name().to_owned(),
            algorithm: String::new(),
            isa: None,
            chosen: false,
            batch: count,
            threads: self.threads,
            ops_per_s: measured.best,
            median_ops_per_s: measured.median,
            latency_ms: measured.latency_ms,
            kernel_ops_per_s: None,
            device: None,
            verified: measured.right,
            verified_with: self.known.by.clone(),
            verified_items: self.known.len(),
            peer: None,
            peer_version: None,
            peer_library: None,
        }
    }
}
