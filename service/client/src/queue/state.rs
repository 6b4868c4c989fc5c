//! The state that the lock of the queue protects.

use super::load::{Load, Prospect, share};
use super::request::{Reply, Request};
use modmill::Engine;
use modmill_rsa::Rsa;
use std::collections::{BTreeMap, VecDeque};
use std::thread::{self, Thread};

/// A thread that waits for company before it takes what waits.
pub(super) struct Gatherer {
    pub(super) thread: Thread,
    /// The number of requests with which it begins at once.
    pub(super) target: usize,
    /// Whether a thread waits for one of the requests that it has seen.
    pub(super) somebody_waits: bool,
}

/// The state of a queue.
pub(super) struct State {
    pub(super) waiting: VecDeque<Request>,
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
    /// Operations that fill the lanes of one group, by the bits of the key.
    groups: BTreeMap<usize, usize>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            computing: 0,
            beside: 0,
            gatherer: None,
            workers: 0,
            idle: 0,
            load: Load::default(),
            is_forking: false,
            limit: thread::available_parallelism().map_or(1, std::num::NonZero::get),
            groups: BTreeMap::new(),
        }
    }
}

impl State {
    /// Whether a thread may take what waits.
    pub(super) fn may_lead(&self) -> bool {
        !self.is_forking && self.gatherer.is_none() && self.computing < self.limit && !self.waiting.is_empty()
    }

    /// Whether a request waits for a worker, and one more worker would help.
    pub(super) fn needs_worker(&self) -> bool {
        self.workers == 0 || (self.may_lead() && self.idle == 0 && self.workers < self.limit)
    }

    /// The batch that the first request that waits would begin.
    pub(super) fn prospect(&mut self, engine: &Engine) -> Option<Prospect> {
        let bits = self.waiting.front()?.key.private.bits();
        let somebody_waits = self.waiting.iter().any(|request| matches!(request.reply, Reply::Thread(_)));
        let (computing, limit) = (self.computing, self.limit);
        Some(Prospect { group: self.group(engine, bits), computing, limit, somebody_waits })
    }

    /// Takes a batch of the first request and of others whose keys have the same length. Something waits.
    pub(super) fn take(&mut self, engine: &Engine) -> (Vec<Request>, usize) {
        let bits = self.waiting.front().map_or(0, |request| request.key.private.bits());
        let group = self.group(engine, bits);
        let alike = self.waiting.iter().filter(|request| request.key.private.bits() == bits).count();
        let count = share(alike, self.limit - self.computing, group);
        let mut batch = Vec::with_capacity(count);
        let mut others = VecDeque::new();
        while let Some(request) = self.waiting.pop_front() {
            match request.key.private.bits() == bits && batch.len() < count {
                true => batch.push(request),
                false => others.push_back(request),
            }
        }
        self.waiting = others;
        self.computing += 1;
        self.load.began();
        (batch, group)
    }

    /// Operations that take as long as one.
    fn group(&mut self, engine: &Engine, bits: usize) -> usize {
        let lanes = || Rsa::new(engine).plan_private(bits, 1024).map_or(1, |plan| plan.lanes);
        *self.groups.entry(bits).or_insert_with(lanes)
    }
}
