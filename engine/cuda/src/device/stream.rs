//! Streams and events. A stream performs its operations one after the other while the host goes on. An event
//! is a mark in a stream.
#![allow(unsafe_code)] // hands addresses to the platform

use super::memory::{Buffer, HostBuffer, check};
use super::module::{Kernel, KernelArguments};
use super::platform::{Handle, Shape};
use super::shared::Shared;
use super::uses::{Line, Uses};
use crate::error::Result;
use modmill_core::sync::Mutex;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

/// A queue of operations that the device performs in order.
pub struct Stream {
    line: Arc<Line>,
}

impl Stream {
    pub(super) fn new(device: Arc<Shared>) -> Result<Self> {
        let kept = device.streams.lock().pop();
        let handle = kept.map_or_else(|| device.platform.stream(), Ok)?;
        Ok(Self { line: Arc::new(Line::new(device, handle)) })
    }

    /// Copies a range of bytes of the host into a buffer, from byte `at` on.
    pub fn copy_in(&self, from: &HostBuffer, range: Range<usize>, to: &Buffer, at: usize) -> Result<()> {
        let pointer = from.pointer(&range)?;
        check(&(at..at.saturating_add(range.len())), to.bytes())?;
        // SAFETY: both ranges exist, and both sides remember that they are in use.
        let result = unsafe {
            let to = to.address() + at as u64;
            self.line.device.platform.copy_in(self.line.handle, to, pointer, range.len())
        };
        self.started(result, [&from.uses, &to.uses])
    }

    /// Copies limbs of the host into a buffer, from byte `at` on.
    ///
    /// # Safety
    /// Nobody writes to `from` or gives it back before this stream has been waited for.
    pub(crate) unsafe fn copy_in_limbs(&self, from: &[u64], to: &Buffer, at: usize) -> Result<()> {
        let bytes = size_of_val(from);
        check(&(at..at.saturating_add(bytes)), to.bytes())?;
        // SAFETY: the range was checked, and `from` stays as it is until the stream has been waited for.
        let result = unsafe {
            let to = to.address() + at as u64;
            self.line.device.platform.copy_in(self.line.handle, to, from.as_ptr().cast(), bytes)
        };
        self.started(result, [&to.uses])
    }

    /// Copies the first bytes of a buffer to limbs of the host.
    ///
    /// # Safety
    /// Nobody reads or writes `to` or gives it back before this stream has been waited for.
    pub(crate) unsafe fn copy_out_limbs(&self, from: &Buffer, to: &mut [u64]) -> Result<()> {
        let bytes = size_of_val(to);
        check(&(0..bytes), from.bytes())?;
        // SAFETY: the range was checked, and nobody touches `to` until the stream has been waited for.
        let result = unsafe {
            let platform = &self.line.device.platform;
            platform.copy_out(self.line.handle, to.as_mut_ptr().cast(), from.address(), bytes)
        };
        self.started(result, [&from.uses])
    }

    /// Copies a range of bytes of a buffer to the host, from byte `at` on.
    pub fn copy_out(&self, from: &Buffer, range: Range<usize>, to: &mut HostBuffer, at: usize) -> Result<()> {
        check(&range, from.bytes())?;
        let pointer = to.pointer(&(at..at.saturating_add(range.len())))?;
        // SAFETY: as above; and the host's side is borrowed mutably, so that nobody looks at it now.
        let result = unsafe {
            let from = from.address() + range.start as u64;
            self.line.device.platform.copy_out(self.line.handle, pointer, from, range.len())
        };
        self.started(result, [&from.uses, &to.uses])
    }

    /// Copies a range of bytes of one buffer to another, from byte `at` on.
    pub fn copy_within(&self, from: &Buffer, range: Range<usize>, to: &Buffer, at: usize) -> Result<()> {
        check(&range, from.bytes())?;
        check(&(at..at.saturating_add(range.len())), to.bytes())?;
        // SAFETY: both ranges exist, in two buffers, and both remember that they are in use.
        let result = unsafe {
            let (from, to) = (from.address() + range.start as u64, to.address() + at as u64);
            self.line.device.platform.copy_within(self.line.handle, to, from, range.len())
        };
        self.started(result, [&from.uses, &to.uses])
    }

    /// Sets a range of bytes of a buffer.
    pub fn fill(&self, buffer: &Buffer, range: Range<usize>, byte: u8) -> Result<()> {
        check(&range, buffer.bytes())?;
        // SAFETY: the range exists, and the buffer remembers that it is in use.
        let result = unsafe {
            let address = buffer.address() + range.start as u64;
            self.line.device.platform.fill(self.line.handle, address, byte, range.len())
        };
        self.started(result, [&buffer.uses])
    }

    /// Runs a kernel with one argument, a structure.
    ///
    /// `buffers` are the buffers whose addresses are in the arguments. They are not reused before the kernel
    /// has ended.
    ///
    /// # Safety
    /// The kernel takes exactly this structure, and reads and writes nothing but `buffers`, within
    /// their bounds, where nothing else writes at the same time.
    pub unsafe fn launch<T: KernelArguments>(
        &self,
        kernel: &Kernel,
        shape: Shape,
        arguments: &T,
        buffers: &[&Buffer],
    ) -> Result<()> {
        const { assert!(size_of::<T>() <= 4096, "kernels take 4 KiB of arguments at most") };
        // SAFETY: by the contract above; kernel and buffers remember that they are in use.
        let result = unsafe {
            let arguments = ptr::from_ref(arguments).cast();
            self.line.device.platform.launch(self.line.handle, kernel.handle(), shape, arguments)
        };
        self.started(result, buffers.iter().map(|buffer| &buffer.uses).chain([kernel.uses()]))
    }

    /// Counts an operation that was just started, and has what it works with remember it.
    fn started<'a>(&self, result: Result<()>, used: impl IntoIterator<Item = &'a Uses>) -> Result<()> {
        let number = self.line.count();
        used.into_iter().for_each(|uses| uses.add(&self.line, number));
        result
    }

    /// Returns when everything on this stream has ended. An error of any operation shows here at the latest.
    pub fn synchronize(&self) -> Result<()> {
        self.line.synchronize()
    }

    /// Makes the next operations of this stream wait for an event of another stream.
    pub fn wait(&self, event: &Event) -> Result<()> {
        // SAFETY: both are alive.
        unsafe { self.line.device.platform.wait(self.line.handle, event.handle) }
    }
}

/// A mark in a stream: when everything before it has ended.
pub struct Event {
    device: Arc<Shared>,
    handle: Handle,
    /// The stream it was recorded on, and how many operations came before it.
    place: Mutex<Option<(Arc<Line>, u64)>>,
}

impl Event {
    pub(super) fn new(device: Arc<Shared>) -> Result<Self> {
        let kept = device.events.lock().pop();
        let handle = kept.map_or_else(|| device.platform.event(), Ok)?;
        Ok(Self { device, handle, place: Mutex::new(None) })
    }

    /// Puts the mark behind the operations that are on the stream now.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        let mut place = self.place.lock();
        let started = stream.line.started();
        // SAFETY: both are alive.
        unsafe { self.device.platform.record(self.handle, stream.line.handle) }?;
        *place = Some((stream.line.clone(), started));
        Ok(())
    }

    /// Returns when everything before the mark has ended; at once where it was never recorded.
    pub fn synchronize(&self) -> Result<()> {
        let place = self.place.lock();
        // SAFETY: the event is alive.
        unsafe { self.device.platform.synchronize_event(self.handle) }?;
        if let Some((line, started)) = &*place {
            line.end(*started);
        }
        Ok(())
    }

    /// Milliseconds from an earlier mark to this one; both have been waited for.
    pub fn elapsed_ms(&self, from: &Event) -> Result<f32> {
        // SAFETY: both are alive.
        unsafe { self.device.platform.elapsed_ms(from.handle, self.handle) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // The next one to have it records it before anyone waits for it.
        self.device.events.lock().push(self.handle);
    }
}
