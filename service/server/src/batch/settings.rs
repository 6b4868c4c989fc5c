//! The operator's settings of batches.

use modmill_gather::Room;
use std::time::Duration;

/// How operations are gathered. `Default` is what the program starts with.
#[derive(Debug, Clone)]
pub struct BatchSettings {
    /// Threads that compute on the CPU.
    pub workers: usize,
    /// Threads that hand batches to the GPU, if there is one.
    pub gpu_workers: usize,
    /// The time that a batch may take on the CPU.
    pub batch: Duration,
    /// The time that a batch may take on the GPU.
    pub gpu_batch: Duration,
    /// The items of a batch at most, whatever time they take.
    pub most_items: usize,
    /// The work that may wait, as the time that all workers together need for it.
    pub queue: Duration,
    /// The calls that may wait.
    pub queue_calls: usize,
}

impl Default for BatchSettings {
    fn default() -> Self {
        Self {
            workers: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            gpu_workers: 3,
            batch: Duration::from_millis(5),
            gpu_batch: Duration::from_millis(20),
            most_items: usize::MAX,
            queue: Duration::from_millis(500),
            queue_calls: 20_000,
        }
    }
}

impl BatchSettings {
    pub(super) fn room(&self) -> Room {
        Room { seconds: self.queue.as_secs_f64(), calls: self.queue_calls }
    }
}
