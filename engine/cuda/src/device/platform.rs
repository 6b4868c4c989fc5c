//! The raw operations of a device: the trait that the driver and the emulator implement.
#![allow(unsafe_code)] // the methods take addresses and handles

use super::limits::Limits;
use crate::bundle::MachineCodeEntry;
use crate::compiler::Program;
use crate::error::Result;
use std::ffi::c_void;

/// A module, kernel, stream or event: a pointer or number that only the platform reads.
pub(crate) type Handle = u64;

/// The name, driver, memory and limits of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// Its name.
    pub name: String,
    /// Its number among the devices the driver sees.
    pub ordinal: u32,
    /// The version of the driver, as the version of CUDA it is for.
    pub driver: String,
    /// Whether it is the emulated device.
    pub emulated: bool,
    /// The limits of its multiprocessors.
    pub limits: Limits,
    /// Bytes of second-level cache.
    pub l2_bytes: u32,
    /// Bytes of memory.
    pub memory_bytes: usize,
}

/// The registers and memory of a compiled kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// Registers of a thread; 0 on the emulated device.
    pub registers: u32,
    /// Bytes of local memory of a thread: arrays that are indexed, and values that did not fit the registers.
    pub local_bytes: u32,
    /// Bytes of shared memory that the kernel itself declares.
    pub shared_bytes: u32,
    /// Threads that a block may have.
    pub max_threads: u32,
}

/// The size of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// Bytes of shared memory per block that the kernel divides by itself.
    pub shared_bytes: u32,
}

/// The raw operations of a device. The types above this trait, which are the same for every platform, take
/// care of ownership, reuse and order.
///
/// # Safety
/// Of every unsafe method: handles and addresses come from this platform, have not been given back,
/// and lengths stay within what was allocated. Operations on a stream may end later than the call:
/// until then their memory stays where it is, and host memory is not written to.
pub(crate) trait Platform: Send + Sync {
    fn properties(&self) -> &Properties;
    fn free_memory(&self) -> Result<usize>;
    /// Faults that stopped nothing.
    fn warnings(&self) -> Vec<String>;

    /// The machine code of a program, as it stands in a bundle; `None` if there is none that another process
    /// can load.
    fn code(&self, program: &Program) -> Result<Option<MachineCodeEntry>>;
    /// Whether a program is compiled, or compiles at once.
    fn has_code(&self, program: &Program) -> bool;
    /// Compiles a program, or finds it compiled, and loads it.
    fn load(&self, program: &Program) -> Result<Handle>;
    unsafe fn unload(&self, module: Handle);
    unsafe fn kernel(&self, module: Handle, name: &str) -> Result<(Handle, Attributes)>;
    unsafe fn occupancy(&self, kernel: Handle, block: u32, shared_bytes: u32) -> Result<u32>;

    /// The bytes to allocate for a buffer of `bytes` bytes. Rounded sizes let freed memory fit more often.
    fn rounded(&self, bytes: usize) -> usize;
    fn allocate(&self, bytes: usize) -> Result<u64>;
    unsafe fn free(&self, address: u64);
    /// Starts to overwrite memory with zeros. All such writes have ended when [`Platform::wait_for_zeros`]
    /// returns.
    unsafe fn zero(&self, address: u64, bytes: usize) -> Result<()>;
    fn wait_for_zeros(&self) -> Result<()>;
    /// Host memory that the device can copy to and from by itself, at least 8-byte aligned.
    fn allocate_host(&self, bytes: usize) -> Result<u64>;
    unsafe fn free_host(&self, address: u64);

    fn stream(&self) -> Result<Handle>;
    unsafe fn end_stream(&self, stream: Handle);
    unsafe fn synchronize(&self, stream: Handle) -> Result<()>;
    unsafe fn copy_in(&self, stream: Handle, to: u64, from: *const u8, bytes: usize) -> Result<()>;
    unsafe fn copy_out(&self, stream: Handle, to: *mut u8, from: u64, bytes: usize) -> Result<()>;
    /// Copies between two places of the device's memory that do not overlap.
    unsafe fn copy_within(&self, stream: Handle, to: u64, from: u64, bytes: usize) -> Result<()>;
    unsafe fn fill(&self, stream: Handle, address: u64, byte: u8, bytes: usize) -> Result<()>;
    /// The arguments are read before this returns.
    unsafe fn launch(
        &self,
        stream: Handle,
        kernel: Handle,
        shape: Shape,
        arguments: *const c_void,
    ) -> Result<()>;

    fn event(&self) -> Result<Handle>;
    unsafe fn end_event(&self, event: Handle);
    unsafe fn record(&self, event: Handle, stream: Handle) -> Result<()>;
    unsafe fn wait(&self, stream: Handle, event: Handle) -> Result<()>;
    unsafe fn synchronize_event(&self, event: Handle) -> Result<()>;
    unsafe fn elapsed_ms(&self, from: Handle, to: Handle) -> Result<f32>;
}
