//! A request in the queue, and the way back to who made it.

use crate::local::LocalKey;
use crate::{Answer, Error, Task};
use modmill_core::sync::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::Thread;

/// A function that takes an answer.
pub(crate) type Callback = Box<dyn FnOnce(Answer) + Send>;

/// A task that waits to be computed.
pub(super) struct Request {
    pub(super) key: Arc<LocalKey>,
    pub(super) task: Task,
    pub(super) reply: Reply,
}

/// The receiver of an answer.
pub(super) enum Reply {
    /// A thread that waits.
    Thread(Arc<Slot>),
    /// A function.
    Callback(Callback),
}

impl Reply {
    pub(super) fn send(self, answer: Answer) {
        match self {
            Self::Thread(slot) => {
                *slot.answer.lock() = Some(answer);
                slot.thread.unpark();
            }
            // A callback that panics must not take the answers of others with it.
            Self::Callback(done) => drop(catch_unwind(AssertUnwindSafe(|| done(answer)))),
        }
    }
}

/// The place in which a waiting thread finds its answer.
pub(super) struct Slot {
    answer: Mutex<Option<Answer>>,
    pub(super) thread: Thread,
}

impl Slot {
    /// A slot of the calling thread.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { answer: Mutex::default(), thread: std::thread::current() })
    }

    pub(super) fn take(&self) -> Option<Answer> {
        self.answer.lock().take()
    }
}

/// The answer of every request, if the whole batch failed for `reason`.
pub(super) fn all_failed(count: usize, reason: &str) -> Vec<Answer> {
    (0..count).map(|_| Err(Error::Engine(reason.to_owned()))).collect()
}
