//! How many records are computed together.

use modmill::Engine;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The records of the first chunk.
const FIRST_RECORDS: usize = 4096;
/// The fewest records of a chunk for each thread: several for each lane of a vector.
const LEAST_PER_THREAD: usize = 128;
/// The time that a chunk is meant to take: long against the start and the end of a call, short enough that
/// reading, computing and writing soon overlap.
pub(crate) const CHUNK_TIME: Duration = Duration::from_millis(80);
/// The memory of all stages, in chunks. A chunk is read while others are parsed, computed, formatted and
/// written: the text and the bytes of the one, the numbers and the answers of the next, the answers and the
/// text of the third, the text of the last.
const CHUNKS_IN_MEMORY: usize = 7;
/// The most bytes of a chunk for each thread without a GPU. Larger chunks were not faster but slower: they
/// leave the caches, and the system clears more new pages for them.
const CPU_BYTES_PER_THREAD: usize = 2 << 20;
/// Bytes that a record takes in addition to its values.
const RECORD_BYTES: usize = 128;

/// The size of the next chunk. It follows the speed of the computation, within the memory that was allowed.
#[derive(Debug)]
pub(super) struct Pace {
    /// The records that take about [`CHUNK_TIME`].
    records: AtomicUsize,
    least: usize,
    /// The most bytes of a chunk.
    bytes: usize,
}

impl Pace {
    /// A pace for an engine that leaves `memory` bytes for records.
    pub(super) fn new(engine: &Engine, memory: u64) -> Self {
        let least = LEAST_PER_THREAD * engine.threads();
        if engine.cuda().is_some() {
            // A device that waits for its kernels is not slow.
            return Self::with_limits(least.max(FIRST_RECORDS), memory);
        }
        let enough = CPU_BYTES_PER_THREAD * CHUNKS_IN_MEMORY * engine.threads();
        Self::with_limits(least, memory.min(enough as u64))
    }

    pub(super) fn with_limits(least: usize, memory: u64) -> Self {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        let bytes = memory / CHUNKS_IN_MEMORY;
        Self { records: AtomicUsize::new(FIRST_RECORDS.max(least)), least, bytes }
    }

    /// Whether a chunk of `records` records, whose values took `bytes` bytes, needs no further record.
    pub(super) fn is_full(&self, records: usize, bytes: usize) -> bool {
        records >= self.records() || self.is_memory_full(records, bytes)
    }

    /// Whether such a chunk has as much memory as it may have.
    pub(super) fn is_memory_full(&self, records: usize, bytes: usize) -> bool {
        bytes.saturating_add(records.saturating_mul(RECORD_BYTES)) >= self.bytes
    }

    /// The records of a chunk, if memory allows them.
    pub(super) fn records(&self) -> usize {
        self.records.load(Ordering::Relaxed)
    }

    /// The records of a chunk if each has about `bytes` bytes.
    #[cfg(feature = "files")]
    pub(super) fn records_of(&self, bytes: usize) -> usize {
        (self.bytes / bytes.saturating_add(RECORD_BYTES)).max(1)
    }

    /// Learns that a chunk took `time`.
    pub(super) fn learn(&self, records: usize, time: Duration) {
        let now = self.records();
        // A short chunk, such as the last one, says little.
        if records < now / 2 {
            return;
        }
        let fitting = records as f64 * CHUNK_TIME.as_secs_f64() / time.as_secs_f64().max(1e-6);
        let next = (fitting as usize).clamp(now / 2, now.saturating_mul(4)).max(self.least);
        self.records.store(next, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_follow_the_speed_of_the_computation() {
        let pace = Pace::with_limits(100, 7 << 20);
        assert!(!pace.is_full(4095, 0) && pace.is_full(4096, 0));
        pace.learn(4096, CHUNK_TIME / 100);
        assert_eq!(pace.records(), 4 * 4096);
        pace.learn(4 * 4096, CHUNK_TIME * 2);
        assert_eq!(pace.records(), 2 * 4096);
        // A chunk that is small because a pipe held no more says nothing.
        pace.learn(1, CHUNK_TIME);
        assert_eq!(pace.records(), 2 * 4096);
        for _ in 0..20 {
            pace.learn(pace.records(), CHUNK_TIME * 100);
        }
        assert_eq!(pace.records(), 100);
    }

    #[test]
    fn memory_bounds_chunks() {
        let pace = Pace::with_limits(1, 7 << 20);
        assert!(pace.is_full(1, 1 << 20) && !pace.is_full(1, 1 << 19));
        // Records that are next to empty take memory as well.
        assert!(Pace::with_limits(1 << 40, 7 << 20).is_full((1 << 20) / RECORD_BYTES, 0));
    }
}
