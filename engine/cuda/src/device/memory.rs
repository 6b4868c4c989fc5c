//! Memory on the device and memory it copies to and from, freed by going out of scope.
#![allow(unsafe_code)] // frees addresses and looks at pinned memory

use super::contents::Contents;
use super::pool::Free;
use super::shared::Shared;
use super::uses::Uses;
use crate::error::{Error, Result};
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Memory on the device. Dropping it waits for the operations that use it, and keeps the memory for the next
/// buffer. A new buffer has undefined contents.
pub struct Buffer {
    device: Arc<Shared>,
    address: u64,
    bytes: usize,
    /// Whether it may hold secrets, its own or those of the buffer before.
    is_secret: bool,
    /// Whether it counts as a resident batch's.
    is_resident: bool,
    pub(super) uses: Uses,
}

impl Buffer {
    pub(super) fn new(device: Arc<Shared>, bytes: usize, contents: Contents) -> Result<Self> {
        let Free { address, is_secret, .. } = device.take(bytes, contents)?;
        let is_secret = is_secret || contents == Contents::Secret;
        Ok(Self { device, address, bytes, is_secret, is_resident: false, uses: Uses::default() })
    }

    /// This memory as that of a resident batch, whose bytes are counted until it is dropped.
    pub(super) fn resident(mut self) -> Self {
        self.device.resident.fetch_add(self.bytes, Ordering::Relaxed);
        self.is_resident = true;
        self
    }

    /// Its address on the device, a multiple of 256.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.is_resident {
            self.device.resident.fetch_sub(self.bytes, Ordering::Relaxed);
        }
        let bytes = self.device.platform.rounded(self.bytes);
        match self.uses.settle() {
            Ok(()) => self.device.keep(Free { address: self.address, bytes, is_secret: self.is_secret }),
            // A device that fails here is lost, and its memory with it; no one else may have it.
            // SAFETY: this buffer's own memory, which nothing uses any more.
            Err(_) => unsafe { self.device.platform.free(self.address) },
        }
    }
}

/// Pinned memory of the host, which the device copies to and from while the host goes on.
///
/// Reading or writing it waits for the copies that use it. A new one has undefined contents.
pub struct HostBuffer {
    device: Arc<Shared>,
    address: u64,
    bytes: usize,
    contents: Contents,
    pub(super) uses: Uses,
}

impl HostBuffer {
    pub(super) fn new(device: Arc<Shared>, bytes: usize, contents: Contents) -> Result<Self> {
        let address = device.take_host(bytes)?;
        Ok(Self { device, address, bytes, contents, uses: Uses::default() })
    }

    /// The contents as 32-bit words.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        // SAFETY: any bytes are words, and the memory is aligned for them.
        unsafe { self.align_to().1 }
    }

    /// The contents as 32-bit words, to be written.
    #[must_use]
    pub fn words_mut(&mut self) -> &mut [u32] {
        // SAFETY: as above.
        unsafe { self.align_to_mut().1 }
    }

    /// The contents as 64-bit limbs.
    #[must_use]
    pub fn limbs(&self) -> &[u64] {
        // SAFETY: any bytes are limbs, and the memory is aligned for them.
        unsafe { self.align_to().1 }
    }

    /// The contents as 64-bit limbs, to be written.
    #[must_use]
    pub fn limbs_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above.
        unsafe { self.align_to_mut().1 }
    }

    /// The address of a range of bytes, without waiting.
    pub(super) fn pointer(&self, range: &Range<usize>) -> Result<*mut u8> {
        check(range, self.bytes)?;
        Ok((self.address as *mut u8).wrapping_add(range.start))
    }
}

impl Deref for HostBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // A device that is lost copies no more, and says so itself when it is next asked.
        let _ = self.uses.settle();
        // SAFETY: the memory is this buffer's, holds bytes that were set, and no copy runs any more;
        // one that starts later reads it only, for to be written to it is borrowed mutably.
        unsafe { std::slice::from_raw_parts(self.address as *const u8, self.bytes) }
    }
}

impl DerefMut for HostBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let _ = self.uses.settle();
        // SAFETY: as above, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.address as *mut u8, self.bytes) }
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        let contents = self.contents;
        let bytes = self.deref_mut(); // waits for copies, whatever it holds
        if contents == Contents::Secret {
            // `Zeroize` writes byte by byte, which takes many times as long.
            bytes.fill(0);
            zeroize::optimization_barrier(bytes);
        }
        let size = self.device.platform.rounded(self.bytes);
        let mut pool = self.device.host_pool.lock();
        pool.keep(Free { address: self.address, bytes: size, is_secret: false });
    }
}

/// Asks the system for large pages behind memory that will be written. With small pages, mapping new memory
/// takes longer than copying the answers into it.
pub(crate) fn prefer_large_pages<T>(answers: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        const PAGE: usize = 1 << 21;
        let (start, bytes) = (answers.as_mut_ptr().cast::<u8>(), size_of_val(answers));
        let skipped = start.align_offset(PAGE).min(bytes);
        // SAFETY: whole pages of a slice that is ours; the advice changes nothing in them. It may be ignored.
        let _ = unsafe {
            madvise(start.add(skipped).cast(), (bytes - skipped) / PAGE * PAGE, Advice::LinuxHugepage)
        };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = answers;
}

/// Checks that a range lies within `bytes` bytes.
pub(super) fn check(range: &Range<usize>, bytes: usize) -> Result<()> {
    match range.start <= range.end && range.end <= bytes {
        true => Ok(()),
        false => Err(Error::OutOfRange { start: range.start, end: range.end, bytes }),
    }
}
