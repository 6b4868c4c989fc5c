//! The state of a device that everything on it shares: the platform, and memory that is kept for reuse.
#![allow(unsafe_code)] // frees memory that is kept for reuse

use super::platform::Platform;
use super::pool::Pool;
use crate::error::{Error, Result};
use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, PoisonError};

/// The state of a device that its buffers, streams and modules share.
pub(super) struct Shared {
    pub(super) platform: Box<dyn Platform>,
    pub(super) pool: Mutex<Pool>,
    pub(super) host_pool: Mutex<Pool>,
    /// Whether some memory of the pool is still being overwritten.
    clearing: Mutex<bool>,
    /// Bytes of resident batches.
    pub(super) resident: AtomicUsize,
}

impl Shared {
    pub(super) fn new(platform: Box<dyn Platform>) -> Self {
        Self {
            platform,
            pool: Mutex::default(),
            host_pool: Mutex::default(),
            clearing: Mutex::default(),
            resident: AtomicUsize::new(0),
        }
    }

    /// Bytes of device memory that are kept for reuse.
    pub(super) fn kept_bytes(&self) -> usize {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).bytes()
    }

    /// Takes device memory out of the pool, or allocates it.
    pub(super) fn take(&self, bytes: usize) -> Result<u64> {
        check_size(bytes)?;
        let size = self.platform.rounded(bytes);
        let kept = self.pool.lock().unwrap_or_else(PoisonError::into_inner).take(size);
        let Some(address) = kept else { return self.or_trimmed(|| self.platform.allocate(size)) };
        let mut clearing = self.clearing.lock().unwrap_or_else(PoisonError::into_inner);
        if *clearing {
            // Memory is lost if this fails, as in `Buffer`'s drop.
            self.platform.wait_for_zeros()?;
            *clearing = false;
        }
        Ok(address)
    }

    /// Starts to overwrite memory that nothing uses any more. The pool hands it out after that has ended, and a batch
    /// ends without waiting for it.
    ///
    /// # Safety
    /// The memory is allocated, and goes to the pool.
    pub(super) unsafe fn zero(&self, address: u64, bytes: usize) -> Result<()> {
        let mut clearing = self.clearing.lock().unwrap_or_else(PoisonError::into_inner);
        *clearing = true;
        // SAFETY: the caller's promise.
        unsafe { self.platform.zero(address, bytes) }
    }

    /// Takes host memory out of the pool, or allocates it.
    pub(super) fn take_host(&self, bytes: usize) -> Result<u64> {
        check_size(bytes)?;
        let size = self.platform.rounded(bytes);
        let kept = self.host_pool.lock().unwrap_or_else(PoisonError::into_inner).take(size);
        kept.map_or_else(|| self.or_trimmed(|| self.platform.allocate_host(size)), Ok)
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
        let mut clearing = self.clearing.lock().unwrap_or_else(PoisonError::into_inner);
        // A device that fails here is lost, and the memory that it was overwriting with it.
        let _ = self.platform.wait_for_zeros();
        *clearing = false;
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: what is in the pool belongs to nobody else, and nothing works with it.
        pool.drain().for_each(|address| unsafe { self.platform.free(address) });
        let mut pool = self.host_pool.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as above.
        pool.drain().for_each(|address| unsafe { self.platform.free_host(address) });
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.trim();
    }
}

/// Refuses sizes that would overflow where sizes are rounded.
fn check_size(bytes: usize) -> Result<()> {
    if bytes <= isize::MAX as usize / 2 { Ok(()) } else { Err(Error::OutOfMemory { wanted: bytes }) }
}
