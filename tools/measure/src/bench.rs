//! A benchmark: every operation, length, batch size and number of threads, one point after the other.

use crate::column_items::{ColumnItems, ColumnWorkload};
use crate::engines::{AlgorithmChoice, BackendEngines, Engines};
use crate::error::Error;
use crate::inputs::{Inputs, Workload};
use crate::memory::Memory;
use crate::op::BenchOp;
use crate::peers::Peers;
use crate::point::{Field, Outcome, columns, numbers, rsa};
use crate::progress::Progress;
use crate::record::Results;
use crate::rsa_items::{RsaItems, RsaWorkload};
use modmill::{Backend, Engine, EngineBuilder, Op};
use std::time::Duration;

/// The settings of a benchmark.
pub struct Bench {
    /// The operations to measure.
    pub ops: Vec<BenchOp>,
    /// Bits of moduli and bases, or of factors.
    pub bits: Vec<usize>,
    /// The algorithms to measure. An empty list means the engine's choice and, on the CPU, the best path
    /// of every other algorithm.
    pub algorithms: Vec<AlgorithmChoice>,
    /// Items in a batch. An empty list means one size that suits the operation and the backend.
    pub batches: Vec<usize>,
    /// Worker threads of ours and of the peers; 0 means all cores.
    pub threads: Vec<usize>,
    /// The time for each contender at each point.
    pub time: Duration,
    /// Bits of exponents, if different from those of the modulus.
    pub exponent_bits: Option<usize>,
    /// All items have the same modulus.
    pub shared_modulus: bool,
    /// The memory that operands come from and answers go to. RSA always uses plain memory.
    pub memory: Memory,
    /// Different keys in an RSA batch.
    pub keys: usize,
    /// RSA on GPUs blinds exponents and reads table entries directly.
    pub direct_tables: bool,
    /// The seed of the random inputs.
    pub seed: u64,
    /// The settings of every engine.
    pub engine: EngineBuilder,
    /// The peers to compare with.
    pub peers: Peers,
}

impl Bench {
    /// The number of points: operations times lengths times batch sizes times numbers of threads.
    #[must_use]
    pub fn points(&self) -> usize {
        self.ops.len() * self.bits.len() * self.batches.len().max(1) * self.threads.len()
    }

    /// Measures every point.
    pub fn run(&self, progress: &dyn Progress) -> Result<Results, Error> {
        let all: Vec<Engines> = self
            .threads
            .iter()
            .map(|&threads| Engines::new(&self.algorithms, &self.builder(threads)))
            .collect::<Result<_, _>>()?;
        self.check_chains(&all)?;
        let cpu = Engine::builder().backend(Backend::Cpu).build()?;
        let batches: Vec<Option<usize>> = match self.batches.is_empty() {
            true => vec![None],
            false => self.batches.iter().copied().map(Some).collect(),
        };
        let mut results = Results::default();
        for &op in &self.ops {
            for &bits in &self.bits {
                for (index, &batch) in batches.iter().enumerate() {
                    // The numbers of threads are the innermost loop, to measure them close in time.
                    for engines in &all {
                        for backend in &engines.by_backend {
                            let field =
                                Field { engines, backend, peers: &self.peers.0, cpu: &cpu, time: self.time };
                            let is_first = index == 0;
                            let outcome = self.batch(op, bits, batch, is_first, &field, progress)?;
                            results.records.extend(outcome.records);
                            results.left_out.extend(outcome.left_out);
                        }
                        progress.point_done();
                    }
                }
            }
        }
        Ok(results)
    }

    fn builder(&self, threads: usize) -> EngineBuilder {
        let builder = self.engine.clone();
        if threads > 0 { builder.threads(threads) } else { builder }
    }

    fn check_chains(&self, all: &[Engines]) -> Result<(), Error> {
        let chain = self.ops.iter().find(|op| matches!(op, BenchOp::Chain(_)));
        match (chain, all.iter().find_map(Engines::without_gpu)) {
            (Some(chain), Some(why)) => Err(Error::Unsupported(format!("{chain} is for GPUs: {why}"))),
            _ => Ok(()),
        }
    }

    /// Measures one backend with one size of batch.
    fn batch(
        &self,
        op: BenchOp,
        bits: usize,
        batch: Option<usize>,
        is_first: bool,
        field: &Field<'_>,
        progress: &dyn Progress,
    ) -> Result<Outcome, Error> {
        let backend: &BackendEngines = field.backend;
        // Peers are measured once, with the default batch, if we have no path to compare them with.
        let has = backend.has(op);
        let count = match batch.filter(|_| has) {
            Some(count) => count,
            None => backend.default_batch(op, bits, field.engines.chosen.threads())?,
        };
        let peers = if has || is_first { backend.peers(op, field.peers) } else { &[] };
        if !has && peers.is_empty() {
            return Ok(Outcome::default());
        }
        progress.measuring(format!("{op} of {bits} bits on {}, {count} a batch", backend.backend));
        let field = Field { peers, ..*field };
        match op {
            BenchOp::Rsa(op) => {
                let (keys, direct_tables) = (self.keys, self.direct_tables);
                let workload = RsaWorkload { op, bits, count, keys, direct_tables };
                rsa::point(&RsaItems::new(workload, field.cpu)?, &field)
            }
            BenchOp::Column(op) => {
                let exponent_bits = self.exponent_bits.unwrap_or(bits);
                let workload = ColumnWorkload { op, bits, exponent_bits, count };
                columns::point(&ColumnItems::new(workload, self.seed)?, &field)
            }
            BenchOp::Call(_) | BenchOp::Reduce | BenchOp::Chain(_) => {
                let inputs = Inputs::random(self.workload(op, bits, count), self.seed);
                let inputs = inputs.placed(self.memory, &field.engines.chosen)?;
                numbers::point(op, &inputs, &field)
            }
        }
    }

    fn workload(&self, bench_op: BenchOp, bits: usize, count: usize) -> Workload {
        let op = bench_op.op();
        let has_modulus = !matches!(op, Op::Mul | Op::Square | Op::Gcd | Op::Isqrt);
        Workload {
            op,
            bits,
            exponent_bits: self.exponent_bits.unwrap_or(bits),
            count,
            shared_modulus: self.shared_modulus && has_modulus,
            is_remainder: bench_op == BenchOp::Reduce,
        }
    }
}
