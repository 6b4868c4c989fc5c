//! Those who are measured: a path of ours, or a peer.

use super::chain::Chain;
use super::inputs::Inputs;
use crate::failure::Failure;
use crate::peers::{Peer, Worker};
use modmill::{Backend, Batch, Engine, Error, Plan};
use std::ops::Range;
use std::time::{Duration, Instant};

/// One turn of a contender.
pub(crate) struct Slice {
    /// Operations per second.
    pub(crate) rate: f64,
    /// Time spent.
    pub(crate) spent: Duration,
    /// Milliseconds until a call had its answer: a batch of ours, one operation of a peer.
    pub(crate) latencies: Vec<f64>,
}

/// Someone who is measured turn by turn.
pub(crate) trait Turn {
    /// Computes until `length` has passed, once at least.
    fn slice(&mut self, length: Duration) -> Result<Slice, Failure>;
}

/// What a contender of ours does with its inputs.
pub(crate) enum Call<'a> {
    Engine(&'a Engine),
    Chain(Chain<'a>),
}

impl Call<'_> {
    fn answers(&self, inputs: &Inputs) -> Result<Batch, Error> {
        match self {
            Self::Engine(engine) => inputs.compute(engine),
            Self::Chain(chain) => Ok(chain.run(inputs)?.answers),
        }
    }

    /// Operations on each item.
    fn operations(&self) -> f64 {
        match self {
            Self::Engine(_) => 1.0,
            Self::Chain(chain) => f64::from(chain.repeat),
        }
    }
}

/// Calls that take longer together are not made again to find how fast kernels are.
const ENOUGH: Duration = Duration::from_secs(1);

/// A path of ours.
pub(crate) struct Ours<'a> {
    pub(crate) call: Call<'a>,
    pub(crate) plan: Plan,
    /// Whether the engine chose this path by itself.
    pub(crate) chosen: bool,
    inputs: &'a Inputs,
    /// What the first call answered.
    pub(crate) answers: Batch,
    /// Whether every later call answered the same.
    pub(crate) steady: bool,
}

impl<'a> Ours<'a> {
    /// Makes the first call, which is not timed.
    pub(crate) fn new(call: Call<'a>, plan: Plan, chosen: bool, inputs: &'a Inputs) -> Result<Self, Error> {
        let answers = call.answers(inputs)?;
        Ok(Self { call, plan, chosen, inputs, answers, steady: true })
    }

    /// Operations per second of kernels alone, in the best of a few calls; only GPUs tell.
    pub(crate) fn kernel_rate(&self) -> Result<Option<f64>, Error> {
        if self.plan.backend != Backend::Cuda {
            return Ok(None);
        }
        let mut best = f64::INFINITY;
        let start = Instant::now();
        for turn in 0..3 {
            if turn > 0 && start.elapsed() > ENOUGH {
                break;
            }
            let seconds = match &self.call {
                Call::Engine(engine) => {
                    let before = engine.kernel_seconds();
                    self.inputs.compute(engine)?;
                    engine.kernel_seconds() - before
                }
                Call::Chain(chain) => chain.run(self.inputs)?.kernel_seconds,
            };
            best = best.min(seconds);
        }
        Ok(Some(self.inputs.shape.count as f64 * self.call.operations() / best))
    }
}

impl Turn for Ours<'_> {
    fn slice(&mut self, length: Duration) -> Result<Slice, Failure> {
        let operations = self.inputs.shape.count as f64 * self.call.operations();
        repeat(
            length,
            operations,
            || self.call.answers(self.inputs),
            |answers| {
                self.steady &= *answers == self.answers;
            },
        )
    }
}

/// Calls until `length` has passed, once at least; `look` at the answers is not timed.
pub(crate) fn repeat<T, E>(
    length: Duration,
    operations: f64,
    mut call: impl FnMut() -> Result<T, E>,
    mut look: impl FnMut(&T),
) -> Result<Slice, Failure>
where
    Failure: From<E>,
{
    let (mut spent, mut latencies) = (Duration::ZERO, Vec::new());
    while latencies.is_empty() || spent < length {
        let start = Instant::now();
        let answers = call()?;
        let latency = start.elapsed();
        look(&answers);
        let start = Instant::now();
        drop(answers);
        spent += latency + start.elapsed();
        latencies.push(1e3 * latency.as_secs_f64());
    }
    Ok(Slice { rate: latencies.len() as f64 * operations / spent.as_secs_f64(), spent, latencies })
}

/// A peer on as many threads as ours.
pub(crate) struct Theirs<'a> {
    pub(crate) peer: &'a dyn Peer,
    pub(crate) threads: usize,
    shares: Vec<Share<'a>>,
}

/// The items of one thread, computed round and round.
struct Share<'a> {
    worker: Box<dyn Worker + 'a>,
    first: usize,
    len: usize,
    done: usize,
    /// Items between two looks at the clock.
    burst: usize,
}

/// A burst is long enough for the clock to cost nothing.
const BURST: Duration = Duration::from_millis(1);

impl Share<'_> {
    fn run(&mut self, mut count: usize) {
        while count > 0 {
            let from = self.done % self.len;
            let to = self.len.min(from + count);
            self.worker.run(from..to);
            self.done += to - from;
            count -= to - from;
        }
    }

    fn slice(&mut self, length: Duration) {
        let start = Instant::now();
        let mut passed = Duration::ZERO;
        loop {
            self.run(self.burst);
            let now = start.elapsed();
            if now - passed < BURST {
                self.burst *= 2;
            }
            passed = now;
            if passed >= length {
                return;
            }
        }
    }
}

impl<'a> Theirs<'a> {
    /// A peer that computes inputs.
    pub(crate) fn of_inputs(peer: &'a dyn Peer, inputs: &Inputs, threads: usize) -> Self {
        Self::new(peer, inputs.shape.count, threads, |items| peer.worker(inputs, items))
    }

    /// Divides items among threads, each with a worker of its own.
    pub(crate) fn new(
        peer: &'a dyn Peer,
        count: usize,
        threads: usize,
        worker: impl Fn(Range<usize>) -> Box<dyn Worker + 'a>,
    ) -> Self {
        let share = count.div_ceil(threads).max(1);
        let shares = (0..count).step_by(share).map(|first| {
            let items = first..count.min(first + share);
            let len = items.len();
            Share { worker: worker(items), first, len, done: 0, burst: 1 }
        });
        let shares: Vec<Share<'a>> = shares.collect();
        Self { peer, threads: shares.len(), shares }
    }

    /// Computes every item at least once.
    pub(crate) fn complete(&mut self) {
        self.on_all_threads(|share| share.run(share.len.saturating_sub(share.done)));
    }

    fn compute(&mut self, length: Duration) -> Slice {
        let before = self.done();
        let start = Instant::now();
        self.on_all_threads(|share| share.slice(length));
        let spent = start.elapsed();
        let rate = (self.done() - before) as f64 / spent.as_secs_f64();
        Slice { rate, spent, latencies: vec![1e3 * self.threads as f64 / rate] }
    }

    /// The answers it has, by item.
    pub(crate) fn answers(&self, limbs: usize) -> impl Iterator<Item = (usize, Vec<u64>)> + '_ {
        self.shares.iter().flat_map(move |share| {
            let known = 0..share.len.min(share.done);
            known.map(move |item| (share.first + item, share.worker.answer(item, limbs)))
        })
    }

    fn done(&self) -> usize {
        self.shares.iter().map(|share| share.done).sum()
    }

    fn on_all_threads(&mut self, work: impl Fn(&mut Share<'a>) + Sync) {
        let Some((first, others)) = self.shares.split_first_mut() else { return };
        let work = &work;
        std::thread::scope(|scope| {
            for share in others {
                scope.spawn(move || work(share));
            }
            work(first);
        });
    }
}

impl Turn for Theirs<'_> {
    fn slice(&mut self, length: Duration) -> Result<Slice, Failure> {
        Ok(self.compute(length))
    }
}
