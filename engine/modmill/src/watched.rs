//! Engines whose calls can be watched and stopped.

use crate::engine::{Engine, Host};
use modmill_core::{Error, Watch, watched};
use modmill_cpu::out_of_memory::returned;
use modmill_cpu::threads::Share;
use rayon::prelude::*;
use std::sync::Arc;

impl Engine {
    /// This engine, with the same threads and devices, but with calls that tell `watch` how many items are
    /// done and stop when it says so. A call that is stopped is [`Error::Interrupted`], without answers; a
    /// batch for answers then holds anything.
    ///
    /// A processor counts and may stop after every group of items that a thread computes side by side, a GPU
    /// after every chunk. These calls look at the watch: modular operations, powers, inverses, divisors, and
    /// what is built on them, and [trees](crate::trees) level by level. Products without a modulus, RSA as a
    /// whole on GPUs, and batches whose numbers and answers stay on a device run to their end.
    ///
    /// # Examples
    ///
    /// ```
    /// use modmill::{Batch, Engine, Error, Modulus, Watch};
    /// use std::sync::Arc;
    ///
    /// let engine = Engine::new()?;
    /// let watch = Arc::new(Watch::new());
    /// let watched = engine.watched_by(&watch);
    /// let (numbers, modulus) = (Batch::from_hex(["2", "3", "5"])?, Modulus::from_hex("65")?);
    /// watched.pow(&numbers, &numbers, &modulus)?;
    /// assert_eq!(watch.done(), 3);
    ///
    /// watch.stop(); // from another thread, as a rule
    /// assert_eq!(watched.pow(&numbers, &numbers, &modulus), Err(Error::Interrupted));
    /// assert!(watched.watched_by(None).pow(&numbers, &numbers, &modulus).is_ok());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// With `None` nobody watches: for short steps of a long call, so that only the long ones are counted.
    #[must_use]
    pub fn watched_by<'w>(&self, watch: impl Into<Option<&'w Arc<Watch>>>) -> Self {
        let watch = watch.into().map(Arc::clone);
        Self { place: Host { backends: Arc::clone(&self.place.backends), watch } }
    }

    /// The watch of this engine's calls, if they are watched.
    #[must_use]
    pub fn watched(&self) -> Option<&Arc<Watch>> {
        self.place.watch.as_ref()
    }

    /// Whether the calls of this engine were asked to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.watch().is_some_and(Watch::is_stopped)
    }

    /// The answers of `count` items, computed one by one on the engine's threads.
    pub(crate) fn each_item<T: Send>(
        &self,
        count: usize,
        compute: impl Fn(usize) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let watch = self.watch();
        let item = |item: usize| watched(watch, 1, || compute(item)).ok_or(Error::Interrupted);
        returned(|| self.install(|| (0..count).into_par_iter().map(item).list()))
    }
}
