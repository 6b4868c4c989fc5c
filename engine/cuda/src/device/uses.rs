//! The operations that still work with a piece of memory or code.
//!
//! Operations on a stream end after the calls that started them. Each stream numbers its operations. Memory
//! and modules remember the latest number of each stream that works with them, and wait for it before they
//! are given back or read. Nothing waits for a stream that was waited for already.
#![allow(unsafe_code)] // hands handles to the platform

use super::platform::Handle;
use super::shared::Shared;
use crate::error::Result;
use modmill_core::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A stream of the platform. Everything that it may still work with keeps it alive.
pub(super) struct Line {
    pub(super) device: Arc<Shared>,
    pub(super) handle: Handle,
    /// The number of operations that were handed to it.
    started: AtomicU64,
    /// The number of operations that are known to have ended.
    ended: AtomicU64,
}

impl Line {
    pub(super) fn new(device: Arc<Shared>, handle: Handle) -> Self {
        Self { device, handle, started: AtomicU64::new(0), ended: AtomicU64::new(0) }
    }

    /// Counts an operation that was just started, and returns its number. It is counted after its start, so
    /// that a thread that waits for the stream meanwhile does not take it for ended.
    pub(super) fn count(&self) -> u64 {
        self.started.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// The number of operations that were handed to it so far.
    pub(super) fn started(&self) -> u64 {
        self.started.load(Ordering::SeqCst)
    }

    /// Remembers that the first `number` operations have ended.
    pub(super) fn end(&self, number: u64) {
        self.ended.fetch_max(number, Ordering::SeqCst);
    }

    /// Whether the operation of this number is known to have ended.
    pub(super) fn has_ended(&self, number: u64) -> bool {
        self.ended.load(Ordering::SeqCst) >= number
    }

    /// Returns when the operation of this number has ended.
    pub(super) fn settle(&self, number: u64) -> Result<()> {
        match self.has_ended(number) {
            true => Ok(()),
            false => self.synchronize(),
        }
    }

    /// Returns when all operations so far have ended.
    pub(super) fn synchronize(&self) -> Result<()> {
        let started = self.started();
        // SAFETY: the stream ends with `self`.
        unsafe { self.device.platform.synchronize(self.handle) }?;
        self.end(started);
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // Work that may still be on the stream comes before what its next user adds.
        self.device.streams.lock().push(self.handle);
    }
}

/// Operations that may still be under way, the latest of each stream.
#[derive(Default)]
pub(super) struct Uses(Mutex<Vec<(Arc<Line>, u64)>>);

impl Uses {
    /// Adds the operation of this number on a stream.
    pub(super) fn add(&self, line: &Arc<Line>, number: u64) {
        let mut uses = self.0.lock();
        // Long-lived memory meets many streams. Streams that have ended need not be remembered.
        uses.retain(|(line, number)| !line.has_ended(*number));
        match uses.iter_mut().find(|(other, _)| Arc::ptr_eq(other, line)) {
            Some((_, latest)) => *latest = number.max(*latest),
            None => uses.push((line.clone(), number)),
        }
    }

    /// Returns when all of them have ended.
    pub(super) fn settle(&self) -> Result<()> {
        let mut uses = self.0.lock();
        uses.drain(..).try_for_each(|(line, number)| line.settle(number))
    }
}

#[cfg(test)]
mod tests {
    use crate::cache::Cache;
    use crate::device::{Contents, Device};
    use crate::emulator::Faults;

    #[test]
    fn streams_that_have_ended_are_forgotten() {
        let device = Device::emulator_with(Faults::default(), Cache::off());
        let buffer = device.buffer(8, Contents::Public).unwrap();
        let remembered = || buffer.uses.0.lock().len();
        for _ in 0..3 {
            let (stream, event) = (device.stream().unwrap(), device.event().unwrap());
            stream.fill(&buffer, 0..8, 0).unwrap();
            assert_eq!(remembered(), 1);
            event.record(&stream).unwrap();
            event.synchronize().unwrap();
        }
        let streams = [(); 3].map(|()| device.stream().unwrap());
        streams.iter().for_each(|stream| stream.fill(&buffer, 0..8, 0).unwrap());
        assert_eq!(remembered(), 3);
        buffer.uses.settle().unwrap();
        assert_eq!(remembered(), 0);
    }
}
