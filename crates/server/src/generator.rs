//! New RSA keys, a few at a time.

use crate::batch::Refused;
use crate::service::Service;
use modmill_rsa::{PrivateKey, Sizes};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// The number of keys that are generated at the same time. The engine's threads work on each.
const RUNNING: usize = 2;

/// The number of requests that wait for a key or for their turn. More are told to come back.
const WAITING: usize = 64;

/// When those who are told so should come back.
const BACK: Duration = Duration::from_secs(1);

/// Limits the generation of keys.
pub(crate) struct Generator {
    waiting: Arc<Semaphore>,
    running: Arc<Semaphore>,
}

impl Default for Generator {
    fn default() -> Self {
        Self { waiting: Arc::new(Semaphore::new(WAITING)), running: Arc::new(Semaphore::new(RUNNING)) }
    }
}

impl Generator {
    /// A new key of `bits` bits, whose turn must come before `deadline`.
    pub(crate) async fn rsa(
        &self,
        service: &Service,
        bits: usize,
        deadline: Instant,
    ) -> Result<PrivateKey, Refused> {
        let engine = Arc::clone(service.batcher.engine());
        let generate = move || PrivateKey::generate(&engine, bits, Sizes::Standard);
        self.run(deadline, generate).await?.map_err(|error| Refused::Failed(error.to_string()))
    }

    /// Runs long work in its turn, on a thread that may take its time. A client that goes away does not stop it, so that the
    /// work itself holds its place.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let waiting = Arc::clone(&self.waiting).try_acquire_owned().map_err(|_| Refused::Overloaded(BACK))?;
        let turn = tokio::time::timeout_at(deadline.into(), Arc::clone(&self.running).acquire_owned());
        let running =
            turn.await.map_err(|_| Refused::Late)?.map_err(|error| Refused::Failed(error.to_string()))?;
        let work = move || {
            let answer = work();
            drop((waiting, running));
            answer
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| Refused::Failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_limited_even_if_nobody_waits_for_it() {
        let generator = Generator::default();
        let later = Instant::now() + Duration::from_secs(60);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        for _ in 0..RUNNING {
            let held = Arc::clone(&held);
            let work = generator.run(later, move || held.lock().is_ok_and(|held| held.recv().is_ok()));
            // The client goes away.
            assert!(tokio::time::timeout(Duration::from_millis(20), work).await.is_err());
        }
        let late = generator.run(Instant::now() + Duration::from_millis(20), || ()).await;
        assert_eq!(late.unwrap_err(), Refused::Late);
        let kept =
            Arc::clone(&generator.waiting).acquire_many_owned((WAITING - RUNNING) as u32).await.unwrap();
        assert_eq!(generator.run(later, || ()).await.unwrap_err(), Refused::Overloaded(BACK));
        drop((kept, release));
        generator.run(later, || ()).await.unwrap();
    }
}
