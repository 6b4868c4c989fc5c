//! The last quarter of an hour, second by second, for the live page.

use super::{BackendName, Operation, Outcome};
use crate::histogram::Histogram;
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Seconds that are kept.
const SECONDS: usize = 900;

/// Keys that are told apart within a second. Uses of others are not attributed.
const KEYS: usize = 256;

/// Keys in a snapshot.
const TOP_KEYS: usize = 10;

/// Latencies of calls, right to a sixteenth: there is a histogram for each second.
type Latencies = Histogram<4>;

/// Figures of one second.
#[derive(Debug, Default)]
struct Cell {
    number: u64,
    operations: u64,
    items: u64,
    refused: u64,
    latencies: Latencies,
    queue: usize,
    batches: u64,
    batch_items: u64,
    largest_batch: usize,
    gpu_items: u64,
    busy: f64,
    errors: BTreeMap<&'static str, u64>,
    keys: HashMap<Arc<str>, u64>,
}

/// The last quarter of an hour.
pub struct History {
    start: Instant,
    cells: Mutex<VecDeque<Cell>>,
}

/// Figures of one second, as the live page reads them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Second {
    /// The second, counted from the start of the service.
    pub second: u64,
    /// Calls that were answered.
    pub operations: u64,
    /// Items of these calls: signatures, decryptions, verifications.
    pub items: u64,
    /// Calls that were refused: overload, deadline, drain, failure.
    pub refused: u64,
    /// Half of the calls took less time, in milliseconds.
    pub p50_ms: f64,
    /// 99 of 100 calls took less time, in milliseconds.
    pub p99_ms: f64,
    /// 999 of 1000 calls took less time, in milliseconds.
    pub p999_ms: f64,
    /// The most calls that were seen waiting.
    pub queue: usize,
    /// Batches.
    pub batches: u64,
    /// Items of a batch, on average.
    pub mean_batch: f64,
    /// Items of the largest batch.
    pub largest_batch: usize,
    /// The part of the items that a GPU computed, from 0 to 1.
    pub gpu_share: f64,
    /// Seconds of computing, summed over all workers.
    pub busy: f64,
    /// HTTP requests with an error, by door.
    pub errors: BTreeMap<&'static str, u64>,
}

/// The uses of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyUses {
    /// The key's identifier.
    pub key_id: String,
    /// The first of its aliases, for those that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Items that were computed with it.
    pub uses: u64,
}

/// The last minutes, as the live page reads them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Snapshot {
    /// Seconds since the service started.
    pub uptime: u64,
    /// The seconds in order. Seconds without anything are included. The present one is not.
    pub seconds: Vec<Second>,
    /// Percentiles of all calls in these seconds: 50, 99 and 99.9, in milliseconds.
    pub overall_ms: [f64; 3],
    /// The keys that were used most in these seconds.
    pub keys: Vec<KeyUses>,
}

impl Default for History {
    fn default() -> Self {
        Self { start: Instant::now(), cells: Mutex::default() }
    }
}

impl History {
    pub(super) fn operation(&self, operation: &Operation) {
        let Operation { key_id, items, outcome, seconds, .. } = operation;
        self.now(|cell| match outcome {
            Outcome::Answered => {
                cell.operations += 1;
                cell.items += *items as u64;
                cell.latencies.record(Duration::try_from_secs_f64(*seconds).unwrap_or_default());
                if let Some(uses) = cell.keys.get_mut(key_id) {
                    *uses += *items as u64;
                } else if cell.keys.len() < KEYS {
                    cell.keys.insert(Arc::clone(key_id), *items as u64);
                }
            }
            _ => cell.refused += 1,
        });
    }

    pub(super) fn batch(&self, backend: BackendName, items: usize, seconds: f64) {
        self.now(|cell| {
            cell.batches += 1;
            cell.batch_items += items as u64;
            cell.largest_batch = cell.largest_batch.max(items);
            cell.busy += seconds;
            if backend == BackendName::Gpu {
                cell.gpu_items += items as u64;
            }
        });
    }

    pub(super) fn error(&self, door: &'static str) {
        self.now(|cell| *cell.errors.entry(door).or_default() += 1);
    }

    pub(super) fn queue(&self, calls: usize) {
        self.now(|cell| cell.queue = cell.queue.max(calls));
    }

    /// The last `seconds` seconds, 900 at most.
    #[must_use]
    pub fn snapshot(&self, seconds: usize) -> Snapshot {
        let uptime = self.start.elapsed().as_secs();
        let first = uptime.saturating_sub(seconds.min(SECONDS) as u64);
        let cells = self.cells();
        let mut latencies = Latencies::default();
        let mut keys: HashMap<&Arc<str>, u64> = HashMap::new();
        let mut found = cells.iter().filter(|cell| (first..uptime).contains(&cell.number)).peekable();
        let mut second = |number: u64| match found.next_if(|cell| cell.number == number) {
            Some(cell) => {
                latencies.merge(&cell.latencies);
                cell.keys.iter().for_each(|(key, uses)| *keys.entry(key).or_default() += uses);
                cell.shown()
            }
            None => Cell { number, ..Cell::default() }.shown(),
        };
        let seconds = (first..uptime).map(&mut second).collect();
        let mut keys: Vec<_> = keys
            .into_iter()
            .map(|(key, uses)| KeyUses { key_id: key.to_string(), alias: None, uses })
            .collect();
        keys.sort_unstable_by(|a, b| b.uses.cmp(&a.uses).then_with(|| a.key_id.cmp(&b.key_id)));
        keys.truncate(TOP_KEYS);
        Snapshot { uptime, seconds, overall_ms: milliseconds(&latencies), keys }
    }

    /// Changes the figures of the present second.
    fn now(&self, change: impl FnOnce(&mut Cell)) {
        let number = self.start.elapsed().as_secs();
        let mut cells = self.cells();
        if cells.back().is_none_or(|cell| cell.number < number) {
            while cells.len() >= SECONDS {
                cells.pop_front();
            }
            cells.push_back(Cell { number, ..Cell::default() });
        }
        if let Some(cell) = cells.back_mut() {
            change(cell);
        }
    }

    fn cells(&self) -> MutexGuard<'_, VecDeque<Cell>> {
        self.cells.lock()
    }
}

impl Cell {
    fn shown(&self) -> Second {
        let [p50_ms, p99_ms, p999_ms] = milliseconds(&self.latencies);
        let per = |part: u64, all: u64| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        Second {
            second: self.number,
            operations: self.operations,
            items: self.items,
            refused: self.refused,
            p50_ms,
            p99_ms,
            p999_ms,
            queue: self.queue,
            batches: self.batches,
            mean_batch: per(self.batch_items, self.batches),
            largest_batch: self.largest_batch,
            gpu_share: per(self.gpu_items, self.batch_items),
            busy: self.busy,
            errors: self.errors.clone(),
        }
    }
}

fn milliseconds(latencies: &Latencies) -> [f64; 3] {
    [0.5, 0.99, 0.999].map(|q| 1e3 * latencies.quantile(q).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_keys_and_percentiles_are_kept() {
        let history = History { start: Instant::now() - Duration::from_secs(5), ..History::default() };
        for (key, items, outcome) in
            [("a", 3, Outcome::Answered), ("b", 10, Outcome::Answered), ("b", 1, Outcome::Overloaded)]
        {
            let operation = Operation {
                door: "kms",
                operation: "Sign",
                key_id: key.into(),
                items,
                outcome,
                seconds: 0.01,
            };
            history.operation(&operation);
        }
        history.batch(BackendName::Cpu, 4, 0.002);
        history.batch(BackendName::Gpu, 12, 0.003);
        history.queue(7);
        history.error("kms");
        assert!(
            history.snapshot(900).seconds.iter().all(|second| second.items == 0),
            "the present one is not shown"
        );

        let history = History { start: history.start - Duration::from_secs(2), cells: history.cells };
        let snapshot = history.snapshot(900);
        assert!(snapshot.seconds.windows(2).all(|pair| pair[0].second + 1 == pair[1].second));
        let second = snapshot.seconds.iter().find(|second| second.items > 0).expect("the second is shown");
        assert_eq!((second.operations, second.items, second.refused, second.queue), (2, 13, 1, 7));
        assert_eq!((second.mean_batch, second.largest_batch, second.gpu_share), (8.0, 12, 0.75));
        assert_eq!(second.errors, BTreeMap::from([("kms", 1)]));
        assert!((second.p50_ms / 10.0 - 1.0).abs() < 0.05, "{}", second.p50_ms);
        assert_eq!(snapshot.overall_ms[0], second.p50_ms);
        let keys: Vec<_> = snapshot.keys.iter().map(|key| (&key.key_id[..], key.uses)).collect();
        assert_eq!(keys, [("b", 10), ("a", 3)]);
    }
}
