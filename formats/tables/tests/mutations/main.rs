//! Mutated and hostile tables: each is read, or is an error. Nothing panics aloud, and memory stays below 512
//! MB.
//!
//! `MODMILL_MUTATIONS=12000` makes more of them.

mod bombs;
mod samples;
mod seeds;

use arrow_array::RecordBatch;
use modmill_tables::{TableError, ipc, parquet};
use modmill_testing::mutations::{mutate, rounds};
use modmill_testing::rng::Rng;
use std::fs;
use std::io::{Cursor, Write};
use std::panic;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The limits that the program has with its usual memory, and those of the bulk endpoint.
const PROGRAM: ipc::Limits = ipc::Limits { body: u64::MAX, expanded: 128 << 20, dictionaries: 128 << 20 };
const BULK: ipc::Limits = ipc::Limits { body: 64 << 20, expanded: 0, dictionaries: 0 };
const PARQUET: parquet::Limits = parquet::Limits { page: 8 << 20, batch: 5 << 20, rows: 8192 };

/// The rows of a table; the first error ends it.
fn rows(batches: impl Iterator<Item = Result<RecordBatch, TableError>>) -> Result<usize, TableError> {
    batches.map(|batch| batch.map(|batch| batch.num_rows())).sum()
}

/// Texts of panics that were printed.
static PRINTED: AtomicUsize = AtomicUsize::new(0);

/// Counts them from now on. The guard asks the hook that it finds for panics outside of it, so that this
/// comes first.
fn count_texts() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        panic::set_hook(Box::new(|info| {
            PRINTED.fetch_add(1, Ordering::Relaxed);
            eprintln!("{info}");
        }));
    });
}

fn stream(bytes: &[u8], limits: ipc::Limits) -> Result<usize, TableError> {
    count_texts();
    rows(ipc::Stream::open(bytes, limits)?)
}

fn file(bytes: &[u8]) -> Result<usize, TableError> {
    count_texts();
    let mut input = Cursor::new(bytes);
    let mut file = ipc::File::open(&mut input, PROGRAM)?;
    if file.schema().fields().len() > 3 {
        file.read_columns(vec![0, 2, 3]);
    }
    rows((0..file.batches()).map(|index| file.load(&mut input, index)?.decode()))
}

fn parquet_file(path: &Path, bytes: &[u8]) -> Result<usize, TableError> {
    count_texts();
    fs::File::create(path)?.write_all(bytes)?;
    let file = fs::File::open(path)?;
    let table = parquet::Table::open(&file)?;
    let columns = table.schema().fields().len();
    let read = |column| rows(table.column(fs::File::open(path)?, column, PARQUET));
    (0..columns.min(16)).map(read).sum()
}

/// The most memory that the process has had, in MB.
fn peak() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? / 1024)
}

#[test]
fn mutated_tables_are_read_or_refused_in_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mutated.parquet");
    let (streams, files, parquet_files) = (samples::streams(), samples::files(), samples::parquet_files());
    assert!(streams.iter().all(|bytes| stream(bytes, PROGRAM).unwrap() == 23));
    assert!(files.iter().all(|bytes| file(bytes).unwrap() == 60));
    assert!(parquet_files.iter().all(|bytes| parquet_file(&path, bytes).unwrap() == 8 * 47));
    let mut rng = Rng::new(1);
    let (mut read, mut refused, count) = (0, 0, rounds(1500));
    for round in 0..count {
        let samples = [&streams, &files, &parquet_files][round % 3];
        let mutated = mutate(&samples[rng.below(samples.len())], &mut rng);
        let result = match round % 3 {
            0 => stream(&mutated, BULK).and(stream(&mutated, PROGRAM)),
            1 => file(&mutated),
            _ => parquet_file(&path, &mutated),
        };
        match result {
            Ok(_) => read += 1,
            Err(_) => refused += 1,
        }
    }
    println!("{count} mutations: {read} read, {refused} refused, at most {peak:?} MB", peak = peak());
    assert!(refused > count / 4, "mutations that change nothing test nothing");
    assert_eq!(PRINTED.load(Ordering::Relaxed), 0, "texts of panics");
    assert!(peak().is_none_or(|peak| peak < 512), "{:?} MB", peak());
}
