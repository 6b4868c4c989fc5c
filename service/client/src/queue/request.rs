//! Requests in the queue, and the way back to who made them.

use crate::local::LocalKey;
use crate::{Answer, Error};
use modmill_core::sync::Mutex;
use modmill_gather::{Caller, Part, Refused, Reply};
use modmill_rsa::ItemError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::Thread;
use std::time::Instant;

/// A function that takes an answer.
pub(crate) type Callback = Box<dyn FnOnce(Answer) + Send>;

/// Whoever asks for one operation with a key.
pub(super) struct Asker {
    pub(super) key: Arc<LocalKey>,
    /// The thread that waits for the answer. `None` if a function takes it.
    pub(super) thread: Option<Thread>,
}

/// The receiver of an answer.
pub(super) enum Way {
    /// A thread that waits.
    Thread(Arc<Slot>),
    /// A function.
    Callback(Callback),
}

/// All callers are threads of one program, and wait until they are answered.
impl Caller for Asker {
    type Way = Way;

    fn principal(&self) -> &str {
        ""
    }

    fn is_late(&self, _: Instant) -> bool {
        false
    }

    fn is_wanted(_: &Way) -> bool {
        true
    }

    fn send(way: Way, reply: Reply) {
        let answer = answer(reply);
        match way {
            Way::Thread(slot) => {
                *slot.answer.lock() = Some(answer);
                slot.thread.unpark();
            }
            // A callback that panics must not take the answers of others with it.
            Way::Callback(done) => drop(catch_unwind(AssertUnwindSafe(|| done(answer)))),
        }
    }
}

/// The answer of a call with one task.
fn answer(reply: Reply) -> Answer {
    let part = match reply {
        Ok(mut parts) => parts.pop(),
        Err(Refused::Item(error)) => return Err(error.into()),
        Err(Refused::Failed(error)) => return Err(Error::Engine(error)),
        Err(refused) => return Err(Error::Engine(refused.to_string())),
    };
    match part {
        Some((_, Part::Items(mut items))) => Ok(items.pop().unwrap_or(Err(ItemError::Fault))?),
        _ => Err(ItemError::Fault.into()),
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
