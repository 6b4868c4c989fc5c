//! One measured point: everyone's slices turn by turn, then every answer compared.

use super::contender::{Ours, Slice, Theirs, Turn};
use super::inputs::Inputs;
use crate::failure::Failure;
use modmill::{Engine, Error, Op};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What a contender's slices say.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Operations per second in the best slice, and in the median one.
    pub(crate) best: f64,
    pub(crate) median: f64,
    /// Median milliseconds until a call had its answer.
    pub(crate) latency_ms: f64,
    /// Operations per second of kernels alone; GPUs only.
    pub(crate) kernel: Option<f64>,
    /// Whether all answers that were compared were right.
    pub(crate) right: bool,
}

/// A point as measured.
pub(crate) struct Point {
    pub(crate) ours: Vec<Measured>,
    pub(crate) peers: Vec<Measured>,
    /// What the answers were compared with.
    pub(crate) known: Known,
}

/// Answers of some items, to compare others with.
pub(crate) struct Known {
    answers: BTreeMap<usize, Vec<u64>>,
    /// Who computed them.
    pub(crate) by: String,
}

/// Num-bigint, whose word is the last.
const JUDGE: &str = "num-bigint";

impl Known {
    /// A sample of a batch by the CPU: batches that keep a GPU busy are too long to repeat.
    pub(crate) fn by_cpu(inputs: &Inputs, cpu: &Engine) -> Result<Self, Error> {
        // Long powers take the CPU long: fewer of them.
        let most = match inputs.shape.op {
            Op::Pow | Op::PowVartime => ((1 << 20) / inputs.shape.bits).clamp(16, 256),
            _ => 256,
        };
        let items = inputs.sample(inputs.shape.count, most);
        let answers = inputs.part(&items).compute(cpu)?;
        let answers = items.into_iter().zip(answers.iter().map(<[u64]>::to_vec)).collect();
        Ok(Self { answers, by: "modmill cpu".to_owned() })
    }

    /// Some items by num-bigint, on all cores.
    pub(crate) fn by_judge(items: Vec<usize>, expected: impl Fn(usize) -> Vec<u64> + Sync) -> Self {
        let queue = Mutex::new(items.into_iter());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || std::iter::from_fn(next).map(|item| (item, expected(item))).collect::<Vec<_>>();
        let answers = std::thread::scope(|scope| {
            let others = 1..std::thread::available_parallelism().map_or(1, usize::from);
            let others: Vec<_> = others.map(|_| scope.spawn(work)).collect();
            let own = work();
            others.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).chain(own).collect()
        });
        Self { answers, by: JUDGE.to_owned() }
    }

    /// Every item by the first peer, or by num-bigint where there is none.
    fn everything(inputs: &Inputs, peers: &mut [Theirs<'_>]) -> Self {
        match peers.first_mut() {
            Some(peer) => {
                peer.complete();
                let answers = peer.answers(inputs.answer_limbs()).collect();
                Self { answers, by: peer.peer.about().name.to_owned() }
            }
            None => Self::by_judge((0..inputs.shape.count).collect(), |item| inputs.expected(item)),
        }
    }

    /// The first item whose answer is not this.
    pub(crate) fn differing(&self, answer: &[u64]) -> Option<usize> {
        self.answers.iter().find(|(_, known)| known.as_slice() != answer).map(|(&item, _)| item)
    }

    /// Items whose answers are known.
    pub(crate) fn len(&self) -> usize {
        self.answers.len()
    }
}

/// The turns of one contender.
#[derive(Default)]
pub(crate) struct Slices {
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

    pub(crate) fn finish(mut self, right: bool, kernel: Option<f64>) -> Measured {
        Measured {
            best: self.rates.iter().copied().fold(0.0, f64::max),
            median: median(&mut self.rates),
            latency_ms: median(&mut self.latencies),
            kernel,
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
pub(crate) fn take_turns(everyone: &mut [&mut dyn Turn], time: Duration) -> Result<Vec<Slices>, Failure> {
    let mut slices: Vec<Slices> = everyone.iter().map(|_| Slices::default()).collect();
    let unfinished = |slices: &Slices| slices.rates.is_empty() || slices.spent < time;
    while slices.iter().any(unfinished) {
        for (one, slices) in everyone.iter_mut().zip(&mut slices).filter(|(_, slices)| unfinished(slices)) {
            slices.add(one.slice(time / 10)?);
        }
    }
    Ok(slices)
}

/// Measures everyone. Answers are compared with what is known, or all of them with a peer's.
pub(crate) fn measure(
    inputs: &Inputs,
    ours: &mut [Ours<'_>],
    peers: &mut [Theirs<'_>],
    time: Duration,
    known: Option<Known>,
) -> Result<Point, Failure> {
    let turn_of_ours = ours.iter_mut().map(|path| path as &mut dyn Turn);
    let turn_of_peers = peers.iter_mut().map(|peer| peer as &mut dyn Turn);
    let mut our_slices = take_turns(&mut turn_of_ours.chain(turn_of_peers).collect::<Vec<_>>(), time)?;
    let peer_slices = our_slices.split_off(ours.len());
    // Peers alone are no judges of themselves.
    let judges = if ours.is_empty() { &mut [] } else { &mut *peers };
    let known = known.unwrap_or_else(|| Known::everything(inputs, judges));
    let mut judge = Judge { inputs, known: &known, disputed: BTreeMap::new() };
    let mut our_results = Vec::new();
    for (path, slices) in ours.iter().zip(our_slices) {
        let right = path.steady
            && path.answers.len() == inputs.shape.count
            && known.answers.keys().all(|&item| judge.agrees(item, path.answers.get(item)));
        our_results.push(slices.finish(right, path.kernel_rate()?));
    }
    let mut peer_results = Vec::new();
    for (peer, slices) in peers.iter().zip(peer_slices) {
        let right = peer.answers(inputs.answer_limbs()).all(|(item, answer)| judge.agrees(item, &answer));
        peer_results.push(slices.finish(right, None));
    }
    Ok(Point { ours: our_results, peers: peer_results, known })
}

/// Compares answers; where two differ, num-bigint says who is wrong.
struct Judge<'a> {
    inputs: &'a Inputs,
    known: &'a Known,
    /// Num-bigint's word on the items that someone disagreed about.
    disputed: BTreeMap<usize, Vec<u64>>,
}

impl Judge<'_> {
    fn agrees(&mut self, item: usize, answer: &[u64]) -> bool {
        if let Some(truth) = self.disputed.get(&item) {
            return truth == answer;
        }
        match self.known.answers.get(&item) {
            None => true,
            Some(known) if known == answer => true,
            Some(_) if self.known.by == JUDGE => false,
            Some(_) => self.disputed.entry(item).or_insert(self.inputs.expected(item)) == answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contender::Call;
    use crate::bench::inputs::Shape;
    use modmill::Backend;

    #[test]
    fn medians_are_medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&mut []), 0.0);
    }

    #[test]
    fn wrong_answers_are_found() {
        let engine = Engine::builder().backend(Backend::Cpu).build().unwrap();
        let shape = Shape { op: Op::MulMod, bits: 100, exponent_bits: 1, count: 5, shared_modulus: false };
        let inputs = Inputs::random(shape, 1);
        let plan = engine.explain(Op::MulMod, 100, 5);
        for (spoilt, by) in [(false, "num-bigint"), (true, "num-bigint"), (true, "modmill cpu")] {
            let mut ours = [Ours::new(Call::Engine(&engine), plan.clone(), true, &inputs).unwrap()];
            ours[0].answers.get_mut(3)[0] ^= u64::from(spoilt);
            let known = (by != "num-bigint").then(|| Known::by_cpu(&inputs, &engine).unwrap());
            let point = measure(&inputs, &mut ours, &mut [], Duration::from_millis(1), known).unwrap();
            assert_eq!(point.ours[0].right, !spoilt);
            assert_eq!((point.known.by.as_str(), point.known.len()), (by, 5));
            assert!(point.ours[0].best >= point.ours[0].median && point.ours[0].median > 0.0);
            assert_eq!(point.ours[0].kernel, None);
        }
    }
}
