//! A point with an operation of the engine, or with a chain of products.

use super::{Field, Outcome, rates_or_refusal, without_refusals};
use crate::error::Error;
use crate::inputs::{Inputs, Workload};
use crate::op::BenchOp;
use crate::our_path::{Call, OurPath};
use crate::peer_run::PeerRun;
use crate::record::{LeftOut, Record};
use crate::record_builder::{OurResult, RecordBuilder};
use crate::reference::{Comparison, ReferenceAnswers};
use crate::slices::{Contender, Rates, take_turns};
use modmill::Backend;

/// Measures every contender: on the CPU by turns with the peers, on GPUs one after the other.
pub(crate) fn point(op: BenchOp, inputs: &Inputs, field: &Field<'_>) -> Result<Outcome, Error> {
    let ours = field.engines.contenders(field.backend, op, inputs)?;
    match field.backend.backend {
        Backend::Cuda => gpu_point(op, inputs, field, ours),
        _ => cpu_point(op, inputs, field, ours),
    }
}

fn gpu_point(
    op: BenchOp,
    inputs: &Inputs,
    field: &Field<'_>,
    mut ours: Vec<OurPath<'_>>,
) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    for path in &mut ours {
        let reference = match &path.call {
            Call::Engine(_) => ReferenceAnswers::by_cpu(inputs, field.cpu)?,
            Call::Chain(chain) => chain.reference(inputs),
        };
        let rates: Vec<Rates> = take_turns(&mut [path], field.time).into_iter().collect::<Result<_, _>>()?;
        let is_right = is_right(path, inputs, &mut Comparison::new(inputs, &reference));
        let builder = builder(op, inputs, field, &reference);
        for rates in rates {
            outcome.records.push(record(path, &builder, field, &rates, is_right)?);
        }
    }
    Ok(outcome)
}

fn cpu_point(
    op: BenchOp,
    inputs: &Inputs,
    field: &Field<'_>,
    mut ours: Vec<OurPath<'_>>,
) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let (name, bits) = (op.to_string(), inputs.workload.bits);
    let threads = field.engines.chosen.threads();
    let runs = field.peers.iter().map(|peer| {
        let peer = peer.as_ref();
        (peer, PeerRun::of_inputs(peer, inputs, threads))
    });
    let mut runs = without_refusals(runs, &name, bits, &mut outcome.left_out);
    let our_contenders = ours.iter_mut().map(|path| path as &mut dyn Contender);
    let peer_contenders = runs.iter_mut().map(|run| run as &mut dyn Contender);
    let mut contenders: Vec<&mut dyn Contender> = our_contenders.chain(peer_contenders).collect();
    let mut all_rates = take_turns(&mut contenders, field.time);
    let peer_rates = all_rates.split_off(ours.len());
    let our_rates: Vec<Rates> = all_rates.into_iter().collect::<Result<_, _>>()?;

    let mut peers: Vec<(PeerRun<'_>, Rates)> = Vec::new();
    for (mut run, rates) in runs.into_iter().zip(peer_rates) {
        let is_reference = !ours.is_empty() && peers.is_empty();
        let rates = rates.and_then(|rates| {
            if is_reference {
                run.complete()?;
            }
            Ok(rates)
        });
        match rates_or_refusal(rates)? {
            Ok(rates) => peers.push((run, rates)),
            Err(refusal) => outcome.left_out.push(LeftOut::new(&name, bits, run.peer.about(), &refusal)),
        }
    }
    let limbs = inputs.answer_limbs();
    let reference = match peers.first().filter(|_| !ours.is_empty()) {
        Some((first, _)) => ReferenceAnswers::new(first.answers(limbs), first.peer.about().name),
        // Without a path of ours, a peer's answers would be compared with themselves.
        None => {
            let items = (0..inputs.workload.count).collect();
            ReferenceAnswers::by_referee(items, |item| inputs.expected(item))
        }
    };
    let builder = builder(op, inputs, field, &reference);
    // A peer's answers are the reference, so its own mistakes show only in the decisions about ours: one
    // comparison serves all.
    let mut comparison = Comparison::new(inputs, &reference);
    for (path, rates) in ours.iter().zip(&our_rates) {
        let is_right = is_right(path, inputs, &mut comparison);
        outcome.records.push(record(path, &builder, field, rates, is_right)?);
    }
    for (run, rates) in &peers {
        let is_right = run.answers(limbs).all(|(item, answer)| comparison.is_right(item, &answer));
        let function = run.peer.function(&inputs.workload);
        outcome.records.push(builder.peer(run.peer.about(), function, rates, is_right));
    }
    Ok(outcome)
}

fn is_right(path: &OurPath<'_>, inputs: &Inputs, comparison: &mut Comparison<'_>) -> bool {
    path.repeatable
        && path.answers.len() == inputs.workload.count
        && comparison.items().all(|item| comparison.is_right(item, path.answers.get(item)))
}

fn record(
    path: &OurPath<'_>,
    builder: &RecordBuilder,
    field: &Field<'_>,
    rates: &Rates,
    is_right: bool,
) -> Result<Record, Error> {
    let ours = OurResult {
        plan: &path.plan,
        chosen: path.chosen,
        device: field.backend.device(),
        kernel_rate: path.kernel_rate()?,
    };
    Ok(builder.ours(ours, rates, is_right))
}

fn builder(op: BenchOp, inputs: &Inputs, field: &Field<'_>, reference: &ReferenceAnswers) -> RecordBuilder {
    let Workload { bits, exponent_bits, count, shared_modulus, .. } = inputs.workload;
    RecordBuilder {
        op: op.to_string(),
        bits,
        exponent_bits: op.is_power().then_some(exponent_bits),
        shared_modulus,
        memory: inputs.memory,
        batch: count,
        threads: field.engines.chosen.threads(),
        verified_with: reference.by.clone(),
        verified_items: reference.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{AlgorithmChoice, Engines};
    use crate::error::Refusal;
    use crate::peers::{About, Peer, Worker};
    use modmill::{Engine, Op};
    use std::ops::Range;
    use std::time::Duration;

    /// A peer that computes by num-bigint, and refuses or answers wrongly from some item on.
    struct FakePeer {
        about: About,
        refuses_from: usize,
        wrong_from: usize,
    }

    struct FakeWorker {
        answers: Vec<Vec<u64>>,
        refuses_from: usize,
    }

    impl Peer for FakePeer {
        fn about(&self) -> &About {
            &self.about
        }

        fn function(&self, _workload: &Workload) -> &'static str {
            "fake_mul"
        }

        fn worker<'a>(
            &'a self,
            inputs: &Inputs,
            items: Range<usize>,
        ) -> Result<Box<dyn Worker + 'a>, Refusal> {
            let mut answers: Vec<Vec<u64>> = items.map(|item| inputs.expected(item)).collect();
            answers.iter_mut().skip(self.wrong_from).for_each(|answer| answer[0] ^= 1);
            Ok(Box::new(FakeWorker { answers, refuses_from: self.refuses_from }))
        }
    }

    impl Worker for FakeWorker {
        fn run(&mut self, items: Range<usize>) -> Result<(), Refusal> {
            match items.end > self.refuses_from {
                true => Err(Refusal { function: "fake_mul", what: "numbers of 100 bits".to_owned() }),
                false => Ok(()),
            }
        }

        fn answer(&self, item: usize, _limbs: usize) -> Vec<u64> {
            self.answers[item].clone()
        }
    }

    fn peer(name: &'static str, refuses_from: usize, wrong_from: usize) -> Box<dyn Peer> {
        let about = About { name, version: "1".to_owned(), library: "lib.so".to_owned() };
        Box::new(FakePeer { about, refuses_from, wrong_from })
    }

    const NEVER: usize = usize::MAX;

    fn inputs() -> Inputs {
        let (shared_modulus, is_remainder) = (false, false);
        let workload =
            Workload { op: Op::MulMod, bits: 100, exponent_bits: 1, count: 5, shared_modulus, is_remainder };
        Inputs::random(workload, 1)
    }

    fn outcome(peers: &[Box<dyn Peer>]) -> Outcome {
        let cpu = Engine::builder().backend(Backend::Cpu).threads(1);
        let engines = Engines::new(&[AlgorithmChoice::Auto], &cpu).unwrap();
        let time = Duration::from_millis(1);
        let (backend, cpu) = (&engines.by_backend[0], cpu.build().unwrap());
        let field = Field { engines: &engines, backend, peers, cpu: &cpu, time };
        point(BenchOp::Call(Op::MulMod), &inputs(), &field).unwrap()
    }

    #[test]
    fn a_peer_that_refuses_is_left_out_by_name() {
        for refuses_from in [0, 4] {
            let outcome = outcome(&[peer("first", refuses_from, NEVER), peer("second", NEVER, NEVER)]);
            let peers: Vec<_> = outcome.records.iter().map(|record| record.peer.as_deref()).collect();
            assert_eq!(peers, [None, Some("second")]);
            assert!(outcome.records.iter().all(|record| record.verified && record.verified_items == 5));
            assert_eq!(outcome.records[0].verified_with, "second");
            let left_out: Vec<String> = outcome.left_out.iter().map(LeftOut::to_string).collect();
            assert_eq!(
                left_out,
                ["first 1 is left out of mul_mod at 100 bits: fake_mul refuses numbers of 100 bits"]
            );
        }
    }

    #[test]
    fn a_peer_with_wrong_answers_is_found_and_ours_stay_right() {
        let outcome = outcome(&[peer("wrong", NEVER, 3)]);
        let verified: Vec<bool> = outcome.records.iter().map(|record| record.verified).collect();
        assert_eq!(verified, [true, false]);
        assert_eq!(outcome.left_out, []);
    }

    #[test]
    fn wrong_answers_of_ours_are_found() {
        let engine = Engine::builder().backend(Backend::Cpu).build().unwrap();
        let inputs = inputs();
        let plan = engine.plan(&modmill::Request::new(Op::MulMod, 100, 5)).unwrap();
        let by_referee = || ReferenceAnswers::by_referee((0..5).collect(), |item| inputs.expected(item));
        let by_cpu = || ReferenceAnswers::by_cpu(&inputs, &engine).unwrap();
        for reference in [by_referee(), by_cpu()] {
            let mut path = OurPath::new(Call::Engine(&engine), plan.clone(), true, &inputs).unwrap();
            let is_right =
                |path: &OurPath<'_>| is_right(path, &inputs, &mut Comparison::new(&inputs, &reference));
            assert!(is_right(&path));
            path.repeatable = false;
            assert!(!is_right(&path));
            path.repeatable = true;
            path.answers.get_mut(3)[0] ^= 1;
            assert!(!is_right(&path));
        }
    }
}
