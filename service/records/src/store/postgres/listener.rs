//! A connection that hears of the commits of other replicas.

use super::pool::Pool;
use super::{Failure, PAUSE};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The time before a broken connection is made again. Until then the replica asks at short intervals.
const AGAIN: Duration = PAUSE.saturating_mul(10);

/// A task that listens, and stops when this is dropped.
pub(super) struct Listener {
    heard: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Listener {
    pub(super) fn start(pool: Arc<Pool>) -> Self {
        let heard = Arc::new(Notify::new());
        let notify = Arc::clone(&heard);
        let task = tokio::spawn(async move {
            loop {
                if let Err(Failure::Broken(reason)) = listen(&pool, &notify).await {
                    tracing::debug!(reason, "not connected to hear of other replicas' commits");
                }
                tokio::time::sleep(AGAIN).await;
            }
        });
        Self { heard, task }
    }

    /// Waits for the next commit of any replica. One that came since the last call counts.
    pub(super) async fn heard(&self) {
        self.heard.notified().await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Listens until the connection ends.
async fn listen(pool: &Pool, notify: &Arc<Notify>) -> Result<(), Failure> {
    let heard = Arc::clone(notify);
    let (client, driver) = pool.connect(move |_| heard.notify_one()).await?;
    let driver = std::pin::pin!(driver);
    let listen = async {
        client.batch_execute("LISTEN modmill_changed").await?;
        // Earlier commits may not have been heard.
        notify.notify_one();
        std::future::pending().await
    };
    tokio::select! {
        () = driver => Ok(()),
        failed = listen => failed,
    }
}
