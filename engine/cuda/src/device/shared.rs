//! The state of a device that everything on it shares: the platform, and memory that is kept for reuse.
#![allow(unsafe_code)] // frees memory that is kept for reuse

use super::contents::Contents;
use super::platform::{Handle, Platform};
use super::pool::{Free, Pool};
use crate::error::{Error, Result};
use modmill_core::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::{Duration, Instant};

/// How long no memory comes back before secrets are cleared.
const QUIET: Duration = Duration::from_millis(20);

/// The state of the thread that clears secrets.
#[derive(Default)]
struct Sweeper {
    /// The time at which memory with secrets last came back.
    latest: Option<Instant>,
    /// Whether a thread waits.
    is_waiting: bool,
}

/// The state of a device that its buffers, streams and modules share.
pub(super) struct Shared {
    pub(super) platform: Box<dyn Platform>,
    pub(super) pool: Mutex<Pool>,
    pub(super) host_pool: Mutex<Pool>,
    /// Streams and events for the next ones that are wanted: a driver takes long to make them.
    pub(super) streams: Mutex<Vec<Handle>>,
    pub(super) events: Mutex<Vec<Handle>>,
    sweeper: Mutex<Sweeper>,
    /// Bytes of resident batches.
    pub(super) resident: AtomicUsize,
}

impl Shared {
    pub(super) fn new(platform: Box<dyn Platform>) -> Self {
        Self {
            platform,
            pool: Mutex::default(),
            host_pool: Mutex::default(),
            streams: Mutex::default(),
            events: Mutex::default(),
            sweeper: Mutex::default(),
            resident: AtomicUsize::new(0),
        }
    }

    /// Bytes of device memory that are kept for reuse.
    pub(super) fn kept_bytes(&self) -> usize {
        self.pool.lock().bytes()
    }

    /// Takes device memory out of the pool, or allocates it. Memory with secrets of others is for secrets
    /// only.
    pub(super) fn take(&self, bytes: usize, contents: Contents) -> Result<Free> {
        check_size(bytes)?;
        let bytes = self.platform.rounded(bytes);
        let avoids_secrets = contents == Contents::Public;
        let kept = self.pool.lock().take(bytes, avoids_secrets);
        match kept {
            Some(free) if free.is_secret && avoids_secrets => self.cleared(free),
            Some(free) => Ok(free),
            None => {
                let address = self.or_trimmed(|| self.platform.allocate(bytes))?;
                Ok(Free { address, bytes, is_secret: false })
            }
        }
    }

    /// Keeps device memory that nothing uses any more. If it may hold secrets, it is cleared when the device
    /// has been quiet for a moment: the operations of a chain do not wait for it.
    pub(super) fn keep(self: &Arc<Self>, free: Free) {
        self.pool.lock().keep(free);
        if free.is_secret {
            self.sweep_later();
        }
    }

    /// Overwrites memory with zeros and returns it. Memory is lost if the device is.
    fn cleared(&self, free: Free) -> Result<Free> {
        // SAFETY: memory of the pool that was taken out of it.
        unsafe { self.platform.zero(free.address, free.bytes)? };
        self.platform.wait_for_zeros()?;
        Ok(Free { is_secret: false, ..free })
    }

    /// Clears the memory of the pool that may hold secrets.
    fn sweep(&self) {
        let secrets = self.pool.lock().drain_secrets();
        // A device that fails here is lost, and its memory with it.
        // SAFETY: memory of the pool that was taken out of it.
        let all = secrets.iter().try_for_each(|free| unsafe { self.platform.zero(free.address, free.bytes) });
        if all.and_then(|()| self.platform.wait_for_zeros()).is_ok() {
            let mut pool = self.pool.lock();
            secrets.into_iter().for_each(|free| pool.keep(Free { is_secret: false, ..free }));
        }
    }

    /// Has a thread clear the pool's memory when no memory has come back for a moment.
    fn sweep_later(self: &Arc<Self>) {
        let mut sweeper = self.sweeper.lock();
        sweeper.latest = Some(Instant::now());
        if sweeper.is_waiting {
            return;
        }
        let shared = Arc::downgrade(self);
        let wait = move || {
            loop {
                thread::sleep(QUIET);
                let Some(shared) = shared.upgrade() else { return };
                let mut sweeper = shared.sweeper.lock();
                if sweeper.latest.is_none_or(|latest| latest.elapsed() >= QUIET) {
                    sweeper.is_waiting = false;
                    drop(sweeper);
                    return shared.sweep();
                }
            }
        };
        let started = thread::Builder::new().name("modmill-sweep".to_owned()).spawn(wait);
        sweeper.is_waiting = started.is_ok();
        drop(sweeper);
        if started.is_err() {
            self.sweep();
        }
    }

    /// Takes host memory out of the pool, or allocates it.
    pub(super) fn take_host(&self, bytes: usize) -> Result<u64> {
        check_size(bytes)?;
        let size = self.platform.rounded(bytes);
        let kept = self.host_pool.lock().take(size, false);
        match kept {
            Some(free) => Ok(free.address),
            None => self.or_trimmed(|| self.platform.allocate_host(size)),
        }
    }

    /// Allocates. If memory runs out, all kept memory is given back, and it allocates once more.
    fn or_trimmed(&self, allocate: impl Fn() -> Result<u64>) -> Result<u64> {
        match allocate() {
            Err(Error::OutOfMemory { .. }) => {
                self.trim();
                allocate()
            }
            result => result,
        }
    }

    /// Gives back all memory that is kept for reuse.
    pub(super) fn trim(&self) {
        let free: Vec<Free> = self.pool.lock().drain().collect();
        for secret in free.iter().filter(|free| free.is_secret) {
            // A device that fails here is lost, and its memory with it.
            // SAFETY: what was in the pool belongs to nobody else, and nothing works with it.
            let _ = unsafe { self.platform.zero(secret.address, secret.bytes) };
        }
        let _ = self.platform.wait_for_zeros();
        // SAFETY: as above.
        free.iter().for_each(|free| unsafe { self.platform.free(free.address) });
        let free: Vec<Free> = self.host_pool.lock().drain().collect();
        // SAFETY: as above.
        free.iter().for_each(|free| unsafe { self.platform.free_host(free.address) });
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.trim();
        // SAFETY: nobody has these streams and events any more.
        self.streams.lock().drain(..).for_each(|stream| unsafe { self.platform.end_stream(stream) });
        // SAFETY: as above.
        self.events.lock().drain(..).for_each(|event| unsafe { self.platform.end_event(event) });
    }
}

/// Refuses sizes that would overflow where sizes are rounded.
fn check_size(bytes: usize) -> Result<()> {
    if bytes <= isize::MAX as usize / 2 { Ok(()) } else { Err(Error::OutOfMemory { wanted: bytes }) }
}
