//! A point with an RSA operation.

use super::{Field, Outcome, rates_or_refusal, without_refusals};
use crate::error::Error;
use crate::inputs::Workload;
use crate::memory::Memory;
use crate::op::{BenchOp, RsaOp};
use crate::peer_run::PeerRun;
use crate::record::LeftOut;
use crate::record_builder::{OurResult, RecordBuilder};
use crate::rsa_call::RsaCall;
use crate::rsa_items::{RsaItems, RsaWorkload, to_limbs};
use crate::slices::{Contender, Rates, Slice, repeat, take_turns};
use modmill::cuda::kernel_seconds;
use modmill::{Backend, Engine, Family, Op, Plan, Request};
use std::time::Duration;

/// One of our paths.
struct OurRsa<'a> {
    items: &'a RsaItems,
    engine: &'a Engine,
    call: RsaCall<'a>,
    /// Seconds in kernels of the fastest call so far.
    kernel_seconds: Option<f64>,
    plan: Plan,
    chosen: bool,
    /// Whether all answers so far were right.
    is_right: bool,
}

impl OurRsa<'_> {
    /// The family of a GPU's RSA kernels, which need not be the family of plain powers.
    fn family(&self) -> Option<Family> {
        let RsaWorkload { op, bits, count, .. } = self.items.workload;
        match op {
            RsaOp::Verify => {
                let request = Request::new(Op::PublicPow, bits, count).public_exponent(&[65_537]);
                Some(self.engine.cuda()?.plan(&request)?.family())
            }
            RsaOp::Sign | RsaOp::Decrypt => Some(Family::Rns),
        }
    }
}

impl Contender for OurRsa<'_> {
    fn slice(&mut self, length: Duration) -> Result<Slice, Error> {
        let (mut is_right, mut least) = (true, self.kernel_seconds);
        let mut before = kernel_seconds(self.engine);
        let count = self.items.workload.count;
        let slice = repeat(
            length,
            count as f64,
            || self.call.outputs(),
            |outputs| {
                is_right &= self.call.are_right(outputs);
                let (now, then) = (kernel_seconds(self.engine), before);
                before = now;
                if now > then {
                    least = Some(least.map_or(now - then, |least: f64| least.min(now - then)));
                }
            },
        );
        self.is_right &= is_right;
        self.kernel_seconds = least;
        slice
    }
}

/// The powers that an RSA batch consists of.
fn powers(RsaWorkload { op, bits, count, .. }: RsaWorkload) -> Workload {
    match op {
        RsaOp::Verify => Workload {
            op: Op::PowVartime,
            bits,
            exponent_bits: 17,
            count,
            shared_modulus: true,
            is_remainder: false,
        },
        // One power modulo each of the two primes.
        RsaOp::Sign | RsaOp::Decrypt => Workload {
            op: Op::Pow,
            bits: bits / 2,
            exponent_bits: bits / 2,
            count: 2 * count,
            shared_modulus: true,
            is_remainder: false,
        },
    }
}

/// Measures our paths by turns with the peers.
pub(crate) fn point(items: &RsaItems, field: &Field<'_>) -> Result<Outcome, Error> {
    let RsaWorkload { op, bits, count, keys, .. } = items.workload;
    let mut ours: Vec<OurRsa<'_>> = field
        .engines
        .engines(field.backend, powers(items.workload))?
        .into_iter()
        .map(|(engine, plan, chosen)| OurRsa {
            items,
            engine,
            call: RsaCall::new(items, engine),
            kernel_seconds: None,
            plan,
            chosen,
            is_right: true,
        })
        .collect();
    if field.backend.backend == Backend::Cuda {
        // The first call compiles the kernels, and is not timed.
        for path in &mut ours {
            path.call.outputs()?;
            path.plan.path.family = path.family().unwrap_or(path.plan.family());
        }
    }
    let mut outcome = Outcome::default();
    let threads = field.engines.chosen.threads();
    let builder = RecordBuilder {
        op: BenchOp::Rsa(op).to_string(),
        bits,
        exponent_bits: None,
        shared_modulus: keys == 1,
        memory: Memory::Plain,
        batch: count,
        threads,
        verified_with: "num-bigint".to_owned(),
        verified_items: count,
    };
    let runs = field.peers.iter().filter_map(|peer| {
        let (peer, rsa) = (peer.as_ref(), peer.rsa()?);
        Some((peer, PeerRun::new(peer, count, threads, |part| rsa.worker(items, part))))
    });
    let mut runs = without_refusals(runs, &builder.op, bits, &mut outcome.left_out);
    let our_contenders = ours.iter_mut().map(|path| path as &mut dyn Contender);
    let peer_contenders = runs.iter_mut().map(|run| run as &mut dyn Contender);
    let mut contenders: Vec<&mut dyn Contender> = our_contenders.chain(peer_contenders).collect();
    let mut all_rates = take_turns(&mut contenders, field.time);
    let peer_rates = all_rates.split_off(ours.len());
    for (path, rates) in ours.iter().zip(all_rates) {
        let result = OurResult {
            plan: &path.plan,
            chosen: path.chosen,
            device: field.backend.device(),
            kernel_rate: path.kernel_seconds.map(|seconds| count as f64 / seconds),
        };
        outcome.records.push(builder.ours(result, &rates?, path.is_right));
    }
    for (run, rates) in runs.iter_mut().zip(peer_rates) {
        let rates: Result<Rates, Error> = rates.and_then(|rates| {
            run.complete()?;
            Ok(rates)
        });
        let about = run.peer.about();
        match rates_or_refusal(rates)? {
            Ok(rates) => {
                let limbs = bits.div_ceil(64);
                let expected = |item| to_limbs(&items.expected(item), limbs);
                let is_right = run.answers(limbs).all(|(item, answer)| answer == expected(item));
                let function = run.peer.rsa().map_or("", |rsa| rsa.function(op));
                outcome.records.push(builder.peer(about, function, &rates, is_right));
            }
            Err(refusal) => outcome.left_out.push(LeftOut::new(&builder.op, bits, about, &refusal)),
        }
    }
    Ok(outcome)
}
