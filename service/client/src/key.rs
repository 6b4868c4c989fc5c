//! Keys, wherever they are held.

use crate::alone::{Alone, PrivatePower};
use crate::local::LocalKey;
use crate::queue;
use crate::service::RemoteKey;
use crate::{Answer, Error, Service, Task};
use modmill_rsa::{PrivateKey, PublicKey};
use std::sync::Arc;

/// A key pair whose private operations can be asked for. A clone is cheap.
#[derive(Debug, Clone)]
pub struct Key(Place);

/// The place of the private key.
#[derive(Debug, Clone)]
enum Place {
    /// In this process.
    Local(Arc<LocalKey>),
    /// In the signing service.
    Remote(Arc<RemoteKey>),
}

impl Key {
    /// A key that this process holds and computes with.
    #[must_use]
    pub fn local(key: PrivateKey) -> Self {
        Self(Place::Local(Arc::new(LocalKey { private: Arc::new(key), alone: None })))
    }

    /// A key as [`Key::local`] makes it. An operation without company is computed by `power` where that turns
    /// out to be faster than the engine, which is made for many: both are timed.
    #[must_use]
    pub fn local_with(key: PrivateKey, power: impl PrivatePower + 'static) -> Self {
        let alone = Some(Alone::new(Box::new(power)));
        Self(Place::Local(Arc::new(LocalKey { private: Arc::new(key), alone })))
    }

    /// The public half.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        match &self.0 {
            Place::Local(key) => key.private.public_key(),
            Place::Remote(key) => &key.public,
        }
    }

    /// The private key, if this process holds it.
    #[must_use]
    pub fn private_key(&self) -> Option<&PrivateKey> {
        match &self.0 {
            Place::Local(key) => Some(&key.private),
            Place::Remote(_) => None,
        }
    }

    /// Computes a task and waits for its answer. Tasks of other threads are computed in the same batch.
    pub fn compute(&self, task: Task) -> Answer {
        match &self.0 {
            Place::Local(key) => queue::current().compute(key, task),
            Place::Remote(key) => key.compute(task),
        }
    }

    /// Begins a task. `done` is called once with the answer, on another thread or, if no thread can be
    /// started, on this one before the call returns. It must not block, because other answers wait behind it.
    ///
    /// ```
    /// use modmill_client::{Key, Task, with_engine};
    /// use modmill_rsa::{PrivateKey, Sizes};
    ///
    /// let key = with_engine(|engine| PrivateKey::generate(engine, 512, Sizes::AllowSmall))??;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let mut number = vec![0; 64];
    /// number[63] = 1;
    /// let task = Task::Raw { number: number.clone().into() };
    /// Key::local(key).start(task, move |answer| sender.send(answer).expect("somebody waits"));
    /// assert_eq!(receiver.recv()??[..], number);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(&self, task: Task, done: impl FnOnce(Answer) + Send + 'static) {
        match &self.0 {
            Place::Local(key) => queue::current().start(key, task, Box::new(done)),
            Place::Remote(key) => key.start(task, Box::new(done)),
        }
    }
}

impl Service {
    /// The key of the service that `name` stands for: `transit/NAME`, `alias/NAME` or the identifier of a KMS
    /// key.
    pub fn key(&self, name: &str) -> Result<Key, Error> {
        Ok(Key(Place::Remote(Arc::new(RemoteKey::find(self, name)?))))
    }
}
