//! How far the computation has come, within a chunk too.

use crate::progress::Bar;
use modmill::Watch;
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope, Thread};
use std::time::Duration;

/// The time between two looks at the watch.
const LOOK: Duration = Duration::from_millis(200);

/// The chunk that is computed.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    records: usize,
    /// The part of the whole that it is.
    progress: u64,
    /// The records that the watch had counted before it.
    before: usize,
}

#[derive(Debug, Default)]
struct State {
    /// The chunks that were computed.
    done: u64,
    chunk: Option<Chunk>,
}

/// Chunks that were computed, and the part of the present one that a watch has counted.
#[derive(Debug)]
pub(super) struct Meter<'a> {
    watch: Option<&'a Watch>,
    state: Mutex<State>,
}

impl<'a> Meter<'a> {
    pub(super) fn new(watch: Option<&'a Watch>) -> Self {
        Self { watch, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn counted(&self) -> usize {
        self.watch.map_or(0, Watch::done)
    }

    /// A chunk of `records` records begins, which is `progress` of the whole.
    pub(super) fn begin(&self, records: usize, progress: u64) {
        self.lock().chunk = Some(Chunk { records, progress, before: self.counted() });
    }

    /// The chunk is computed.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.done += state.chunk.take().map_or(0, |chunk| chunk.progress);
    }

    /// How much of the whole is computed.
    fn position(&self) -> u64 {
        let state = self.lock();
        let part = state.chunk.map_or(0, |Chunk { records, progress, before }| {
            // Items that a device could not finish are counted twice.
            let counted = self.counted().saturating_sub(before).min(records);
            (u128::from(progress) * counted as u128 / records.max(1) as u128) as u64
        });
        state.done + part
    }

    /// Moves a bar until what is returned is dropped.
    pub(super) fn show<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, bar: &'scope Bar) -> Shown {
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let looker = scope.spawn(move || {
            while !ended.load(Ordering::Acquire) {
                bar.show(self.position());
                thread::park_timeout(LOOK);
            }
        });
        Shown { is_over, looker: looker.thread().clone() }
    }
}

/// A bar that is moved.
pub(super) struct Shown {
    is_over: Arc<AtomicBool>,
    looker: Thread,
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.looker.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_a_chunk_that_is_computed_counts() {
        let watch = Watch::new();
        let meter = Meter::new(Some(&watch));
        watch.add(7);
        meter.begin(10, 1000);
        assert_eq!(meter.position(), 0);
        watch.add(4);
        assert_eq!(meter.position(), 400);
        watch.add(100);
        assert_eq!(meter.position(), 1000, "no more than the chunk");
        meter.end();
        meter.begin(0, 5);
        assert_eq!(meter.position(), 1000);
        meter.end();
        assert_eq!(meter.position(), 1005);
    }

    #[test]
    fn a_bar_moves_while_a_chunk_is_computed() {
        let (watch, bar) = (Watch::new(), Bar::new(Some(100), true, "bytes"));
        let meter = Meter::new(Some(&watch));
        thread::scope(|scope| {
            let shown = meter.show(scope, &bar);
            meter.begin(4, 100);
            watch.add(1);
            while bar.position() != 25 {
                thread::yield_now();
            }
            drop(shown);
        });
    }
}
