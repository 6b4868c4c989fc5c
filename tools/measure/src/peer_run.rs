//! A peer as a contender, on several threads.

use crate::clock::Spent;
use crate::error::{Error, Refusal};
use crate::inputs::Inputs;
use crate::peers::{Peer, Worker};
use crate::slices::{Contender, Slice};
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// A peer that computes the items of a batch, divided among threads.
pub(crate) struct PeerRun<'a> {
    pub(crate) peer: &'a dyn Peer,
    pub(crate) threads: usize,
    shares: Vec<Share<'a>>,
}

/// The items of one thread, which are computed over and over.
struct Share<'a> {
    worker: Box<dyn Worker + 'a>,
    /// The index of the first item in the batch.
    first: usize,
    len: usize,
    /// Operations done so far.
    done: usize,
    /// Items computed between two looks at the clock.
    burst: usize,
}

/// The least time of a burst: long enough to make the cost of reading the clock negligible.
const BURST: Duration = Duration::from_millis(1);

impl Share<'_> {
    fn run(&mut self, mut count: usize) -> Result<(), Refusal> {
        while count > 0 {
            let from = self.done % self.len;
            let to = self.len.min(from + count);
            self.worker.run(from..to)?;
            self.done += to - from;
            count -= to - from;
        }
        Ok(())
    }

    fn slice(&mut self, length: Duration) -> Result<(), Refusal> {
        let start = Instant::now();
        let mut passed = Duration::ZERO;
        loop {
            self.run(self.burst)?;
            let now = start.elapsed();
            if now - passed < BURST {
                self.burst *= 2;
            }
            passed = now;
            if passed >= length {
                return Ok(());
            }
        }
    }
}

impl<'a> PeerRun<'a> {
    /// A peer that computes `inputs`.
    pub(crate) fn of_inputs(peer: &'a dyn Peer, inputs: &Inputs, threads: usize) -> Result<Self, Refusal> {
        Self::new(peer, inputs.workload.count, threads, |items| peer.worker(inputs, items))
    }

    /// Divides `count` items among threads. Each thread has its own worker.
    pub(crate) fn new(
        peer: &'a dyn Peer,
        count: usize,
        threads: usize,
        worker: impl Fn(Range<usize>) -> Result<Box<dyn Worker + 'a>, Refusal>,
    ) -> Result<Self, Refusal> {
        let share = count.div_ceil(threads).max(1);
        let shares = (0..count).step_by(share).map(|first| {
            let items = first..count.min(first + share);
            let len = items.len();
            Ok(Share { worker: worker(items)?, first, len, done: 0, burst: 1 })
        });
        let shares: Vec<Share<'a>> = shares.collect::<Result<_, _>>()?;
        Ok(Self { peer, threads: shares.len(), shares })
    }

    /// Computes the items that have no answer yet.
    pub(crate) fn complete(&mut self) -> Result<(), Refusal> {
        self.on_all_threads(|share| share.run(share.len.saturating_sub(share.done)))
    }

    /// The items that were computed so far, with their answers.
    pub(crate) fn answers(&self, limbs: usize) -> impl Iterator<Item = (usize, Vec<u64>)> + '_ {
        self.shares.iter().flat_map(move |share| {
            let computed = 0..share.len.min(share.done);
            computed.map(move |item| (share.first + item, share.worker.answer(item, limbs)))
        })
    }

    fn done(&self) -> usize {
        self.shares.iter().map(|share| share.done).sum()
    }

    fn on_all_threads(
        &mut self,
        work: impl Fn(&mut Share<'a>) -> Result<(), Refusal> + Sync,
    ) -> Result<(), Refusal> {
        let Some((first, others)) = self.shares.split_first_mut() else { return Ok(()) };
        let work = &work;
        std::thread::scope(|scope| {
            let others: Vec<_> = others.iter_mut().map(|share| scope.spawn(move || work(share))).collect();
            let own = work(first);
            let join =
                |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            others.into_iter().map(join).fold(own, Result::and)
        })
    }
}

impl Contender for PeerRun<'_> {
    fn slice(&mut self, length: Duration) -> Result<Slice, Error> {
        let (before, mut spent) = (self.done(), Spent::NOTHING);
        spent.during(|| self.on_all_threads(|share| share.slice(length)))?;
        let operations = (self.done() - before) as f64;
        let latency = spent.wall.as_secs_f64() * self.threads as f64 / operations;
        Ok(Slice { operations, spent, latencies: vec![1e3 * latency] })
    }
}
