//! A device: a GPU or an emulated one, its memory, streams and compiled programs.
//!
//! Everything here is written once, over the raw operations of `platform`: ownership, reuse of memory, and
//! the rule that nothing is given back while the device still works with it. `devices` opens them.

mod chip;
mod contents;
mod limits;
mod memory;
mod module;
pub(crate) mod pinned;
pub(crate) mod platform;
pub(crate) mod pool;
mod shared;
mod stream;
mod uses;

pub use chip::Chip;
pub use contents::Contents;
pub use limits::{Limits, MAX_BLOCK, Tensor};
pub(crate) use memory::prefer_large_pages;
pub use memory::{Buffer, HostBuffer};
pub(crate) use module::kernel_structs;
pub use module::{Kernel, KernelArguments, Module};
pub use platform::{Attributes, Properties, Shape};
pub use stream::{Event, Stream};

use crate::bundle::MachineCodeEntry;
use crate::compiler::Program;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::memo::Memo;
use modmill_core::sync::Mutex;
use platform::Platform;
use shared::Shared;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A GPU or an emulated one. Clones are the same device.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
    modules: Arc<Memo<Digest, Module>>,
    /// The programs that are loaded.
    programs: Arc<Mutex<Vec<Program>>>,
}

impl Device {
    pub(crate) fn new(platform: Box<dyn Platform>) -> Self {
        let shared = Arc::new(Shared::new(platform));
        Self { shared, modules: Arc::default(), programs: Arc::default() }
    }

    /// Its name, driver, memory and limits.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        self.shared.platform.properties()
    }

    /// The limits of its multiprocessors.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.properties().limits
    }

    /// Bytes that can still be allocated, including memory that is kept for reuse.
    pub fn free_memory(&self) -> Result<usize> {
        Ok(self.shared.platform.free_memory()? + self.shared.kept_bytes())
    }

    /// Bytes of resident batches.
    #[must_use]
    pub fn resident_bytes(&self) -> usize {
        self.shared.resident.load(Ordering::Relaxed)
    }

    /// Bytes that are kept for reuse.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        self.shared.kept_bytes()
    }

    /// Faults that stopped nothing, such as a cache that cannot be used.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.shared.platform.warnings()
    }

    /// Compiles a program, or finds its machine code, and loads it. A program is loaded once, even if several
    /// threads ask for it at the same time.
    pub fn compile(&self, program: &Program) -> Result<Module> {
        self.modules.get(&program.key_in_process(), || {
            let module = Module::new(self.shared.clone(), self.shared.platform.load(program)?);
            self.programs.lock().push(program.clone());
            Ok(module)
        })
    }

    /// Whether a program is loaded, or being loaded.
    pub(crate) fn is_loaded(&self, program: &Program) -> bool {
        self.modules.has(&program.key_in_process())
    }

    /// Whether a program need not be compiled: its machine code is in the cache or in a bundle.
    pub(crate) fn has_code(&self, program: &Program) -> bool {
        self.shared.platform.has_code(program)
    }

    /// The machine code of all programs that are loaded, for a [bundle](crate::bundle). The emulated device
    /// has none.
    pub fn machine_code(&self) -> Result<Vec<MachineCodeEntry>> {
        let programs = self.programs.lock().clone();
        programs.iter().filter_map(|program| self.shared.platform.code(program).transpose()).collect()
    }

    /// Compiles and loads programs side by side, in the order that they are given.
    pub fn compile_all(&self, programs: &[Program]) -> Result<Vec<Module>> {
        let Some((first, others)) = programs.split_first() else { return Ok(Vec::new()) };
        std::thread::scope(|scope| {
            let others: Vec<_> = others.iter().map(|program| scope.spawn(|| self.compile(program))).collect();
            let first = self.compile(first);
            let lost = || Err(Error::Lost { reason: "a compiler's thread ended early".to_owned() });
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|_| lost()));
            std::iter::once(first).chain(others).collect()
        })
    }

    /// Memory on the device.
    pub fn buffer(&self, bytes: usize, contents: Contents) -> Result<Buffer> {
        Buffer::new(self.shared.clone(), bytes, contents)
    }

    /// Memory on the device for numbers that stay there, which [`Device::resident_bytes`] counts.
    pub(crate) fn resident_buffer(&self, bytes: usize, contents: Contents) -> Result<Buffer> {
        Ok(self.buffer(bytes, contents)?.resident())
    }

    /// Memory of the host that the device copies to and from.
    pub fn host_buffer(&self, bytes: usize, contents: Contents) -> Result<HostBuffer> {
        HostBuffer::new(self.shared.clone(), bytes, contents)
    }

    /// Memory on the device with some limbs.
    pub(crate) fn upload(&self, limbs: &[u64], contents: Contents) -> Result<Buffer> {
        self.upload_with(8 * limbs.len(), contents, |staging| {
            staging.limbs_mut()[..limbs.len()].copy_from_slice(limbs);
        })
    }

    /// Memory on the device with the `bytes` bytes that `fill` writes.
    pub(crate) fn upload_with(
        &self,
        bytes: usize,
        contents: Contents,
        fill: impl FnOnce(&mut HostBuffer),
    ) -> Result<Buffer> {
        let bytes = bytes.next_multiple_of(8).max(8);
        let mut staging = self.host_buffer(bytes, contents)?;
        fill(&mut staging);
        let buffer = self.buffer(bytes, contents)?;
        let stream = self.stream()?;
        stream.copy_in(&staging, 0..bytes, &buffer, 0)?;
        stream.synchronize()?;
        Ok(buffer)
    }

    /// Gives back the memory that is kept for reuse.
    pub fn trim(&self) {
        self.shared.trim();
    }

    /// A number that no other device of this process has while this one is in use.
    pub(crate) fn id(&self) -> usize {
        Arc::as_ptr(&self.shared) as usize
    }

    /// Whether both are the same device.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// A new stream.
    pub fn stream(&self) -> Result<Stream> {
        Stream::new(self.shared.clone())
    }

    /// A new event.
    pub fn event(&self) -> Result<Event> {
        Event::new(self.shared.clone())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.properties().name).finish()
    }
}
