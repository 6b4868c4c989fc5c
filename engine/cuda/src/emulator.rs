//! A device that is emulated on the CPU. The host's C++ compiler compiles the kernels' own sources, and
//! `kernels/emulator.hpp` gives them the threads, shuffles and barriers of a GPU.
//!
//! Its memory is the host's. Operations end before the call that starts them returns; errors show as
//! late as on a GPU. It fails on demand, and notices kernels that write outside of their buffers.
#![allow(unsafe_code)] // copies between addresses and calls compiled kernels

mod build;
mod memory;

use crate::bundle::MachineCodeEntry;
use crate::cache::Cache;
use crate::compiler::Program;
use crate::device::platform::{Handle, Platform};
use crate::device::{Attributes, Limits, Properties, Shape};
use crate::error::{Error, Result};
use libloading::Library;
use memory::Memory;
use modmill_core::sync::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::time::Instant;

/// Faults of an emulated device, for tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// The number of launches after which every launch is refused. The device can still be used.
    pub fail_launch_after: Option<u64>,
    /// The number of launches after which the device breaks down. As on a GPU, that launch itself succeeds,
    /// and everything after it fails.
    pub lose_device_after: Option<u64>,
    /// Bytes of the device's memory.
    pub out_of_memory_above: Option<usize>,
    /// Whether it says of programs that they take as long to compile as a GPU's.
    pub compiles_slowly: bool,
}

type Launch = unsafe extern "C" fn(u32, u32, u32, *const c_void);

/// An emulated device.
pub(crate) struct Emulator {
    properties: Properties,
    faults: Faults,
    cache: Cache,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    memory: Memory,
    launches: u64,
    lost: Option<String>,
    events: HashMap<Handle, Option<Instant>>,
    /// Streams and events ever made.
    handles: Handle,
}

impl State {
    fn new_handle(&mut self) -> Handle {
        self.handles += 1;
        self.handles
    }
}

impl Emulator {
    pub(crate) fn new(name: String, limits: Limits, faults: Faults, cache: Cache) -> Self {
        let properties = Properties {
            name,
            ordinal: 0,
            driver: "none".to_owned(),
            emulated: true,
            limits,
            l2_bytes: 1 << 20,
            memory_bytes: faults.out_of_memory_above.unwrap_or(4 << 30),
        };
        Self { properties, faults, cache, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The device's state, unless it is lost.
    fn working(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.lock();
        match &state.lost {
            Some(reason) => Err(Error::Lost { reason: reason.clone() }),
            None => Ok(state),
        }
    }

    fn check(&self, shape: Shape) -> Result<()> {
        let Shape { grid, block, shared_bytes } = shape;
        if grid == 0 || self.properties.limits.resident_blocks(block, shared_bytes) == 0 {
            let name = &self.properties.name;
            let reason = format!(
                "{name} does not take {grid} blocks of {block} threads with {shared_bytes} bytes of shared memory"
            );
            return Err(Error::Call { call: "launch", reason });
        }
        Ok(())
    }
}

impl Platform for Emulator {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Result<usize> {
        Ok(self.properties.memory_bytes.saturating_sub(self.working()?.memory.bytes()))
    }

    fn warnings(&self) -> Vec<String> {
        self.cache.warnings()
    }

    fn code(&self, _: &Program) -> Result<Option<MachineCodeEntry>> {
        Ok(None)
    }

    fn has_code(&self, _: &Program) -> bool {
        !self.faults.compiles_slowly
    }

    fn load(&self, program: &Program) -> Result<Handle> {
        drop(self.working()?);
        build::library(program, &self.cache).map(|library| ptr::from_ref(library) as Handle)
    }

    unsafe fn unload(&self, _: Handle) {} // libraries stay for the next device

    unsafe fn kernel(&self, module: Handle, name: &str) -> Result<(Handle, Attributes)> {
        // SAFETY: modules are libraries that are never unloaded.
        let library = unsafe { &*(module as *const Library) };
        // SAFETY: `KERNEL` in `emulator.hpp` gives these functions this type.
        let launch = unsafe { library.get::<Launch>(format!("modmill_launch_{name}")) };
        let launch = launch.map_err(|_| Error::NoKernel { name: name.to_owned() })?;
        let attributes = Attributes { registers: 0, local_bytes: 0, shared_bytes: 0, max_threads: 1024 };
        Ok((*launch as usize as Handle, attributes))
    }

    unsafe fn occupancy(&self, _: Handle, block: u32, shared_bytes: u32) -> Result<u32> {
        Ok(self.properties.limits.resident_blocks(block, shared_bytes))
    }

    /// Sizes are not rounded, so that writes beyond a buffer are noticed.
    fn rounded(&self, bytes: usize) -> usize {
        bytes
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        let mut state = self.working()?;
        let out_of_memory = Error::OutOfMemory { wanted: bytes };
        match state.memory.bytes().checked_add(bytes) {
            Some(sum) if sum <= self.properties.memory_bytes => {
                state.memory.allocate(bytes).ok_or(out_of_memory)
            }
            _ => Err(out_of_memory),
        }
    }

    unsafe fn free(&self, address: u64) {
        self.lock().memory.free(address);
    }

    unsafe fn zero(&self, address: u64, bytes: usize) -> Result<()> {
        // SAFETY: by the contract of the trait.
        unsafe { self.fill(0, address, 0, bytes) }
    }

    fn wait_for_zeros(&self) -> Result<()> {
        self.working().map(drop)
    }

    fn allocate_host(&self, bytes: usize) -> Result<u64> {
        self.working()?.memory.allocate(bytes).ok_or(Error::OutOfMemory { wanted: bytes })
    }

    unsafe fn free_host(&self, address: u64) {
        self.lock().memory.free(address);
    }

    fn stream(&self) -> Result<Handle> {
        Ok(self.working()?.new_handle())
    }

    unsafe fn end_stream(&self, _: Handle) {}

    unsafe fn synchronize(&self, _: Handle) -> Result<()> {
        self.working().map(drop)
    }

    unsafe fn copy_in(&self, _: Handle, to: u64, from: *const u8, bytes: usize) -> Result<()> {
        let _state = self.working()?;
        // SAFETY: by the contract of the trait; device memory is memory of the host.
        unsafe { ptr::copy_nonoverlapping(from, to as *mut u8, bytes) };
        Ok(())
    }

    unsafe fn copy_out(&self, _: Handle, to: *mut u8, from: u64, bytes: usize) -> Result<()> {
        let _state = self.working()?;
        // SAFETY: as above.
        unsafe { ptr::copy_nonoverlapping(from as *const u8, to, bytes) };
        Ok(())
    }

    unsafe fn copy_within(&self, _: Handle, to: u64, from: u64, bytes: usize) -> Result<()> {
        let _state = self.working()?;
        // SAFETY: as above.
        unsafe { ptr::copy(from as *const u8, to as *mut u8, bytes) };
        Ok(())
    }

    unsafe fn fill(&self, _: Handle, address: u64, byte: u8, bytes: usize) -> Result<()> {
        let _state = self.working()?;
        // SAFETY: as above.
        unsafe { ptr::write_bytes(address as *mut u8, byte, bytes) };
        Ok(())
    }

    unsafe fn launch(&self, _: Handle, kernel: Handle, shape: Shape, arguments: *const c_void) -> Result<()> {
        self.check(shape)?;
        let mut state = self.working()?;
        let after = |limit: Option<u64>| limit.is_some_and(|limit| state.launches >= limit);
        if after(self.faults.fail_launch_after) {
            return Err(Error::Call { call: "launch", reason: "as was asked for".to_owned() });
        }
        if after(self.faults.lose_device_after) {
            state.lost = Some("as was asked for".to_owned());
            return Ok(());
        }
        state.launches += 1;
        // SAFETY: the handle is that of a function of this type, from `kernel`.
        let launch: Launch = unsafe { std::mem::transmute(kernel as usize) };
        // SAFETY: by the contract of `Stream::launch`.
        unsafe { launch(shape.grid, shape.block, shape.shared_bytes, arguments) };
        if !state.memory.is_intact() {
            state.lost = Some("a kernel wrote outside of its buffers".to_owned());
        }
        Ok(())
    }

    fn event(&self) -> Result<Handle> {
        let mut state = self.working()?;
        let event = state.new_handle();
        state.events.insert(event, None);
        Ok(event)
    }

    unsafe fn end_event(&self, event: Handle) {
        self.lock().events.remove(&event);
    }

    unsafe fn record(&self, event: Handle, _: Handle) -> Result<()> {
        self.working()?.events.insert(event, Some(Instant::now()));
        Ok(())
    }

    unsafe fn wait(&self, _: Handle, _: Handle) -> Result<()> {
        self.working().map(drop)
    }

    unsafe fn synchronize_event(&self, _: Handle) -> Result<()> {
        self.working().map(drop)
    }

    unsafe fn elapsed_ms(&self, from: Handle, to: Handle) -> Result<f32> {
        let state = self.working()?;
        let time = |event| state.events.get(&event).copied().flatten();
        match (time(from), time(to)) {
            (Some(from), Some(to)) => Ok(to.duration_since(from).as_secs_f32() * 1e3),
            _ => Err(Error::Call { call: "elapsed_ms", reason: "an event was not recorded".to_owned() }),
        }
    }
}
