//! A device: a GPU or an emulated one, its memory, streams and compiled programs.
//!
//! Everything here is written once, over the raw operations of `platform`: ownership, reuse of memory, and the
//! rule that nothing is given back while the device still works with it. `devices` opens them.
#![allow(unsafe_code)] // frees what is kept for reuse

mod chip;
mod limits;
mod memory;
mod module;
pub(crate) mod platform;
pub(crate) mod pool;
mod stream;
mod uses;

pub use chip::Chip;
pub use limits::{Limits, MAX_BLOCK, Tensor};
pub(crate) use memory::prefer_large_pages;
pub use memory::{Buffer, Contents, HostBuffer};
pub use module::{Attributes, Kernel, KernelArguments, Module};
pub use stream::{Event, Shape, Stream};

use crate::compiler::Program;
use crate::error::{Error, Result};
use crate::memo::Memo;
use platform::Platform;
use pool::Pool;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What a device is and has.
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
    /// What its multiprocessors can hold.
    pub limits: Limits,
    /// Bytes of second-level cache.
    pub l2_bytes: u32,
    /// Bytes of memory.
    pub memory_bytes: usize,
}

/// What everything on a device refers to.
struct Shared {
    platform: Box<dyn Platform>,
    pool: Mutex<Pool>,
    host_pool: Mutex<Pool>,
    /// Whether some memory of the pool is still being overwritten.
    clearing: Mutex<bool>,
}

impl Shared {
    fn take(&self, bytes: usize) -> Result<u64> {
        check_size(bytes)?;
        let size = self.platform.rounded(bytes);
        let kept = self.pool.lock().unwrap_or_else(PoisonError::into_inner).take(size);
        let Some(address) = kept else { return self.or_trimmed(|| self.platform.allocate(size)) };
        let mut clearing = self.clearing.lock().unwrap_or_else(PoisonError::into_inner);
        if *clearing {
            // What fails here is lost, as in `Buffer`'s drop.
            self.platform.wait_for_zeros()?;
            *clearing = false;
        }
        Ok(address)
    }

    /// Has memory that nothing uses any more overwritten before anyone else gets it. A batch ends without waiting
    /// for that.
    ///
    /// # Safety
    /// The memory is allocated, and goes to the pool.
    unsafe fn zero(&self, address: u64, bytes: usize) -> Result<()> {
        let mut clearing = self.clearing.lock().unwrap_or_else(PoisonError::into_inner);
        *clearing = true;
        // SAFETY: the caller's promise.
        unsafe { self.platform.zero(address, bytes) }
    }

    fn take_host(&self, bytes: usize) -> Result<u64> {
        check_size(bytes)?;
        let size = self.platform.rounded(bytes);
        let kept = self.host_pool.lock().unwrap_or_else(PoisonError::into_inner).take(size);
        kept.map_or_else(|| self.or_trimmed(|| self.platform.allocate_host(size)), Ok)
    }

    /// Allocates, a second time with everything given back if memory ran out.
    fn or_trimmed(&self, allocate: impl Fn() -> Result<u64>) -> Result<u64> {
        match allocate() {
            Err(Error::OutOfMemory { .. }) => {
                self.trim();
                allocate()
            }
            result => result,
        }
    }

    fn trim(&self) {
        let mut clearing = self.clearing.lock().unwrap_or_else(PoisonError::into_inner);
        // A device that fails here is lost, and whatever it was overwriting.
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

/// More than any machine has would overflow where sizes are rounded.
fn check_size(bytes: usize) -> Result<()> {
    if bytes <= isize::MAX as usize / 2 { Ok(()) } else { Err(Error::OutOfMemory { wanted: bytes }) }
}

/// A GPU or an emulated one. Clones are the same device.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
    modules: Arc<Memo<Module>>,
}

impl Device {
    pub(crate) fn new(platform: Box<dyn Platform>) -> Self {
        let shared = Shared {
            platform,
            pool: Mutex::default(),
            host_pool: Mutex::default(),
            clearing: Mutex::default(),
        };
        Self { shared: Arc::new(shared), modules: Arc::new(Memo::new()) }
    }

    /// What it is and has.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        self.shared.platform.properties()
    }

    /// What its multiprocessors can hold.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.properties().limits
    }

    /// Bytes that can still be allocated, with those that are kept for reuse.
    pub fn free_memory(&self) -> Result<usize> {
        let kept = self.shared.pool.lock().unwrap_or_else(PoisonError::into_inner).bytes();
        Ok(self.shared.platform.free_memory()? + kept)
    }

    /// What went wrong without stopping anything, such as a cache that cannot be used.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.shared.platform.warnings()
    }

    /// Compiles a program, or takes it from where it was compiled before, and loads it. A program is
    /// loaded once, however often and from however many threads it is asked for.
    pub fn compile(&self, program: &Program) -> Result<Module> {
        self.modules.get(&program.digest(), || {
            Ok(Module::new(self.shared.clone(), self.shared.platform.load(program)?))
        })
    }

    /// Memory on the device.
    pub fn buffer(&self, bytes: usize, contents: Contents) -> Result<Buffer> {
        Buffer::new(self.shared.clone(), bytes, contents)
    }

    /// Memory of the host that the device copies to and from.
    pub fn host_buffer(&self, bytes: usize, contents: Contents) -> Result<HostBuffer> {
        HostBuffer::new(self.shared.clone(), bytes, contents)
    }

    /// Gives back what is kept for reuse.
    pub fn trim(&self) {
        self.shared.trim();
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
