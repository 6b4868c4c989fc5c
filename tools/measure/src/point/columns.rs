//! A point with an operation on one modulus.

use super::{Field, Outcome, rates_or_refusal, without_refusals};
use crate::column_items::{ColumnItems, ColumnWorkload};
use crate::error::Error;
use crate::memory::Memory;
use crate::op::BenchOp;
use crate::peer_run::PeerRun;
use crate::record::LeftOut;
use crate::record_builder::{OurResult, RecordBuilder};
use crate::slices::{Contender, Slice, repeat, take_turns};
use modmill::cuda::kernel_seconds;
use modmill::{Batch, Engine, FixedBase, Plan};
use std::time::Duration;

/// One of our paths.
struct OurColumns<'a> {
    items: &'a ColumnItems,
    engine: &'a Engine,
    fixed: Option<FixedBase>,
    /// The answers of the first call, which is not timed and makes the tables.
    answers: Batch,
    plan: Plan,
    chosen: bool,
    /// Whether the first answers were right and all others were the same.
    is_right: bool,
}

impl<'a> OurColumns<'a> {
    fn new(items: &'a ColumnItems, engine: &'a Engine, plan: Plan, chosen: bool) -> Result<Self, Error> {
        let fixed = items.fixed_base(engine)?;
        let answers = items.compute(engine, fixed.as_ref())?;
        let is_right = items.are_right(&answers);
        Ok(Self { items, engine, fixed, answers, plan, chosen, is_right })
    }

    /// Items per second in kernels of a GPU, in one call.
    fn kernel_rate(&self) -> Result<Option<f64>, Error> {
        let before = kernel_seconds(self.engine);
        self.items.compute(self.engine, self.fixed.as_ref())?;
        let seconds = kernel_seconds(self.engine) - before;
        Ok((seconds > 0.0).then(|| self.items.workload.count as f64 / seconds))
    }
}

impl Contender for OurColumns<'_> {
    fn slice(&mut self, length: Duration) -> Result<Slice, Error> {
        let Self { items, engine, fixed, answers: first, is_right, .. } = self;
        let compute = || items.compute(engine, fixed.as_ref());
        repeat(length, items.workload.count as f64, compute, |answers| *is_right &= answers == first)
    }
}

/// Measures our paths by turns with the peers.
pub(crate) fn point(items: &ColumnItems, field: &Field<'_>) -> Result<Outcome, Error> {
    let ColumnWorkload { op, bits, exponent_bits, count } = items.workload;
    let engines = field.engines.engines(field.backend, items.workload.plain())?;
    let ours = engines.into_iter().map(|(engine, plan, chosen)| OurColumns::new(items, engine, plan, chosen));
    let mut ours: Vec<OurColumns<'_>> = ours.collect::<Result<_, _>>()?;
    let threads = field.engines.chosen.threads();
    let builder = RecordBuilder {
        op: BenchOp::Column(op).to_string(),
        bits,
        exponent_bits: items.has_exponents().then_some(exponent_bits),
        shared_modulus: items.workload.plain().shared_modulus,
        memory: Memory::Plain,
        batch: count,
        threads,
        verified_with: "num-bigint".to_owned(),
        verified_items: items.verified(),
    };
    let mut outcome = Outcome::default();
    let runs = field.peers.iter().filter_map(|peer| {
        let (peer, columns) = (peer.as_ref(), peer.columns()?);
        Some((peer, PeerRun::new(peer, items.peer_answers(), threads, |part| columns.worker(items, part))))
    });
    let mut runs = without_refusals(runs, &builder.op, bits, &mut outcome.left_out);
    let our_contenders = ours.iter_mut().map(|path| path as &mut dyn Contender);
    let peer_contenders = runs.iter_mut().map(|run| run as &mut dyn Contender);
    let mut contenders: Vec<&mut dyn Contender> = our_contenders.chain(peer_contenders).collect();
    let mut all_rates = take_turns(&mut contenders, field.time);
    let peer_rates = all_rates.split_off(ours.len());
    for (path, rates) in ours.iter().zip(all_rates) {
        let (device, kernel_rate) = (field.backend.device(), path.kernel_rate()?);
        let result = OurResult { plan: &path.plan, chosen: path.chosen, device, kernel_rate };
        outcome.records.push(builder.ours(result, &rates?, path.is_right));
    }
    for (run, rates) in runs.iter_mut().zip(peer_rates) {
        let about = run.peer.about();
        match rates_or_refusal(rates)? {
            Ok(rates) => {
                let rates = rates.times(items.block() as f64);
                let mut answers = run.answers(bits.div_ceil(64)).take(16);
                let is_right = answers.all(|(item, answer)| answer == items.expected_of_peer(item));
                let function = run.peer.columns().map_or("", |columns| columns.function(op));
                outcome.records.push(builder.peer(about, function, &rates, is_right));
            }
            Err(refusal) => outcome.left_out.push(LeftOut::new(&builder.op, bits, about, &refusal)),
        }
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{AlgorithmChoice, Engines};
    use crate::op::ColumnOp;
    use crate::peers::{PeerChoice, Peers};
    use modmill::Backend;

    #[test]
    fn our_paths_and_peers_answer_rightly() {
        let cpu = Engine::builder().backend(Backend::Cpu).threads(1);
        let engines = Engines::new(&[AlgorithmChoice::Auto], &cpu).unwrap();
        let peers = Peers::load(&PeerChoice::Found).unwrap();
        let (backend, cpu) = (&engines.by_backend[0], cpu.build().unwrap());
        let time = Duration::from_millis(1);
        for op in ColumnOp::ALL {
            let workload = ColumnWorkload { op, bits: 200, exponent_bits: 90, count: 150 };
            let items = ColumnItems::new(workload, 3).unwrap();
            let field = Field { engines: &engines, backend, peers: &peers.0, cpu: &cpu, time };
            let outcome = point(&items, &field).unwrap();
            assert!(!outcome.records.is_empty() && outcome.records.iter().all(|record| record.verified));
        }
    }
}
