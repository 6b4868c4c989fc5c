//! The tasks that run in the background.

use crate::admin;
use crate::allocator;
use crate::config::Config;
use crate::kms;
use crate::service::Service;
use modmill::warm;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::JoinSet;

/// How often the queue is looked at for the figures.
const SAMPLING: Duration = Duration::from_millis(200);

/// How often keys that are due are deleted.
const SWEEPING: Duration = Duration::from_secs(60);

/// How often memory that is free goes back to the system.
const TRIMMING: Duration = Duration::from_secs(10);

/// Starts the tasks that run in the background.
pub(super) fn start(tasks: &mut JoinSet<()>, config: &Config, service: &Arc<Service>) {
    let follower = Arc::clone(service);
    tasks.spawn(async move { follower.records.follow().await });
    let swept = Arc::clone(service);
    tasks.spawn(async move {
        loop {
            tokio::time::sleep(SWEEPING).await;
            if let Err(error) = kms::sweep(&swept).await {
                tracing::error!(%error, "keys that are due cannot be deleted, or last uses not be written");
            }
        }
    });
    tasks.spawn(async {
        loop {
            tokio::time::sleep(TRIMMING).await;
            let _ = tokio::task::spawn_blocking(allocator::trim).await;
        }
    });
    let sampled = Arc::clone(service);
    tasks.spawn(async move {
        loop {
            tokio::time::sleep(SAMPLING).await;
            let (calls, waiting) = sampled.batcher.depth();
            sampled.metrics.queue(calls, waiting.as_secs_f64());
        }
    });
    if let Some(audit) = service.batcher.audit().cloned()
        && let Some(interval) = audit.interval()
    {
        tasks.spawn(async move {
            loop {
                tokio::time::sleep(interval).await;
                let audit = Arc::clone(&audit);
                if let Ok(Err(error)) = tokio::task::spawn_blocking(move || audit.sync_now()).await {
                    tracing::error!(%error, "the audit log cannot be forced to the disk");
                }
            }
        });
    }
    // The socket is there before the service says that it listens: whoever waits for that may send a command
    // at once.
    let (administered, socket) = (Arc::clone(service), admin::listen(&config.data));
    tasks.spawn(async move {
        let served = async { admin::serve(socket?, administered).await };
        if let Err(error) = served.await {
            tracing::error!(%error, "no commands can be taken: the socket of the data folder cannot be used");
        }
    });
    if !service.is_warm.load(Ordering::Acquire) {
        let (service, lengths) = (Arc::clone(service), config.engine.warm_bits.clone());
        tasks.spawn_blocking(move || {
            for bits in lengths {
                if let Err(error) = warm::rsa(service.batcher.engine(), bits, 1 << 16) {
                    tracing::warn!(bits, %error, "kernels cannot be compiled beforehand");
                }
            }
            service.is_warm.store(true, Ordering::Release);
        });
    }
}
