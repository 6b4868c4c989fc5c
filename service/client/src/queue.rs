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
use modmill_gather::{Call, Class, Refused, Room, Taken, Work, hand_out};
use request::{Asker, Slot, Way};
use state::{Gatherer, State};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
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
        self.push(key, task, Some(slot.thread.clone()), Way::Thread(Arc::clone(&slot)))?;
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
        // Nothing is refused: the room has no bound.
        let _ = self.push(key, task, None, Way::Callback(done));
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

    fn push(&self, key: &Arc<LocalKey>, task: Task, thread: Option<Thread>, way: Way) -> Result<(), Error> {
        let somebody_waits = thread.is_some();
        let work = Work::Private { key: Arc::clone(&key.private), tasks: vec![task] };
        let (class, asker) = (work.class(), Asker { key: Arc::clone(key), thread });
        let call = Call::new(asker, work, way);
        let mut state = self.state();
        state.load.arrived(Instant::now());
        let taken = state.queues.push(class, call, 0.0, Room::ENDLESS);
        self.alert(&state, Some(somebody_waits));
        taken.map_err(|refused: Refused| Error::Engine(refused.to_string()))
    }

    /// Wakes a thread that can compute what waits. `came` is given if an operation has come: whether the
    /// calling thread waits for its answer, and so is about to try itself.
    fn alert(&self, state: &State, came: Option<bool>) {
        if let Some(Gatherer { thread, class, target, somebody_waits }) = &state.gatherer {
            // The first thread that waits for an answer shortens the wait for company.
            let shortens = !somebody_waits && came == Some(true);
            if state.queues.items(*class) >= *target || came.is_none() || shortens {
                thread.unpark();
            }
            return;
        }
        if !state.may_lead() {
            return;
        }
        let waiting_thread = state.queues.calls().find_map(|call| call.caller.thread.as_ref());
        let has_callback = || state.queues.calls().any(|call| call.caller.thread.is_none());
        match waiting_thread {
            Some(thread) if came.is_none() => thread.unpark(),
            _ if has_callback() => self.work.notify_one(),
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
        let Some((class, Taken { pieces, items, .. })) = self.gather(engine) else { return false };
        let start = Instant::now();
        let computed = compute::compute(engine, &pieces);
        let seconds = start.elapsed().as_secs_f64();
        self.operations.fetch_add(items, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.largest.fetch_max(items, Ordering::Relaxed);
        let mut state = self.state();
        state.ended(class, items, seconds);
        self.tell_fork(&state);
        self.alert(&state, None);
        drop(state);
        hand_out(&pieces, computed);
        true
    }

    /// Takes a batch, after a wait for company where company is known to come.
    fn gather(&self, engine: &Engine) -> Option<(Class, Taken<Asker>)> {
        let mut state = self.state();
        if !state.may_lead() {
            return None;
        }
        let begun = Instant::now();
        let (class, estimate) = loop {
            let Some((class, estimate, prospect)) = state.prospect(engine) else {
                state.gatherer = None;
                return None;
            };
            let target = state.load.target(prospect);
            let now = Instant::now();
            let end = begun + prospect.window();
            // While another batch is computed, callers that are called back wait for full lanes however long
            // that batch takes.
            let is_patient = prospect.computing > 0 && !prospect.somebody_waits;
            if state.queues.items(class) >= target || (now >= end && !is_patient) {
                break (class, estimate);
            }
            let (thread, somebody_waits) = (thread::current(), prospect.somebody_waits);
            state.gatherer = Some(Gatherer { thread, class, target, somebody_waits });
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
        };
        state.gatherer = None;
        let taken = state.take(class, &estimate);
        if state.is_waiting() {
            self.alert(&state, None);
        }
        Some((class, taken))
    }

    fn engine(&self) -> Result<&Engine, Error> {
        // The calling thread computes everything. GPUs are the service's, because a device is not shared
        // among the many processes that load a library.
        let made = self.engine.get_or_init(|| {
            let built = Engine::builder().backend(Backend::Cpu).here().build();
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
        self.alert(&state, None);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
