//! Threads that call one engine at the same time, and the items of each.

use crate::error::Error;
use crate::inputs::{Inputs, Workload};
use crate::rsa_call::RsaCall;
use crate::rsa_items::{RsaItems, RsaWorkload};
use crate::slices::{Slice, repeat};
use modmill::{Batch, Engine};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

/// The items of a caller, with their right answers.
pub(super) enum Portion {
    Numbers { inputs: Inputs, right: Batch },
    Rsa(RsaItems),
}

/// Different numbers. Larger portions repeat them, because the CPU has to compute their answers.
const DISTINCT: usize = 1024;

impl Portion {
    /// Random numbers.
    pub(super) fn numbers(workload: Workload, seed: u64, cpu: &Engine) -> Result<Self, Error> {
        let distinct = workload.count.min(DISTINCT);
        let few = Inputs::random(Workload { count: distinct, ..workload }, seed);
        let answers = few.compute(cpu)?;
        let places: Vec<usize> = (0..workload.count).map(|item| item % distinct).collect();
        Ok(Self::Numbers { inputs: few.part(&places), right: picked(&answers, &places) })
    }

    /// Random items of RSA.
    pub(super) fn rsa(workload: RsaWorkload, cpu: &Engine) -> Result<Self, Error> {
        Ok(Self::Rsa(RsaItems::new(workload, cpu)?))
    }

    /// `count` items from about `start` on.
    pub(super) fn part(&self, start: usize, count: usize) -> Self {
        match self {
            Self::Rsa(items) => Self::Rsa(items.part(start, count)),
            Self::Numbers { inputs, right } => {
                let places: Vec<usize> = (start..start + count).collect();
                Self::Numbers { inputs: inputs.part(&places), right: picked(right, &places) }
            }
        }
    }

    /// Calls the engine until `time` has passed, at least once. Returns whether all answers were right, too.
    fn repeat(&self, engine: &Engine, time: Duration) -> Result<(Slice, bool), Error> {
        let mut is_right = true;
        let slice = match self {
            Self::Numbers { inputs, right } => {
                let operations = right.len() as f64;
                repeat(time, operations, || inputs.compute(engine), |found| is_right &= found == right)
            }
            Self::Rsa(items) => {
                let call = RsaCall::new(items, engine);
                let operations = items.workload.count as f64;
                repeat(time, operations, || call.outputs(), |found| is_right &= call.are_right(found))
            }
        };
        Ok((slice?, is_right))
    }
}

fn picked(batch: &Batch, places: &[usize]) -> Batch {
    let mut picked = Batch::zeros(batch.bits(), places.len());
    for (place, &item) in places.iter().enumerate() {
        picked.get_mut(place).copy_from_slice(batch.get(item));
    }
    picked
}

/// The result of one turn of the callers.
pub(super) struct Turn {
    /// Operations per second of all callers.
    pub(super) rate: f64,
    /// Milliseconds of each call.
    pub(super) latencies: Vec<f64>,
    pub(super) is_right: bool,
}

/// Has one thread for each portion call the engine until `time` has passed, at least once.
pub(super) fn crowd(engine: &Engine, portions: &[Portion], time: Duration) -> Result<Turn, Error> {
    let begin = Barrier::new(portions.len());
    let repeat = |portion: &Portion| {
        begin.wait();
        portion.repeat(engine, time)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = portions.iter().map(|portion| scope.spawn(|| repeat(portion))).collect();
        let mut turn = Turn { rate: 0.0, latencies: Vec::new(), is_right: true };
        for thread in threads {
            let lost = |_| Err(Error::Unsupported("a caller's thread ended early".to_owned()));
            let (slice, is_right) = thread.join().unwrap_or_else(lost)?;
            turn.rate += slice.rate();
            turn.latencies.extend(slice.latencies);
            turn.is_right &= is_right;
        }
        Ok(turn)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill::{Backend, Op};

    /// A wrong answer shows, whichever caller gets it.
    #[test]
    fn wrong_answers_show() {
        let engine = Engine::builder().backend(Backend::Cpu).threads(1).build().unwrap();
        let (shared_modulus, is_remainder) = (false, false);
        let workload =
            Workload { op: Op::Mul, bits: 64, exponent_bits: 0, count: 2, shared_modulus, is_remainder };
        let inputs = Inputs::random(workload, 1);
        let mut right = inputs.compute(&engine).unwrap();
        let good = Portion::Numbers { inputs: inputs.part(&[0, 1]), right: right.clone() };
        right.get_mut(1)[0] ^= 1;
        let bad = Portion::Numbers { inputs, right };
        assert!(crowd(&engine, std::slice::from_ref(&good), Duration::ZERO).unwrap().is_right);
        assert!(!crowd(&engine, &[good, bad], Duration::ZERO).unwrap().is_right);
    }
}
