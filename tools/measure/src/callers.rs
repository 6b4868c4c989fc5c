//! Many callers on one engine: threads that each compute small batches, compared with one caller with all
//! items.

mod crowd;

use crate::error::Error;
use crate::inputs::Workload;
use crate::op::BenchOp;
use crate::progress::Progress;
use crate::record::{Header, json_lines};
use crate::rsa_items::RsaWorkload;
use crate::slices::median;
use crate::table::{number, plain, right, text};
use crowd::{Portion, crowd};
use modmill::{Backend, Engine};
use serde::Serialize;
use std::time::Duration;

/// The settings of a measurement of callers.
#[derive(Debug, Clone)]
pub struct Callers {
    /// The operations to measure.
    pub ops: Vec<BenchOp>,
    /// Bits of moduli and bases, or of factors.
    pub bits: Vec<usize>,
    /// Numbers of callers.
    pub callers: Vec<usize>,
    /// Items in the batches of a caller.
    pub items: Vec<usize>,
    /// The time for the callers, and for the one caller that they are compared with.
    pub time: Duration,
    /// Bits of exponents, if different from those of the modulus.
    pub exponent_bits: Option<usize>,
    /// All items have the same modulus.
    pub shared_modulus: bool,
    /// Different keys of RSA.
    pub keys: usize,
    /// RSA on GPUs blinds exponents and reads table entries directly.
    pub direct_tables: bool,
    /// The seed of the random inputs.
    pub seed: u64,
}

/// The result of one number of callers.
#[derive(Debug, Clone, Serialize)]
pub struct CallersRecord {
    /// Always `callers`.
    pub kind: &'static str,
    /// The operation.
    pub op: String,
    /// Bits of moduli and bases, or of factors.
    pub bits: usize,
    /// Threads that call the engine.
    pub callers: usize,
    /// Items in a batch of each.
    pub items: usize,
    /// Worker threads of the engine.
    pub threads: usize,
    /// Operations per second of all callers together, in the best turn.
    pub ops_per_s: f64,
    /// Median milliseconds of a call.
    pub latency_ms: f64,
    /// Operations per second of one caller with the items of all in one batch, in the best turn.
    pub one_caller_ops_per_s: f64,
    /// The callers' rate divided by the one caller's.
    pub share: f64,
    /// Whether all answers were right.
    pub verified: bool,
}

/// The callers and the one caller take this many turns each.
const TURNS: u32 = 3;

impl Callers {
    /// The number of records that a measurement makes.
    #[must_use]
    pub fn points(&self) -> usize {
        self.ops.len() * self.bits.len() * self.callers.len() * self.items.len()
    }

    /// Measures every operation, length, number of callers and size of a batch.
    pub fn run(&self, engine: &Engine, progress: &dyn Progress) -> Result<Vec<CallersRecord>, Error> {
        let is_unknown = |op: &&BenchOp| matches!(op, BenchOp::Chain(_) | BenchOp::Column(_));
        if let Some(chain) = self.ops.iter().find(is_unknown) {
            return Err(Error::Unsupported(format!("{chain} is not measured with callers")));
        }
        let mut records = Vec::new();
        for &op in &self.ops {
            for &bits in &self.bits {
                for &callers in &self.callers {
                    for &items in &self.items {
                        progress.measuring(format!("{op} of {bits} bits, {callers} callers"));
                        records.push(self.point(op, bits, callers, items, engine)?);
                        progress.point_done();
                    }
                }
            }
        }
        Ok(records)
    }

    fn point(
        &self,
        op: BenchOp,
        bits: usize,
        callers: usize,
        items: usize,
        engine: &Engine,
    ) -> Result<CallersRecord, Error> {
        let cpu = Engine::builder().backend(Backend::Cpu).build()?;
        let whole = self.portion(op, bits, callers * items, &cpu)?;
        let portions: Vec<Portion> = (0..callers).map(|caller| whole.part(caller * items, items)).collect();
        let alone = std::slice::from_ref(&whole);
        // The first calls compile kernels and allocate memory for batches of several sizes, and are not
        // timed.
        let mut verified = crowd(engine, alone, Duration::ZERO)?.is_right;
        verified &= crowd(engine, &portions, self.time / TURNS)?.is_right;
        let (mut best, mut best_alone, mut latencies) = (0.0, 0.0, Vec::new());
        for _ in 0..TURNS {
            let turn = crowd(engine, &portions, self.time / TURNS)?;
            let alone = crowd(engine, alone, self.time / TURNS)?;
            verified &= turn.is_right && alone.is_right;
            (best, best_alone) = (f64::max(best, turn.rate), f64::max(best_alone, alone.rate));
            latencies.extend(turn.latencies);
        }
        Ok(CallersRecord {
            kind: "callers",
            op: op.to_string(),
            bits,
            callers,
            items,
            threads: engine.threads(),
            ops_per_s: best,
            latency_ms: median(&mut latencies),
            one_caller_ops_per_s: best_alone,
            share: best / best_alone,
            verified,
        })
    }

    fn portion(&self, op: BenchOp, bits: usize, count: usize, cpu: &Engine) -> Result<Portion, Error> {
        match op {
            BenchOp::Rsa(op) => {
                let (keys, direct_tables) = (self.keys, self.direct_tables);
                Portion::rsa(RsaWorkload { op, bits, count, keys, direct_tables }, cpu)
            }
            BenchOp::Call(_) | BenchOp::Reduce | BenchOp::Chain(_) | BenchOp::Column(_) => {
                let (op, is_remainder) = (op.op(), op == BenchOp::Reduce);
                let exponent_bits = self.exponent_bits.unwrap_or(bits);
                let shared_modulus = self.shared_modulus && op.is_modular();
                let workload = Workload { op, bits, exponent_bits, count, shared_modulus, is_remainder };
                Portion::numbers(workload, self.seed, cpu)
            }
        }
    }
}

/// The header and all records as one JSON array, one record per line.
pub fn to_json(header: &Header, records: &[CallersRecord]) -> Result<String, serde_json::Error> {
    json_lines(header, records)
}

/// The records as a table for people.
#[must_use]
pub fn table(records: &[CallersRecord]) -> String {
    let mut table = plain([
        "op",
        "bits",
        "callers",
        "items",
        "ops/s",
        "latency ms",
        "one caller ops/s",
        "share",
        "answers",
    ]);
    for record in records {
        table.add_row(vec![
            record.op.as_str().into(),
            right(record.bits),
            right(record.callers),
            right(record.items),
            right(number(record.ops_per_s)),
            right(number(record.latency_ms)),
            right(number(record.one_caller_ops_per_s)),
            right(format!("{:.0}%", 100.0 * record.share)),
            if record.verified { "right" } else { "WRONG" }.into(),
        ]);
    }
    text(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Silent;

    impl Progress for Silent {
        fn measuring(&self, _: String) {}
        fn point_done(&self) {}
    }

    #[test]
    fn callers_are_measured_beside_one() {
        let engine = Engine::builder().backend(Backend::Cpu).threads(1).build().unwrap();
        let ops = ["pow", "mul", "rsa_sign", "rsa_verify"].map(|op| op.parse().unwrap());
        let mut bench = Callers {
            ops: ops.to_vec(),
            bits: vec![512],
            callers: vec![1, 3],
            items: vec![10],
            time: Duration::from_millis(3),
            exponent_bits: Some(9),
            shared_modulus: false,
            keys: 1,
            direct_tables: false,
            seed: 1,
        };
        let records = bench.run(&engine, &Silent).unwrap();
        assert_eq!((records.len(), bench.points()), (8, 8));
        for record in &records {
            assert!(record.verified && record.ops_per_s > 0.0 && record.latency_ms > 0.0, "{record:?}");
            assert_eq!(record.share, record.ops_per_s / record.one_caller_ops_per_s);
        }
        assert!(table(&records).contains("rsa_sign"));
        bench.ops = vec!["mul_mod_chain".parse().unwrap()];
        assert!(matches!(bench.run(&engine, &Silent), Err(Error::Unsupported(_))));
    }
}
