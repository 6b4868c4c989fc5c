//! Operations of all connections, computed together.
//!
//! Calls wait in queues, one for each length of moduli. A worker that is free takes what is there at once, so
//! that a lone call does not wait for others, and batches grow with the load by themselves. Principals are
//! served in turns. A call of many items is computed in pieces, by several workers at the same time, between
//! the calls of others.
//!
//! ```text
//!  private, public_many, sign_rows      calls wait for their reply in the queues of modmill-gather
//!        |                              full: refused at once
//!        v
//!   worker.rs                           takes a batch, and computes it on the CPU or on a GPU
//!        |  audited.rs                  a line in the audit log for each private operation, then
//!        v
//!      replies
//! ```

mod audited;
mod rows;
mod settings;
mod task;
mod worker;

pub use modmill_gather::Refused;
pub use rows::Rows;
pub use settings::BatchSettings;
pub use task::Origin;

use crate::audit::Audit;
use crate::metrics::{Metrics, Operation, Outcome};
use modmill::{Backend, Engine, limited_to};
use modmill_gather::{Answer, Call, Part, Work};
use modmill_rsa::{ItemError, PrivateKey, PrivateTask, PublicKey, PublicTask, SignatureScheme};
use parking_lot::Mutex;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use worker::Shared;
use zeroize::Zeroizing;

/// Gathers operations and computes them in batches.
pub struct Batcher {
    shared: Arc<Shared>,
    workers: Mutex<Vec<JoinHandle<()>>>,
}

/// The batcher cannot start.
#[derive(Debug, thiserror::Error)]
#[error("the workers cannot start: {0}")]
pub struct StartError(String);

impl Batcher {
    /// A batcher on an engine, with the default settings, without an audit log.
    ///
    /// # Panics
    /// If no thread can be started. [`Batcher::start`] returns an error.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self::start(Arc::new(engine), BatchSettings::default(), None, Arc::default())
            .expect("threads can be started")
    }

    /// A batcher on an engine. Private operations are noted in `audit`, and batches in `metrics`. GPUs of the
    /// engine take batches that they finish before the CPU does.
    pub fn start(
        engine: Arc<Engine>,
        settings: BatchSettings,
        audit: Option<Arc<Audit>>,
        metrics: Arc<Metrics>,
    ) -> Result<Self, StartError> {
        let settings = BatchSettings { workers: settings.workers.max(1), ..settings };
        let (workers, gpu_workers) = (settings.workers, settings.gpu_workers);
        let cpu = limited_to(&engine, Backend::Cpu).map_err(|error| StartError(error.to_string()))?;
        let shared = Arc::new(Shared::new(settings, engine, cpu, audit, metrics));
        let batcher = Self { shared: Arc::clone(&shared), workers: Mutex::default() };
        for number in 0..workers {
            let shared = Arc::clone(&shared);
            batcher.spawn(format!("modmill-batch-{number}"), move || shared.serve_cpu())?;
        }
        for number in (0..gpu_workers).filter(|_| shared.gpu.is_some()) {
            let shared = Arc::clone(&shared);
            batcher.spawn(format!("modmill-batch-gpu-{number}"), move || {
                shared.gpu.iter().for_each(|engine| shared.serve_gpu(engine));
            })?;
        }
        Ok(batcher)
    }

    /// The engine whose devices compute batches.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.shared.engine
    }

    /// The engine's CPU with all its threads, for work that does not go in batches: new keys, and checks of
    /// keys. A GPU that fails there would look like a bad key.
    #[must_use]
    pub fn cpu(&self) -> &Arc<Engine> {
        &self.shared.all_threads
    }

    /// Computes one private operation, together with those of others.
    pub async fn private(
        &self,
        origin: Origin,
        key: Arc<PrivateKey>,
        task: PrivateTask,
    ) -> Result<Zeroizing<Vec<u8>>, Refused> {
        let mut answers = self.private_many(origin, key, vec![task]).await?;
        Ok(answers.pop().unwrap_or(Err(ItemError::Fault))?)
    }

    /// Computes private operations with one key. Every task has an answer or an error of its own.
    pub async fn private_many(
        &self,
        origin: Origin,
        key: Arc<PrivateKey>,
        tasks: Vec<PrivateTask>,
    ) -> Result<Vec<Result<Zeroizing<Vec<u8>>, ItemError>>, Refused> {
        Ok(items(self.call(origin, Work::Private { key, tasks }).await?))
    }

    /// Computes public operations with one key. Every task has an answer or an error of its own.
    pub async fn public_many(
        &self,
        origin: Origin,
        key: PublicKey,
        tasks: Vec<PublicTask>,
    ) -> Result<Vec<Result<Vec<u8>, ItemError>>, Refused> {
        let answers = items(self.call(origin, Work::Public { key, tasks }).await?);
        Ok(answers.into_iter().map(|answer| answer.map(|mut octets| std::mem::take(&mut *octets))).collect())
    }

    /// Signs digests that lie side by side, each as long as those of the scheme's hash. This is the fastest
    /// form for thousands of digests: they are computed in pieces, by all workers, in turns with what others
    /// ask for.
    pub async fn sign_rows(
        &self,
        origin: Origin,
        key: Arc<PrivateKey>,
        scheme: SignatureScheme,
        digests: bytes::Bytes,
    ) -> Result<Rows, Refused> {
        let (size, found) = (scheme.hash().len(), digests.len());
        if !found.is_multiple_of(size) {
            return Err(ItemError::WrongLength { expected: found.next_multiple_of(size), found }.into());
        }
        Ok(Rows::new(self.call(origin, Work::Rows { key, scheme, digests }).await?))
    }

    /// The figures that the batcher reports.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.shared.metrics
    }

    /// The log of private operations.
    #[must_use]
    pub fn audit(&self) -> Option<&Arc<Audit>> {
        self.shared.audit.as_ref()
    }

    /// Calls that wait, and the time that all workers together need for them.
    #[must_use]
    pub fn depth(&self) -> (usize, Duration) {
        let (calls, seconds) = self.shared.depth();
        (calls, Duration::from_secs_f64(seconds))
    }

    /// Whether calls are taken.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.shared.is_draining()
    }

    /// Takes no more calls, and returns when all that were taken are answered and the workers have ended.
    pub async fn drain(&self) {
        self.shared.drain();
        let workers = std::mem::take(&mut *self.workers.lock());
        let join = move || workers.into_iter().for_each(|worker| drop(worker.join()));
        // A worker that panicked has ended as well.
        let _ = tokio::task::spawn_blocking(join).await;
    }

    async fn call(&self, origin: Origin, work: Work) -> Result<Vec<(usize, Part)>, Refused> {
        let items = work.items();
        if items == 0 {
            return Ok(Vec::new());
        }
        let start = Instant::now();
        let (door, operation, key_id) = (origin.door, origin.operation, Arc::clone(&origin.key_id));
        let (way, reply) = oneshot::channel();
        let reply = match self.shared.submit(Call::new(origin, work, way)) {
            Ok(()) => reply.await.unwrap_or_else(|_| Err(Refused::Failed("a worker has ended".to_owned()))),
            Err(refused) => Err(refused),
        };
        let outcome = Outcome::of(&reply);
        let seconds = start.elapsed().as_secs_f64();
        self.shared.metrics.operation(&Operation { door, operation, key_id, items, outcome, seconds });
        reply
    }

    fn spawn(&self, name: String, work: impl FnOnce() + Send + 'static) -> Result<(), StartError> {
        let worker = std::thread::Builder::new().name(name).spawn(work);
        let worker = worker.map_err(|error| StartError(error.to_string()))?;
        self.workers.lock().push(worker);
        Ok(())
    }
}

impl Drop for Batcher {
    fn drop(&mut self) {
        self.shared.drain();
    }
}

/// The answers of a call, in order.
fn items(parts: Vec<(usize, Part)>) -> Vec<Answer> {
    let items = |(_, part)| match part {
        Part::Items(items) => items,
        // Only calls that ask for rows get them.
        Part::Rows(_) => Vec::new(),
    };
    parts.into_iter().flat_map(items).collect()
}

#[cfg(test)]
mod tests;
