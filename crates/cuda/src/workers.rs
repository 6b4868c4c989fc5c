//! The host's threads that move numbers.

use std::sync::Arc;

/// The threads that gather operands and scatter answers: those of an engine, or rayon's own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Workers(Option<Arc<rayon::ThreadPool>>);

impl Workers {
    pub(crate) fn new(pool: Arc<rayon::ThreadPool>) -> Self {
        Self(Some(pool))
    }

    /// Runs `work` on these threads.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}
