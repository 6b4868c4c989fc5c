//! New RSA keys, a few at a time, for every principal in its turn.

use crate::batch::Refused;
use crate::credentials::Principal;
use crate::shares::Shares;
use modmill::Engine;
use modmill_gather::Turns;
use modmill_rsa::{PrivateKey, Sizes};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The number of keys that are generated at the same time. The engine's threads work on each.
const RUNNING: usize = 2;

/// The number of requests that wait for a key or for their turn. Each principal has a share of them. Who asks
/// for more is told to come back.
const WAITING: usize = 128;

/// The time after which a refused caller should come back.
const BACK: Duration = Duration::from_secs(1);

/// Limits the generation of keys.
pub(crate) struct Generator {
    room: Arc<Shares<String>>,
    order: Arc<Mutex<Order>>,
}

/// Whose turn it is.
#[derive(Default)]
struct Order {
    running: usize,
    waiting: Turns<oneshot::Sender<Turn>>,
}

/// The right to run now. It goes to the next who waits when it is dropped.
struct Turn(Arc<Mutex<Order>>);

impl Drop for Turn {
    fn drop(&mut self) {
        let mut order = self.0.lock();
        match order.waiting.next_item() {
            None => order.running -= 1,
            Some(next) => {
                drop(order);
                // Whoever has left does not take the turn: it is dropped here, and goes on.
                drop(next.send(Turn(Arc::clone(&self.0))));
            }
        }
    }
}

impl Default for Generator {
    fn default() -> Self {
        Self { room: Shares::new(WAITING), order: Arc::default() }
    }
}

impl Generator {
    /// A new key of `bits` bits for `principal`, whose turn must come before `deadline`.
    pub(crate) async fn rsa(
        &self,
        engine: &Arc<Engine>,
        principal: &Principal,
        bits: usize,
        deadline: Instant,
    ) -> Result<PrivateKey, Refused> {
        let engine = Arc::clone(engine);
        let generate = move || PrivateKey::generate(&engine, bits, Sizes::Standard);
        self.run(principal, deadline, generate).await?.map_err(|error| Refused::Failed(error.to_string()))
    }

    /// Runs long work of `principal` in its turn, on a thread that may take its time. A client that goes away
    /// does not stop it, so that the work itself holds its place.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        principal: &Principal,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let place = self.room.take(principal.name.clone(), 1).ok_or(Refused::Overloaded(BACK))?;
        let turn = tokio::time::timeout_at(deadline.into(), self.turn(&principal.name));
        let turn = turn.await.map_err(|_| Refused::Late)?;
        let work = move || {
            let answer = work();
            drop((place, turn));
            answer
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| Refused::Failed(error.to_string()))
    }

    /// Waits for the turn of `principal`.
    async fn turn(&self, principal: &str) -> Turn {
        loop {
            let waits = {
                let mut order = self.order.lock();
                if order.running < RUNNING {
                    order.running += 1;
                    return Turn(Arc::clone(&self.order));
                }
                let (sender, waits) = oneshot::channel();
                let line = order.waiting.line(principal);
                line.retain(|waiting| !waiting.is_closed());
                line.push_back(sender);
                waits
            };
            if let Ok(turn) = waits.await {
                return turn;
            }
        }
    }
}

#[cfg(test)]
mod tests;
