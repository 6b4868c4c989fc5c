//! A queue between the thread that reads an input and the threads that parse it.

use super::pace::Pace;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long the receiver waits for further records before it takes those that there are.
const PATIENCE: Duration = Duration::from_millis(5);

struct State<T> {
    blocks: Vec<T>,
    records: usize,
    /// The records of a full chunk, as the pace was when this chunk began. Both ends must see the same
    /// number: if it grew while the sender waits, nobody would wake the sender.
    most_records: usize,
    /// Bytes of input that the blocks were read from.
    bytes: usize,
    /// How the input ended, once it has.
    end: Option<io::Result<()>>,
    /// Nobody will take blocks any more.
    is_abandoned: bool,
}

struct Shared<T> {
    pace: Arc<Pace>,
    state: Mutex<State<T>>,
    changed: Condvar,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }

    fn is_full(&self, state: &State<T>) -> bool {
        state.records >= state.most_records || self.pace.is_memory_full(state.records, state.bytes)
    }

    fn abandon(&self) {
        self.lock().is_abandoned = true;
        self.changed.notify_all();
    }
}

/// The reading end: blocks of records go in.
pub(super) struct Sender<T>(Arc<Shared<T>>);

/// The parsing end: the blocks of a chunk come out.
pub(super) struct Receiver<T> {
    shared: Arc<Shared<T>>,
    is_impatient: bool,
}

/// A queue that holds about one chunk of records. An impatient receiver takes the records that there are when
/// no further one arrives for a while; any other waits for a full chunk or the end of the input.
pub(super) fn queue<T>(pace: Arc<Pace>, is_impatient: bool) -> (Sender<T>, Receiver<T>) {
    let most_records = pace.records();
    let state =
        State { blocks: Vec::new(), records: 0, most_records, bytes: 0, end: None, is_abandoned: false };
    let shared = Arc::new(Shared { pace, state: Mutex::new(state), changed: Condvar::new() });
    (Sender(shared.clone()), Receiver { shared, is_impatient })
}

impl<T> Sender<T> {
    /// Appends `records` records that were read from `bytes` bytes, when there is room for them. Returns
    /// whether the receiver is still there.
    pub(super) fn push(&self, block: T, records: usize, bytes: usize) -> bool {
        let mut state = self.0.lock();
        while self.0.is_full(&state) && !state.is_abandoned {
            self.0.changed.wait(&mut state);
        }
        state.records += records;
        state.bytes += bytes;
        state.blocks.push(block);
        // The receiver waits for the first block and for a full chunk; between them it looks by itself.
        if state.blocks.len() == 1 || self.0.is_full(&state) {
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

impl<T: Send + 'static> Receiver<T> {
    /// Ends the input for the receiver, which may be waiting on another thread.
    pub(super) fn stop(&self) -> Box<dyn Fn() + Send + Sync> {
        let shared = self.shared.clone();
        Box::new(move || shared.abandon())
    }
}

impl<T> Receiver<T> {
    /// The next blocks, or none at the end of the input. An error that ended the input comes after all
    /// blocks.
    pub(super) fn take(&mut self) -> io::Result<Vec<T>> {
        let mut state = self.shared.lock();
        while !self.shared.is_full(&state) && state.end.is_none() && !state.is_abandoned {
            if state.blocks.is_empty() || !self.is_impatient {
                self.shared.changed.wait(&mut state);
                continue;
            }
            let before = state.blocks.len();
            self.shared.changed.wait_for(&mut state, PATIENCE);
            if state.blocks.len() == before {
                break;
            }
        }
        if state.is_abandoned {
            return Ok(Vec::new());
        }
        if state.blocks.is_empty()
            && let Some(end) = &mut state.end
        {
            std::mem::replace(end, Ok(()))?;
        }
        (state.records, state.bytes, state.most_records) = (0, 0, self.shared.pace.records());
        self.shared.changed.notify_all();
        Ok(std::mem::take(&mut state.blocks))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.abandon();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: usize = 4096;

    fn pace() -> Arc<Pace> {
        Arc::new(Pace::with_limits(CHUNK, 6 << 30))
    }

    #[test]
    fn records_come_out_in_order_in_full_chunks_and_then_the_end() {
        let (sender, mut receiver) = queue(pace(), false);
        let count = 3 * CHUNK + 7;
        let reader = std::thread::spawn(move || {
            assert!((0..count).all(|index| sender.push(index, 1, 1)));
            sender.end(Err(io::Error::other("broken")));
        });
        let mut next = 0;
        loop {
            match receiver.take() {
                Ok(records) => {
                    assert_eq!(records.len(), CHUNK.min(count - next));
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
    fn a_pace_that_changes_while_the_sender_waits_stops_nobody() {
        let pace = pace();
        let (sender, mut receiver) = queue(pace.clone(), false);
        let count = 100 * CHUNK;
        let reader = std::thread::spawn(move || assert!((0..count).all(|index| sender.push(index, 1, 1))));
        let mut taken = 0;
        while taken < count {
            // Let the sender fill the chunk and wait.
            std::thread::sleep(Duration::from_millis(2));
            pace.learn(pace.records(), Duration::from_micros(1));
            taken += receiver.take().unwrap().len();
        }
        reader.join().unwrap();
    }

    #[test]
    fn a_chunk_is_full_by_bytes_too() {
        let (sender, mut receiver) = queue(pace(), false);
        sender.push(1, 1, 1 << 30);
        assert_eq!(receiver.take().unwrap(), [1]);
    }

    #[test]
    fn an_impatient_receiver_takes_what_there_is() {
        let (sender, mut receiver) = queue(pace(), true);
        for index in 0..3 {
            sender.push(index, 1, 1);
        }
        // The input has not ended.
        assert_eq!(receiver.take().unwrap(), [0, 1, 2]);
        drop(receiver);
        assert!(!sender.push(3, 1, 1));
    }

    #[test]
    fn a_receiver_that_is_stopped_waits_no_longer() {
        let (sender, mut receiver) = queue::<u8>(pace(), false);
        let stop = receiver.stop();
        let waiting = std::thread::spawn(move || receiver.take().unwrap());
        stop();
        assert!(waiting.join().unwrap().is_empty());
        assert!(!sender.push(1, 1, 1));
    }

    #[test]
    fn a_reader_that_panics_is_an_error() {
        let (sender, mut receiver) = queue::<u8>(pace(), false);
        drop(sender);
        assert!(receiver.take().is_err());
    }
}
