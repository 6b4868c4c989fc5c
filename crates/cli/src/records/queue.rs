//! A queue between the thread that reads records and the thread that answers them.

use super::pipeline::{CHUNK_BYTES, CHUNK_RECORDS};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the answering thread waits for a further record before it answers the records that it has.
const PATIENCE: Duration = Duration::from_millis(5);

struct State<T> {
    records: Vec<T>,
    /// Bytes of input that the records were read from.
    bytes: usize,
    /// How the input ended, once it has.
    end: Option<io::Result<()>>,
    /// Nobody will take records any more.
    is_abandoned: bool,
}

impl<T> State<T> {
    fn is_full(&self) -> bool {
        self.records.len() >= CHUNK_RECORDS || self.bytes >= CHUNK_BYTES
    }
}

struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reading end: records go in.
pub(super) struct Sender<T>(Arc<Shared<T>>);

/// The answering end: chunks of records come out.
pub(super) struct Receiver<T> {
    shared: Arc<Shared<T>>,
    is_impatient: bool,
}

/// A queue that holds about one chunk of records. An impatient receiver takes the records that there are when
/// no further one arrives for a while; any other waits for a full chunk or the end of the input.
pub(super) fn queue<T>(is_impatient: bool) -> (Sender<T>, Receiver<T>) {
    let state = State { records: Vec::new(), bytes: 0, end: None, is_abandoned: false };
    let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
    (Sender(shared.clone()), Receiver { shared, is_impatient })
}

impl<T> Sender<T> {
    /// Appends a record that was read from `bytes` bytes, when there is room for it. Returns whether the
    /// receiver is still there.
    pub(super) fn push(&self, record: T, bytes: usize) -> bool {
        let mut state = self.0.lock();
        while state.is_full() && !state.is_abandoned {
            state = self.0.wait(state);
        }
        state.bytes += bytes;
        state.records.push(record);
        // The receiver waits for the first record and for a full chunk; between them it looks by itself.
        if state.records.len() == 1 || state.is_full() {
            self.0.changed.notify_all();
        }
        !state.is_abandoned
    }

    /// Ends the input.
    pub(super) fn end(self, end: io::Result<()>) {
        self.0.lock().end = Some(end);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // A reading thread that panics must not look like the end of the input.
        self.0.lock().end.get_or_insert_with(|| Err(io::Error::other("the reading thread failed")));
        self.0.changed.notify_all();
    }
}

impl<T> Receiver<T> {
    /// The next records, or none at the end of the input. An error that ended the input comes after all records.
    pub(super) fn take(&mut self) -> io::Result<Vec<T>> {
        let mut state = self.shared.lock();
        while !state.is_full() && state.end.is_none() {
            if state.records.is_empty() || !self.is_impatient {
                state = self.shared.wait(state);
                continue;
            }
            let before = state.records.len();
            let waited = self.shared.changed.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.records.len() == before {
                break;
            }
        }
        if state.records.is_empty()
            && let Some(end) = &mut state.end
        {
            std::mem::replace(end, Ok(()))?;
        }
        state.bytes = 0;
        self.shared.changed.notify_all();
        Ok(std::mem::take(&mut state.records))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.lock().is_abandoned = true;
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_out_in_order_in_full_chunks_and_then_the_end() {
        let (sender, mut receiver) = queue(false);
        let count = 3 * CHUNK_RECORDS + 7;
        let reader = std::thread::spawn(move || {
            assert!((0..count).all(|index| sender.push(index, 1)));
            sender.end(Err(io::Error::other("broken")));
        });
        let mut next = 0;
        loop {
            match receiver.take() {
                Ok(records) => {
                    assert_eq!(records.len(), CHUNK_RECORDS.min(count - next));
                    assert!(records.iter().copied().eq(next..next + records.len()));
                    next += records.len();
                }
                Err(error) => break assert_eq!((error.to_string().as_str(), next), ("broken", count)),
            }
        }
        reader.join().unwrap();
        assert!(receiver.take().unwrap().is_empty());
    }

    #[test]
    fn a_chunk_is_full_by_bytes_too() {
        let (sender, mut receiver) = queue(false);
        sender.push(1, CHUNK_BYTES);
        assert_eq!(receiver.take().unwrap(), [1]);
    }

    #[test]
    fn an_impatient_receiver_takes_what_there_is() {
        let (sender, mut receiver) = queue(true);
        for index in 0..3 {
            sender.push(index, 1);
        }
        // The input has not ended.
        assert_eq!(receiver.take().unwrap(), [0, 1, 2]);
        drop(receiver);
        assert!(!sender.push(3, 1));
    }

    #[test]
    fn a_reader_that_panics_is_an_error() {
        let (sender, mut receiver) = queue::<u8>(false);
        drop(sender);
        assert!(receiver.take().is_err());
    }
}
