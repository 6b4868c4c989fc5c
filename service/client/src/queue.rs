//! The queue of this process: requests of all threads, computed together.

mod compute;
mod load;
mod process;
mod request;
mod state;

pub use process::{Statistics, rest, resume, statistics, with_engine};
pub(crate) use process::{current, generation};
pub(crate) use request::Callback;

use crate::local::LocalKey;
use crate::{Answer, Error, Task};
use modmill::{Backend, Engine};
use modmill_core::sync::{Condvar, Mutex, MutexGuard};
use request::{Reply, Request, Slot, all_failed};
use state::{Gatherer, State};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// The queue of a process.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// There may be work for worker threads.
    work: Condvar,
    /// A batch has ended, or a fork is over.
    quiet: Condvar,
    engine: OnceLock<Result<Engine, Error>>,
    operations: AtomicUsize,
    batches: AtomicUsize,
    largest: AtomicUsize,
}

impl Queue {
    /// Computes a task, and waits for its answer.
    pub(crate) fn compute(&self, key: &Arc<LocalKey>, task: Task) -> Answer {
        self.engine()?;
        let slot = Slot::new();
        self.push(Request { key: Arc::clone(key), task, reply: Reply::Thread(Arc::clone(&slot)) });
        loop {
            if let Some(answer) = slot.take() {
                return answer;
            }
            if self.lead() {
                continue;
            }
            // While this thread gathered the requests of others, its own answer may have come and woken it
            // there.
            if let Some(answer) = slot.take() {
                return answer;
            }
            thread::park();
        }
    }

    /// Begins a task.
    pub(crate) fn start(&'static self, key: &Arc<LocalKey>, task: Task, done: Callback) {
        if let Err(error) = self.engine() {
            return done(Err(error));
        }
        self.push(Request { key: Arc::clone(key), task, reply: Reply::Callback(done) });
        let mut state = self.state();
        if state.needs_worker() {
            state.workers += 1;
            drop(state);
            let worker = thread::Builder::new().name("modmill-client".into()).spawn(|| self.work());
            if worker.is_err() {
                self.state().workers -= 1;
                // Somebody has to compute: this thread does, until nothing waits that others do not compute.
                while self.lead() {}
            }
        }
    }

    fn push(&self, request: Request) {
        let now = Instant::now();
        let mut state = self.state();
        state.load.arrived(now);
        state.waiting.push_back(request);
        self.alert(&state, true);
    }

    /// Wakes a thread that can compute what waits. `submitter_leads` says that the calling thread is about to
    /// try itself if it waits for an answer.
    fn alert(&self, state: &State, submitter_leads: bool) {
        if let Some(Gatherer { thread, target, somebody_waits }) = &state.gatherer {
            let last = state.waiting.back().map(|request| &request.reply);
            // The first thread that waits for an answer shortens the wait for company.
            let shortens = !somebody_waits && matches!(last, Some(Reply::Thread(_)));
            if state.waiting.len() >= *target || !submitter_leads || shortens {
                thread.unpark();
            }
            return;
        }
        if !state.may_lead() {
            return;
        }
        let has_callback = state.waiting.iter().any(|request| matches!(request.reply, Reply::Callback(_)));
        let waiting_thread = state.waiting.iter().find_map(|request| match &request.reply {
            Reply::Thread(slot) => Some(&slot.thread),
            Reply::Callback(_) => None,
        });
        match waiting_thread {
            Some(thread) if !submitter_leads => thread.unpark(),
            _ if has_callback => self.work.notify_one(),
            _ => {}
        }
    }

    /// The life of a worker thread.
    fn work(&self) {
        loop {
            let mut state = self.state();
            while !state.may_lead() {
                state.idle += 1;
                state = self.work.wait(state);
                state.idle -= 1;
            }
            drop(state);
            self.lead();
        }
    }

    /// Computes a batch of the waiting operations, if there are any and no other thread is about to. Returns
    /// whether it did.
    fn lead(&self) -> bool {
        let Ok(engine) = self.engine() else { return false };
        let Some((batch, group)) = self.gather(engine) else { return false };
        let (start, count) = (Instant::now(), batch.len());
        let mut answers = compute::compute(engine, &batch);
        let seconds = start.elapsed().as_secs_f64();
        self.operations.fetch_add(count, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.largest.fetch_max(count, Ordering::Relaxed);
        let mut state = self.state();
        state.computing -= 1;
        state.load.ended(count, group, seconds);
        self.tell_fork(&state);
        self.alert(&state, false);
        drop(state);
        if answers.len() != count {
            answers = all_failed(count, "it gave another number of answers");
        }
        for (request, answer) in batch.into_iter().zip(answers) {
            request.reply.send(answer);
        }
        true
    }

    /// Takes a batch, with the size of a group of lanes, after a wait for company where company is known to
    /// come.
    fn gather(&self, engine: &Engine) -> Option<(Vec<Request>, usize)> {
        let mut state = self.state();
        if !state.may_lead() {
            return None;
        }
        let begun = Instant::now();
        loop {
            let Some(prospect) = state.prospect(engine) else {
                state.gatherer = None;
                return None;
            };
            let target = state.load.target(prospect);
            let now = Instant::now();
            let end = begun + state.load.window(prospect);
            // While another batch is computed, callers that are called back wait for full lanes however long
            // that batch takes.
            let is_patient = prospect.computing > 0 && !prospect.somebody_waits;
            if state.waiting.len() >= target || (now >= end && !is_patient) {
                break;
            }
            let somebody_waits = prospect.somebody_waits;
            state.gatherer = Some(Gatherer { thread: thread::current(), target, somebody_waits });
            drop(state);
            match is_patient {
                true => thread::park_timeout(Duration::from_millis(10)),
                false => thread::park_timeout(end - now),
            }
            state = self.state();
            if state.is_forking {
                state.gatherer = None;
                return None;
            }
        }
        state.gatherer = None;
        let taken = state.take(engine);
        if !state.waiting.is_empty() {
            self.alert(&state, false);
        }
        Some(taken)
    }

    fn engine(&self) -> Result<&Engine, Error> {
        // With one thread everything is computed by the calling thread. GPUs are the service's, because a
        // device is not shared among the many processes that load a library.
        let made = self.engine.get_or_init(|| {
            let built = Engine::builder().backend(Backend::Cpu).threads(1).build();
            built.map_err(|error| Error::Engine(error.to_string()))
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// Wakes a fork that waits for work to end. Nobody else waits for that, and waking nobody costs a system
    /// call.
    fn tell_fork(&self, state: &State) {
        if state.is_forking {
            self.quiet.notify_all();
        }
    }

    /// Counts work outside of the queue.
    fn enter(&self) {
        let mut state = self.state();
        while state.is_forking {
            state = self.quiet.wait(state);
        }
        state.beside += 1;
    }

    /// Lets no batch begin, and waits until none is computed.
    fn hold(&self, patience: Duration) {
        let mut state = self.state();
        state.is_forking = true;
        let end = Instant::now() + patience;
        while state.computing + state.beside > 0 {
            let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) else {
                break;
            };
            state = self.quiet.wait_timeout(state, left);
        }
    }

    /// Lets batches begin again.
    fn release(&self) {
        let mut state = self.state();
        state.is_forking = false;
        self.quiet.notify_all();
        self.alert(&state, false);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
