//! The record batches of an Arrow file, read by several threads and handed on in order.
//!
//! One thread reads and checks about two gigabytes a second, which is less than a GPU asks for.

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileReader;
use arrow_schema::ArrowError;
use std::fs::File;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// The most threads that read a file.
const THREADS: usize = 4;

/// Bytes of batches that may wait for their turn, about.
const WAITING_BYTES: usize = 64 << 20;

type Batch = Result<RecordBatch, ArrowError>;

/// The batches of a file in order.
pub(super) enum ArrowBatches {
    /// Read by the thread that asks for them.
    One(FileReader<File>),
    /// The first batch, and the threads that read the others by turns.
    Several { first: Option<Batch>, readers: Vec<Receiver<Batch>>, turn: usize, left: usize },
}

impl ArrowBatches {
    /// The batches of the file that `reader` has opened. The function `open` opens it once more.
    pub(super) fn new(
        mut reader: FileReader<File>,
        open: impl Fn() -> Result<FileReader<File>, ArrowError>,
    ) -> Result<Self, ArrowError> {
        let count = reader.num_batches();
        if count < 3 {
            return Ok(Self::One(reader));
        }
        let Some(first) = reader.next() else { return Ok(Self::One(reader)) };
        let bytes = first.as_ref().map_or(WAITING_BYTES, RecordBatch::get_array_memory_size);
        // Every thread has a batch in its hands and one that waits.
        let threads = (WAITING_BYTES / (2 * bytes.max(1))).clamp(1, THREADS).min(count - 1);
        let mut readers = Vec::with_capacity(threads);
        for start in 1..=threads {
            let mut reader = open()?;
            let (sender, receiver) = sync_channel(1);
            let read = move || {
                for index in (start..count).step_by(threads) {
                    let batch = reader.set_index(index).and_then(|()| reader.next().unwrap_or_else(missing));
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
        Ok(Self::Several { first: Some(first), readers, turn: 0, left: count - 1 })
    }
}

fn missing() -> Batch {
    Err(ArrowError::ParseError("the file has fewer batches than its index says".to_owned()))
}

impl Iterator for ArrowBatches {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        match self {
            Self::One(reader) => reader.next(),
            Self::Several { first, readers, turn, left } => first.take().or_else(|| {
                *left = left.checked_sub(1)?;
                let batch = readers[*turn].recv().unwrap_or_else(|_| missing());
                *turn = (*turn + 1) % readers.len();
                Some(batch)
            }),
        }
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

    fn read(path: &Path) -> Result<ArrowBatches, ArrowError> {
        let open = || FileReader::try_new(File::open(path)?, None);
        ArrowBatches::new(open()?, open)
    }

    #[test]
    fn batches_come_in_order_however_many_threads_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("batches.arrow");
        for (count, bytes, threads) in
            [(0, 1, None), (1, 1, None), (3, 1, Some(2)), (50, 1, Some(4)), (5, 40 << 20, Some(1))]
        {
            write(&path, count, bytes);
            let batches = read(&path).unwrap();
            let readers =
                if let ArrowBatches::Several { readers, .. } = &batches { Some(readers.len()) } else { None };
            assert_eq!(readers, threads, "{count} batches");
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
