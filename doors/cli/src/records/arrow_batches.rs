//! The record batches of an Arrow file, read by several threads and handed on in order.
//!
//! One thread reads and checks about two gigabytes a second, which is less than a GPU asks for.

use arrow_array::RecordBatch;
use modmill_tables::TableError;
use modmill_tables::ipc;
use parking_lot::{Condvar, Mutex};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// The most threads that read a file.
const THREADS: usize = 4;

/// Bytes of batches that may wait for their turn, about.
const WAITING_BYTES: u64 = 64 << 20;

type Batch = Result<RecordBatch, TableError>;

/// The batches of a file in order.
pub(super) struct ArrowBatches {
    /// The threads that read the batches by turns.
    readers: Vec<Receiver<Batch>>,
    turns: Arc<Turns>,
    /// The batch that comes next, and how many there are.
    next: usize,
    count: usize,
}

/// Whose turn it is. A batch that is too long to wait for its turn is read when it has come.
#[derive(Default)]
struct Turns {
    next: Mutex<usize>,
    changed: Condvar,
}

impl Turns {
    /// Waits for the turn of the batch `index`.
    fn wait(&self, index: usize) {
        self.changed.wait_while(&mut self.next.lock(), |next| *next < index);
    }

    fn advance(&self, next: usize) {
        *self.next.lock() = next;
        self.changed.notify_all();
    }
}

/// One of the threads that read.
struct Reader {
    index: Arc<ipc::File>,
    file: File,
    turns: Arc<Turns>,
    /// The most bytes of a batch that waits for its turn.
    share: u64,
}

impl Reader {
    fn read(&mut self, batch: usize) -> Batch {
        let wait = |bytes: u64| {
            if bytes > self.share {
                self.turns.wait(batch);
            }
        };
        wait(self.index.stored_bytes(batch));
        let loaded = self.index.load(&mut self.file, batch)?;
        wait(loaded.bytes());
        loaded.decode()
    }
}

impl ArrowBatches {
    /// The batches of the file that `index` belongs to. The function `open` opens it once more.
    pub(super) fn new(
        index: ipc::File,
        file: File,
        open: impl Fn() -> io::Result<File>,
    ) -> Result<Self, TableError> {
        let count = index.batches();
        let longest = (0..count).map(|batch| index.stored_bytes(batch)).max().unwrap_or(0);
        // Every thread has a batch in its hands and one that waits.
        let threads = usize::try_from(WAITING_BYTES / (2 * longest.max(1))).unwrap_or(THREADS);
        let threads = threads.clamp(1, THREADS).min(count);
        let share = WAITING_BYTES / (2 * threads.max(1)) as u64;
        let (index, turns) = (Arc::new(index), Arc::new(Turns::default()));
        let mut files = vec![file];
        while files.len() < threads {
            files.push(open()?);
        }
        let mut readers = Vec::with_capacity(threads);
        for (start, file) in files.into_iter().enumerate().take(threads) {
            let mut reader = Reader { index: Arc::clone(&index), file, turns: Arc::clone(&turns), share };
            let (sender, receiver) = sync_channel(1);
            let read = move || {
                for batch in (start..count).step_by(threads) {
                    let batch = reader.read(batch);
                    // Nobody wants more than the first error.
                    let is_last = batch.is_err();
                    if sender.send(batch).is_err() || is_last {
                        return;
                    }
                }
            };
            thread::Builder::new().name("reader".to_owned()).spawn(read)?;
            readers.push(receiver);
        }
        Ok(Self { readers, turns, next: 0, count })
    }
}

impl Drop for ArrowBatches {
    /// Threads that wait for a turn find that nobody takes their batch.
    fn drop(&mut self) {
        self.readers.clear();
        self.turns.advance(usize::MAX);
    }
}

impl Iterator for ArrowBatches {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        if self.next == self.count {
            return None;
        }
        self.turns.advance(self.next);
        let missing = |_| Err(TableError::Malformed("a thread that reads the file has ended".to_owned()));
        let batch = self.readers[self.next % self.readers.len()].recv().unwrap_or_else(missing);
        self.next = if batch.is_err() { self.count } else { self.next + 1 };
        Some(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{BinaryArray, cast::AsArray};
    use arrow_ipc::writer::FileWriter;
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    /// A file of `count` batches of two rows: the number of the batch, and `bytes` zeros.
    fn write(path: &Path, count: u8, bytes: usize) {
        let batch = |number: u8| {
            let column = BinaryArray::from_vec(vec![&[number], &vec![0; bytes]]);
            RecordBatch::try_from_iter([("number", Arc::new(column) as _)]).unwrap()
        };
        let file = File::create(path).unwrap();
        let mut writer = FileWriter::try_new(file, &batch(0).schema()).unwrap();
        (0..count).for_each(|number| writer.write(&batch(number)).unwrap());
        writer.finish().unwrap();
    }

    fn read(path: &Path) -> Result<ArrowBatches, TableError> {
        let limits = ipc::Limits { body: u64::MAX, expanded: 0, dictionaries: 0 };
        let open = || File::open(path);
        let mut file = open()?;
        ArrowBatches::new(ipc::File::open(&mut file, limits)?, file, open)
    }

    #[test]
    fn batches_come_in_order_however_many_threads_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("batches.arrow");
        for (count, bytes, threads) in [(0, 1, 0), (1, 1, 1), (3, 1, 3), (50, 1, 4), (5, 40 << 20, 1)] {
            write(&path, count, bytes);
            let batches = read(&path).unwrap();
            assert_eq!(batches.readers.len(), threads, "{count} batches");
            let numbers: Vec<u8> =
                batches.map(|batch| batch.unwrap().column(0).as_binary::<i32>().value(0)[0]).collect();
            assert_eq!(numbers, (0..count).collect::<Vec<u8>>());
        }
    }

    /// A batch that is damaged is an error in its place, and those before it are there.
    #[test]
    fn a_damaged_batch_is_an_error_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("batches.arrow");
        write(&path, 9, 1000);
        let mut octets = fs::read(&path).unwrap();
        // The middle of the file is in a batch, and its metadata begin with a mark.
        let mark = [0xff; 4];
        let middle = octets.len() / 2;
        let place = middle + octets[middle..].windows(4).position(|four| four == mark).unwrap();
        octets[place..place + 64].fill(0x77);
        fs::write(&path, octets).unwrap();
        let batches: Vec<Batch> = read(&path).unwrap().collect();
        let good = batches.iter().take_while(|batch| batch.is_ok()).count();
        assert!((1..9).contains(&good) && batches[good].is_err(), "{good} batches before the damaged one");
    }
}
