//! The threads that compute batches.

use super::settings::BatchSettings;
use super::task::Origin;
use crate::audit::{Audit, Entry};
use crate::metrics::{BackendName, Metrics};
use modmill::{Backend, Engine, limited_to, only_backend};
use modmill_gather::{Call, Class, Estimates, Part, Piece, Queues, Refused, Taken, compute, hand_out};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a GPU that failed is given nothing.
const GPU_REST: Duration = Duration::from_secs(10);

/// The state that all workers share.
pub(super) struct Shared {
    pub(super) settings: BatchSettings,
    queues: Mutex<Queues<Origin>>,
    /// There is work for workers of the CPU, or no more will come.
    for_cpu: Condvar,
    /// There is work for workers of the GPU, or no more will come.
    for_gpu: Condvar,
    /// The time at which the GPU failed last.
    gpu_failed: Mutex<Option<Instant>>,
    pub(super) estimates: Estimates,
    pub(super) audit: Option<Arc<Audit>>,
    pub(super) metrics: Arc<Metrics>,
    /// The engine of callers.
    pub(super) engine: Arc<Engine>,
    /// The engine of the workers of the GPU, if there is one. Everything that GPUs have kernels for is
    /// computed there.
    pub(super) gpu: Option<Engine>,
    /// The CPU of `engine`. Every worker computes on it by its own thread.
    pub(super) cpu: Engine,
    /// The engine's CPU, with all its threads.
    pub(super) all_threads: Arc<Engine>,
}

impl Shared {
    pub(super) fn new(
        settings: BatchSettings,
        engine: Arc<Engine>,
        all_threads: Engine,
        audit: Option<Arc<Audit>>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let estimates = Estimates::new(settings.workers, settings.gpu_batch.as_secs_f64());
        let (queues, for_cpu, for_gpu) = Default::default();
        let gpu_failed = Mutex::default();
        let gpu = limited_to(&engine, Backend::Cuda).ok().filter(|_| settings.gpu_workers > 0);
        let (cpu, all_threads) = (all_threads.here(), Arc::new(all_threads));
        Self {
            settings,
            queues,
            for_cpu,
            for_gpu,
            gpu_failed,
            estimates,
            audit,
            metrics,
            engine,
            gpu,
            cpu,
            all_threads,
        }
    }

    /// Hands a call to the workers.
    pub(super) fn submit(&self, call: Arc<Call<Origin>>) -> Result<(), Refused> {
        if let Some(audit) = &self.audit
            && call.work.class().is_private
            && !audit.is_writable()
        {
            return Err(Refused::Failed(UNAUDITED.to_owned()));
        }
        let class = call.work.class();
        let estimate = self.estimates.of(class, &self.cpu, self.gpu.as_ref());
        let room = self.settings.room();
        let seconds = estimate.seconds(call.work.items(), self.settings.workers);
        // A call of many items is computed in pieces, in turns with those of others, so that it does not fill
        // the room alone.
        let charge = seconds.min(room.seconds / 4.0).max(1e-6);
        let mut queues = self.queues();
        queues.push(class, call, charge, room)?;
        let is_gpu_there = self.gpu_rests().is_none();
        let (is_for_gpu, is_changed) = queues.decide(class, Instant::now(), |items, is_for_gpu| {
            let is_asked_for = only_backend(&self.engine) == Some(Backend::Cuda);
            let is_sooner = || estimate.is_gpu_sooner(items, self.settings.workers, is_for_gpu);
            is_gpu_there && estimate.gpu.is_some() && (is_asked_for || is_sooner())
        });
        let waiting = queues.items(class);
        let (idle, idle_gpu) = (queues.idle, queues.idle_gpu);
        drop(queues);
        if idle > 0 && !is_for_gpu {
            if waiting > estimate.group || is_changed {
                self.for_cpu.notify_all();
            } else {
                self.for_cpu.notify_one();
            }
        }
        if idle_gpu > 0 && (is_for_gpu || estimate.gpu.is_some_and(|gpu| waiting >= gpu.least)) {
            self.for_gpu.notify_one();
        }
        Ok(())
    }

    /// Takes no more work. Workers end when nothing waits.
    pub(super) fn drain(&self) {
        self.queues().is_draining = true;
        self.for_cpu.notify_all();
        self.for_gpu.notify_all();
    }

    /// Calls that wait, and seconds of work.
    pub(super) fn depth(&self) -> (usize, f64) {
        self.queues().depth()
    }

    pub(super) fn is_draining(&self) -> bool {
        self.queues().is_draining
    }

    /// Work of a thread of the CPU, until the service ends.
    pub(super) fn serve_cpu(&self) {
        while let Some((class, taken)) = self.next_for_cpu() {
            self.serve(BackendName::Cpu, &self.cpu, class, taken);
        }
    }

    /// Work of a thread of the GPU, until the service ends.
    pub(super) fn serve_gpu(&self, engine: &Engine) {
        while let Some((class, taken)) = self.next_for_gpu() {
            self.serve(BackendName::Gpu, engine, class, taken);
        }
    }

    fn next_for_cpu(&self) -> Option<(Class, Taken<Origin>)> {
        let mut queues = self.queues();
        loop {
            if let Some(class) = self.next_class_for_cpu(&queues) {
                let waiting = queues.items(class);
                let (most, group) = match self.estimates.get(class) {
                    Some(estimate) => {
                        let most = estimate.most(self.settings.batch.as_secs_f64());
                        (estimate.share(waiting, queues.idle + 1, most), estimate.group)
                    }
                    None => (1, 1),
                };
                let limit = self.settings.most_items;
                let taken = queues.take(class, most.min(limit), group.min(limit), Instant::now());
                if queues.idle > 0 && self.next_class_for_cpu(&queues).is_some() {
                    self.for_cpu.notify_one();
                }
                return Some((class, taken));
            }
            if queues.is_draining {
                return None;
            }
            queues.idle += 1;
            self.for_cpu.wait(&mut queues);
            queues.idle -= 1;
        }
    }

    /// The class that has waited longest, of those that are not left to a GPU.
    fn next_class_for_cpu(&self, queues: &Queues<Origin>) -> Option<Class> {
        let is_gpu_there = self.gpu_rests().is_none();
        queues.next_class(|class| if is_gpu_there && queues.is_for_gpu(class) { usize::MAX } else { 1 })
    }

    fn next_for_gpu(&self) -> Option<(Class, Taken<Origin>)> {
        let gpu_of = |class| self.estimates.get(class).and_then(|estimate| estimate.gpu);
        let mut queues = self.queues();
        loop {
            if let Some(left) = self.gpu_rests() {
                if queues.is_draining {
                    return None;
                }
                self.for_gpu.wait_for(&mut queues, left);
                continue;
            }
            let class = queues.next_class(|class| match gpu_of(class) {
                Some(_) if queues.is_for_gpu(class) => 1,
                Some(gpu) => gpu.least,
                None => usize::MAX,
            });
            if let Some(class) = class
                && let Some(gpu) = gpu_of(class)
            {
                let most = gpu.most.min(self.settings.most_items);
                return Some((class, queues.take(class, most, 1, Instant::now())));
            }
            if queues.is_draining {
                return None;
            }
            queues.idle_gpu += 1;
            self.for_gpu.wait(&mut queues);
            queues.idle_gpu -= 1;
        }
    }

    /// Computes a batch, notes it in the audit log, and answers.
    fn serve(&self, backend: BackendName, engine: &Engine, class: Class, taken: Taken<Origin>) {
        for call in taken.late {
            call.refuse(Refused::Late);
        }
        if taken.pieces.is_empty() {
            return;
        }
        let start = Instant::now();
        let mut computed = compute(engine, &taken.pieces);
        if let (Err(error), BackendName::Gpu) = (&computed, backend) {
            self.rest_gpu();
            tracing::error!(%error, items = taken.items, "a GPU failed; the CPU computes the batch again");
            self.metrics.fault();
            computed = compute(&self.cpu, &taken.pieces);
        }
        let seconds = start.elapsed().as_secs_f64();
        self.queues().computed(class, taken.items);
        match backend {
            BackendName::Cpu => self.estimates.learn(class, taken.items, seconds),
            BackendName::Gpu => self.estimates.learn_gpu(class, taken.items, seconds),
        }
        self.metrics.batch(backend, class.is_private, taken.items, seconds);
        if let Err(error) = &computed {
            tracing::error!(%error, items = taken.items, "a batch failed");
            self.metrics.fault();
        }
        let audited = computed.and_then(|parts| self.note(&taken.pieces, &parts).map(|()| parts));
        hand_out(&taken.pieces, audited);
    }

    /// Gives the GPU nothing for a while: the CPU serves meanwhile.
    fn rest_gpu(&self) {
        *self.gpu_failed.lock() = Some(Instant::now());
        self.for_cpu.notify_all();
    }

    /// How long the GPU is given nothing yet.
    fn gpu_rests(&self) -> Option<Duration> {
        let failed = *self.gpu_failed.lock();
        GPU_REST.checked_sub(failed?.elapsed()).filter(|left| !left.is_zero())
    }

    /// Notes private operations in the audit log. Answers that nobody can account for are not given.
    fn note(&self, pieces: &[Piece<Origin>], parts: &[Part]) -> Result<(), String> {
        let Some(audit) = &self.audit else { return Ok(()) };
        let entries: Vec<Entry<'_>> =
            pieces.iter().zip(parts).flat_map(|(piece, part)| super::audited::entries(piece, part)).collect();
        if entries.is_empty() {
            return Ok(());
        }
        audit.write(&entries).map_err(|error| {
            tracing::error!(%error, "the audit log cannot be written: private operations are refused");
            UNAUDITED.to_owned()
        })
    }

    fn queues(&self) -> MutexGuard<'_, Queues<Origin>> {
        self.queues.lock()
    }
}

/// The reason that callers get if the audit log cannot be written.
const UNAUDITED: &str = "the audit log cannot be written";
