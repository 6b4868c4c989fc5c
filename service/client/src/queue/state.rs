//! The state that the lock of the queue protects.

use super::load::{Load, MOST, Prospect};
use super::request::Asker;
use modmill::Engine;
use modmill_gather::{Class, Estimate, Estimates, Queues, Taken};
use std::thread::{self, Thread};
use std::time::Instant;

/// A thread that waits for company before it takes what waits.
pub(super) struct Gatherer {
    pub(super) thread: Thread,
    /// The class of operations that it is about to take.
    pub(super) class: Class,
    /// The number of operations with which it begins at once.
    pub(super) target: usize,
    /// Whether a thread waits for one of the operations that it has seen.
    pub(super) somebody_waits: bool,
}

/// The state of a queue.
pub(super) struct State {
    pub(super) queues: Queues<Asker>,
    estimates: Estimates,
    /// Batches that are computed.
    pub(super) computing: usize,
    /// Work outside of the queue, on the same engine.
    pub(super) beside: usize,
    /// The thread that is about to take what waits.
    pub(super) gatherer: Option<Gatherer>,
    /// Worker threads, and those of them that have nothing to do.
    pub(super) workers: usize,
    pub(super) idle: usize,
    pub(super) load: Load,
    /// Whether the process is about to fork.
    pub(super) is_forking: bool,
    /// Batches that may be computed at the same time: one for each core.
    limit: usize,
}

impl Default for State {
    fn default() -> Self {
        let limit = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            queues: Queues::default(),
            estimates: Estimates::new(limit, 0.0),
            computing: 0,
            beside: 0,
            gatherer: None,
            workers: 0,
            idle: 0,
            load: Load::default(),
            is_forking: false,
            limit,
        }
    }
}

impl State {
    /// Whether something waits.
    pub(super) fn is_waiting(&self) -> bool {
        self.queues.depth().0 > 0
    }

    /// Whether a thread may take what waits.
    pub(super) fn may_lead(&self) -> bool {
        !self.is_forking && self.gatherer.is_none() && self.computing < self.limit && self.is_waiting()
    }

    /// Whether an operation waits for a worker, and one more worker would help.
    pub(super) fn needs_worker(&self) -> bool {
        self.workers == 0 || (self.may_lead() && self.idle == 0 && self.workers < self.limit)
    }

    /// The batch that would be taken now, if something waits.
    pub(super) fn prospect(&self, engine: &Engine) -> Option<(Class, Estimate, Prospect)> {
        let class = self.queues.next_class(|_| 1)?;
        let estimate = self.estimates.of(class, engine, None);
        let prospect = Prospect {
            group: estimate.group,
            group_seconds: estimate.group_seconds(),
            computing: self.computing,
            limit: self.limit,
            somebody_waits: self.queues.calls().any(|call| call.caller.thread.is_some()),
        };
        Some((class, estimate, prospect))
    }

    /// Takes a batch.
    pub(super) fn take(&mut self, class: Class, estimate: &Estimate) -> Taken<Asker> {
        let waiting = self.queues.items(class);
        let count = estimate.share(waiting, self.limit - self.computing, MOST);
        self.computing += 1;
        self.load.began();
        self.queues.take(class, count, count, Instant::now())
    }

    /// Learns that `count` operations took `seconds`.
    pub(super) fn ended(&mut self, class: Class, count: usize, seconds: f64) {
        self.computing -= 1;
        self.queues.computed(class, count);
        self.load.ended(count);
        self.estimates.learn(class, count, seconds);
    }
}
