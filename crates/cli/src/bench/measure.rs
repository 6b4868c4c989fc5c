//! One measured point: everyone's slices turn by turn, then every answer compared.

use super::contender::{Ours, Slice, Theirs};
use super::inputs::Inputs;
use modmill::Error;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// What a contender's slices say.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Operations per second in the best slice, and in the median one.
    pub(crate) best: f64,
    pub(crate) median: f64,
    /// Median milliseconds until a call had its answer.
    pub(crate) latency_ms: f64,
    /// Whether all answers that were compared were right.
    pub(crate) right: bool,
}

/// A point as measured.
pub(crate) struct Point {
    pub(crate) ours: Vec<Measured>,
    pub(crate) peers: Vec<Measured>,
    /// Who the answers were compared with.
    pub(crate) checked_with: String,
}

#[derive(Default)]
struct Slices {
    rates: Vec<f64>,
    latencies: Vec<f64>,
    spent: Duration,
}

impl Slices {
    fn add(&mut self, slice: Slice) {
        self.rates.push(slice.rate);
        self.latencies.extend(slice.latencies);
        self.spent += slice.spent;
    }

    fn finish(mut self, right: bool) -> Measured {
        Measured {
            best: self.rates.iter().copied().fold(0.0, f64::max),
            median: median(&mut self.rates),
            latency_ms: median(&mut self.latencies),
            right,
        }
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        len if len % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

/// Measures everyone for `time` each, in ten slices or so, turn by turn, so that what else the
/// machine does falls on all alike.
pub(crate) fn measure(
    inputs: &Inputs,
    ours: &mut [Ours<'_>],
    peers: &mut [Theirs<'_>],
    time: Duration,
) -> Result<Point, Error> {
    let slice = time / 10;
    let new = |count: usize| (0..count).map(|_| Slices::default()).collect::<Vec<_>>();
    let (mut our_slices, mut peer_slices) = (new(ours.len()), new(peers.len()));
    let unfinished = |slices: &Slices| slices.rates.is_empty() || slices.spent < time;
    while our_slices.iter().chain(&peer_slices).any(unfinished) {
        for (path, slices) in ours.iter_mut().zip(&mut our_slices).filter(|(_, slices)| unfinished(slices)) {
            slices.add(path.slice(slice)?);
        }
        for (peer, slices) in peers.iter_mut().zip(&mut peer_slices).filter(|(_, slices)| unfinished(slices))
        {
            slices.add(peer.slice(slice));
        }
    }
    let verdict = check(inputs, ours, peers);
    let finish = |slices: Vec<Slices>, right: Vec<bool>| {
        slices.into_iter().zip(right).map(|(slices, right)| slices.finish(right)).collect()
    };
    Ok(Point {
        ours: finish(our_slices, verdict.ours),
        peers: finish(peer_slices, verdict.peers),
        checked_with: verdict.checked_with,
    })
}

struct Verdict {
    ours: Vec<bool>,
    peers: Vec<bool>,
    checked_with: String,
}

/// Compares all answers of ours, and all that the peers have, with the first peer's; without
/// peers, with num-bigint's. Where two differ, num-bigint says who is wrong.
fn check(inputs: &Inputs, ours: &[Ours<'_>], peers: &mut [Theirs<'_>]) -> Verdict {
    let limbs = inputs.answer_limbs();
    let (reference, checked_with) = match peers.first_mut() {
        Some(peer) => {
            peer.complete();
            (peer.answers(limbs).map(|(_, answer)| answer).collect(), peer.peer.about().name.to_owned())
        }
        None => (expected(inputs), "num-bigint".to_owned()),
    };
    let reference: Vec<Vec<u64>> = reference;
    // Num-bigint's word on the items that someone disagreed about.
    let mut disputed: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    let mut agrees = |item: usize, answer: &[u64]| match disputed.get(&item) {
        Some(truth) => truth == answer,
        None if reference[item] == answer => true,
        None => disputed.entry(item).or_insert_with(|| inputs.expected(item)) == answer,
    };
    let mut right_ours = Vec::new();
    for path in ours {
        let right = path.answers.iter().enumerate().all(|(item, answer)| agrees(item, answer));
        right_ours.push(right && path.steady && path.answers.len() == inputs.shape.count);
    }
    let right_peers =
        peers.iter().map(|peer| peer.answers(limbs).all(|(item, answer)| agrees(item, &answer))).collect();
    Verdict { ours: right_ours, peers: right_peers, checked_with }
}

/// Every item by num-bigint, on all cores.
fn expected(inputs: &Inputs) -> Vec<Vec<u64>> {
    let count = inputs.shape.count;
    let queue = Mutex::new(0..count);
    let done = Mutex::new(vec![Vec::new(); count]);
    let work = || {
        while let Some(item) = queue.lock().ok().and_then(|mut queue| queue.next()) {
            let answer = inputs.expected(item);
            if let Ok(mut done) = done.lock() {
                done[item] = answer;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
        work();
    });
    done.into_inner().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::inputs::Shape;
    use modmill::{Engine, Op};

    #[test]
    fn medians_are_medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&mut []), 0.0);
    }

    #[test]
    fn wrong_answers_are_found() {
        let engine = Engine::new().unwrap();
        let shape = Shape { op: Op::MulMod, bits: 100, exponent_bits: 1, count: 5, shared_modulus: false };
        let inputs = Inputs::random(shape, 1);
        let plan = engine.explain(Op::MulMod, 100, 5);
        for spoilt in [false, true] {
            let mut ours = [Ours::new(&engine, plan.clone(), true, &inputs).unwrap()];
            ours[0].answers.get_mut(3)[0] ^= u64::from(spoilt);
            let point = measure(&inputs, &mut ours, &mut [], Duration::from_millis(1)).unwrap();
            assert_eq!(point.ours[0].right, !spoilt);
            assert_eq!(point.checked_with, "num-bigint");
            assert!(point.ours[0].best >= point.ours[0].median && point.ours[0].median > 0.0);
        }
    }
}
