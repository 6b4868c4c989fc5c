//! Operations inside of jobs of ASYNC: the job is paused until the operation is done.
//!
//! A job is a coroutine of the thread that started it. Its wait context carries one descriptor, an eventfd,
//! that becomes readable when the operation is done; the program polls it and resumes the job. Three rules
//! come of what programs do:
//!
//! * A job pauses at least once after its descriptor was set. HAProxy takes the descriptor into its poller
//!   when the job ends, and never looks at it again.
//! * What a worker thread writes to is on the heap and counted, not on the job's stack, and the stack holds
//!   no count. HAProxy frees a connection that was closed without resuming its paused job, and the job's
//!   stack is then lost with all that it owns.
//! * There is one descriptor for a wait context, and it is used again. `openssl speed` refuses more than one.

use crate::libcrypto::Async;
use modmill_client::{Answer, Key, Task};
use modmill_core::sync::{Mutex, MutexGuard};
use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Weak};

/// A byte whose address tells our descriptor from those of others in a wait context.
static MARK: u8 = 0;

/// How long a job that was resumed too early looks at its descriptor before it is paused again. Programs may
/// forbid a pause (`ASYNC_block_pause`), and the job would otherwise spin.
const LOOK_MS: c_int = 1;

/// Computes a task, in a paused job if the caller is one.
pub(crate) fn compute(asynchronous: Option<&Async>, key: &Key, task: Task) -> Answer {
    let job = asynchronous.and_then(Job::current);
    match job.and_then(|job| Some((job, job.waiter()?))) {
        Some((job, waiter)) => job.compute(waiter, key, task),
        None => key.compute(task),
    }
}

/// The job that the calling thread runs.
#[derive(Clone, Copy)]
struct Job<'a> {
    functions: &'a Async,
    wait_context: *mut c_void,
}

/// The descriptor of a wait context, and the answer of its operation. The wait context and the operation own
/// it.
struct Waiter {
    descriptor: OwnedFd,
    state: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// The number of the operation: an answer to an earlier one, whose job was given up, is dropped.
    operation: u64,
    answer: Option<Answer>,
}

impl Waiter {
    fn new() -> Option<Arc<Self>> {
        // SAFETY: eventfd takes no memory. A descriptor that it returns belongs to nobody else.
        let descriptor = unsafe {
            let descriptor = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor))
        };
        Some(Arc::new(Self { descriptor: descriptor?, state: Mutex::default() }))
    }

    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock()
    }

    /// Makes the descriptor readable.
    fn wake(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes are read from `one`. A write to an eventfd fails only if it is readable
        // already.
        unsafe { libc::write(self.descriptor.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Makes the descriptor unreadable.
    fn clear(&self) {
        let mut count = [0u8; 8];
        // SAFETY: at most eight bytes are written to `count`. The descriptor does not block.
        unsafe { libc::read(self.descriptor.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }

    /// Waits until the descriptor is readable, for at most `milliseconds`, or for ever if they are negative.
    fn wait(&self, milliseconds: c_int) {
        let mut polled = libc::pollfd { fd: self.descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure is read and written.
        unsafe { libc::poll(&mut polled, 1, milliseconds) };
    }
}

/// Gives up the share of a wait context in its descriptor. An operation under way keeps its own.
unsafe extern "C" fn release(_: *mut c_void, _: *const c_void, _: c_int, waiter: *mut c_void) {
    if !waiter.is_null() {
        // SAFETY: the pointer comes of Arc::into_raw in Job::waiter, and OpenSSL calls this once for it.
        drop(unsafe { Arc::from_raw(waiter.cast::<Waiter>()) });
    }
}

impl<'a> Job<'a> {
    /// The job of the calling thread, if it runs one.
    fn current(functions: &'a Async) -> Option<Self> {
        // SAFETY: OpenSSL's functions; the wait context is that of the running job, which lives while it
        // runs.
        let wait_context = unsafe {
            let job = (functions.get_current_job)();
            if job.is_null() {
                return None;
            }
            (functions.get_wait_ctx)(job)
        };
        (!wait_context.is_null()).then_some(Self { functions, wait_context })
    }

    /// The descriptor of the job's wait context, which is made if there is none. `None` if the system has no
    /// more descriptors: the caller then waits.
    fn waiter(self) -> Option<Arc<Waiter>> {
        let mark: *const c_void = (&raw const MARK).cast();
        let (mut descriptor, mut known) = (-1, std::ptr::null_mut());
        // SAFETY: both pointers can be written. What OpenSSL returns under our mark is what was set below.
        unsafe {
            let found = (self.functions.get_fd)(self.wait_context, mark, &mut descriptor, &mut known) == 1;
            if found && !known.is_null() {
                let known: *const Waiter = known.cast();
                Arc::increment_strong_count(known);
                return Some(Arc::from_raw(known));
            }
        }
        let waiter = Waiter::new()?;
        let shared = Arc::into_raw(Arc::clone(&waiter));
        // SAFETY: the wait context takes the share, and gives it back through `release`.
        let is_set = unsafe {
            (self.functions.set_wait_fd)(
                self.wait_context,
                mark,
                waiter.descriptor.as_raw_fd(),
                shared.cast_mut().cast(),
                Some(release),
            ) == 1
        };
        if !is_set {
            // SAFETY: the share was not taken.
            drop(unsafe { Arc::from_raw(shared) });
            return None;
        }
        Some(waiter)
    }

    fn compute(self, waiter: Arc<Waiter>, key: &Key, task: Task) -> Answer {
        let operation = {
            let mut state = waiter.state();
            *state = Waiting { operation: state.operation + 1, answer: None };
            state.operation
        };
        // The wait context owns the waiter while the job can be resumed. The stack of the job must not.
        let shared = Arc::downgrade(&waiter);
        key.start(task, move |answer| {
            // Under the lock, so that whoever finds the answer also finds the descriptor readable, and clears
            // it.
            let mut state = waiter.state();
            if state.operation == operation {
                state.answer = Some(answer);
                waiter.wake();
            }
        });
        let mut was_early = false;
        loop {
            // SAFETY: the calling thread runs a job, as Job::current found. No lock is held.
            let has_paused = unsafe { (self.functions.pause_job)() } == 1;
            match take(&shared, has_paused, was_early) {
                Some(answer) => return answer,
                None => was_early = true,
            }
        }
    }
}

/// The answer of an operation, if it is there. If it is not, and the job could not be paused or was resumed
/// too early more than once, waits for a while.
fn take(shared: &Weak<Waiter>, has_paused: bool, was_early: bool) -> Option<Answer> {
    let Some(waiter) = shared.upgrade() else {
        return Some(Err(modmill_client::Error::Engine("the wait context of the job is gone".into())));
    };
    if let Some(answer) = waiter.state().answer.take() {
        waiter.clear();
        return Some(answer);
    }
    match has_paused {
        false => waiter.wait(-1),
        true if was_early => waiter.wait(LOOK_MS),
        true => {}
    }
    None
}
