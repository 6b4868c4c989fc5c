//! The host's threads.

use std::sync::Arc;

/// The threads of the host: an engine's for computing, and others for moving numbers; or rayon's own for
/// both.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workers {
    computing: Option<Arc<rayon::ThreadPool>>,
    moving: Option<Arc<rayon::ThreadPool>>,
}

impl Workers {
    /// Threads that compute, and three movers for every four of them. A device's driver and the thread that
    /// waits for the device keep some cores busy: a mover that shares a core with them is interrupted for
    /// milliseconds, in which all others wait.
    pub(crate) fn new(computing: Arc<rayon::ThreadPool>) -> Self {
        let threads = computing.current_num_threads();
        let moving = rayon::ThreadPoolBuilder::new()
            .num_threads(threads - threads / 4)
            .thread_name(|index| format!("modmill-move-{index}"))
            .build();
        // Without movers, the threads that compute move the numbers too.
        let moving = moving.map_or_else(|_| computing.clone(), Arc::new);
        Self { computing: Some(computing), moving: Some(moving) }
    }

    /// Runs `work`, which computes, on these threads.
    pub(crate) fn compute<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        install(self.computing.as_deref(), work)
    }

    /// Runs `work`, which moves numbers, on these threads.
    pub(crate) fn move_numbers<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        install(self.moving.as_deref(), work)
    }
}

fn install<T: Send>(pool: Option<&rayon::ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
