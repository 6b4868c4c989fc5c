//! A GPU: the operations of a device as calls of the driver.
#![allow(unsafe_code)] // calls the driver

use super::api::{self, Address, Api, Number, Pointer};
use crate::bundle::MachineCodeEntry;
use crate::compiler::{Architecture, Compiler, Program, code_key};
use crate::device::platform::{Handle, Platform};
use crate::device::{Attributes, Limits, Properties, Shape, pool};
use crate::error::{Error, Result};
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// Calls a function of the driver and checks its result.
macro_rules! call {
    ($api:expr, $function:ident($($argument:expr),*)) => {
        $api.check(stringify!($function), ($api.$function)($($argument),*))
    };
}

/// A GPU with its primary context, which libraries in this process share.
pub(super) struct Gpu {
    api: Arc<Api>,
    compiler: Arc<Compiler>,
    properties: Properties,
    number: Number,
    context: Pointer,
    /// The stream of operations that end before a call returns.
    own_stream: Pointer,
}

// SAFETY: a context and what was made in it may be used from every thread in which it is current, and
// each operation makes it so.
unsafe impl Send for Gpu {}
// SAFETY: as above; the driver locks what it has to.
unsafe impl Sync for Gpu {}

impl Gpu {
    /// Takes hold of the GPU of this ordinal.
    pub(super) fn new(api: Arc<Api>, compiler: Arc<Compiler>, ordinal: u32) -> Result<Self> {
        let mut number = 0;
        // SAFETY: the driver has started; writes a number.
        unsafe { call!(api, device(&mut number, ordinal as c_int)) }?;
        let properties = properties(&api, number, ordinal)?;
        let mut context = ptr::null_mut();
        // SAFETY: the device exists; writes a pointer.
        let code = unsafe { (api.retain_context)(&mut context, number) };
        if [api::DEVICE_UNAVAILABLE, api::INVALID_DEVICE].contains(&code) {
            let device = format!("GPU {ordinal} ({})", properties.name);
            return Err(Error::Busy { device, reason: api.explain(code) });
        }
        api.check("cuDevicePrimaryCtxRetain", code)?;
        // From here on dropping it releases the context.
        let mut gpu = Self { api, compiler, properties, number, context, own_stream: ptr::null_mut() };
        gpu.own_stream = gpu.stream()? as Pointer;
        Ok(gpu)
    }

    fn architecture(&self) -> Architecture {
        let (major, minor) = self.properties.limits.capability;
        Architecture { major, minor }
    }

    /// The driver's functions, with this device's context current in this thread.
    fn api(&self) -> Result<&Api> {
        // SAFETY: the context is released when `self` is dropped.
        unsafe { call!(self.api, set_context(self.context)) }?;
        Ok(&self.api)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if !self.own_stream.is_null() {
            // SAFETY: this stream is nobody else's.
            unsafe { self.end_stream(self.own_stream as Handle) };
        }
        // SAFETY: retained once, in `new`. What fails here is lost already.
        let _ = unsafe { call!(self.api, release_context(self.number)) };
    }
}

fn properties(api: &Api, number: Number, ordinal: u32) -> Result<Properties> {
    let attribute = |which: c_int| {
        let mut value = 0;
        // SAFETY: the device exists; writes a number.
        unsafe { call!(api, device_attribute(&mut value, which, number)) }.map(|()| value as u32)
    };
    let mut name = [0u8; 256];
    let mut memory_bytes = 0;
    // SAFETY: the device exists; writes a text that ends in zero into as many bytes, and a number.
    unsafe {
        call!(api, device_name(name.as_mut_ptr().cast(), name.len() as c_int, number))?;
        call!(api, device_memory(&mut memory_bytes, number))?;
    }
    Ok(Properties {
        name: CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned(),
        ordinal,
        driver: api.version(),
        emulated: false,
        limits: Limits {
            capability: (
                attribute(api::COMPUTE_CAPABILITY_MAJOR)?,
                attribute(api::COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: attribute(api::MULTIPROCESSOR_COUNT)?,
            clock_mhz: attribute(api::CLOCK_RATE)? / 1000,
            threads_per_multiprocessor: attribute(api::MAX_THREADS_PER_MULTIPROCESSOR)?,
            blocks_per_multiprocessor: attribute(api::MAX_BLOCKS_PER_MULTIPROCESSOR)?,
            registers_per_multiprocessor: attribute(api::MAX_REGISTERS_PER_MULTIPROCESSOR)?,
            shared_per_block: attribute(api::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            shared_per_multiprocessor: attribute(api::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            shared_reserved: attribute(api::RESERVED_SHARED_MEMORY_PER_BLOCK)?,
            single_per_double: attribute(api::SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO)?,
        },
        l2_bytes: attribute(api::L2_CACHE_SIZE)?,
        memory_bytes,
    })
}

/// Adds the wanted bytes to an error of memory that ran out.
fn wanted(bytes: usize) -> impl Fn(Error) -> Error {
    move |error| match error {
        Error::OutOfMemory { .. } => Error::OutOfMemory { wanted: bytes },
        error => error,
    }
}

// SAFETY of all calls below: the context is current; handles, addresses and lengths are right by the
// contract of the trait; results are written to variables of their types.
#[allow(clippy::undocumented_unsafe_blocks)] // documented above, once for all
impl Platform for Gpu {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Result<usize> {
        let (mut free, mut total) = (0, 0);
        unsafe { call!(self.api()?, memory_info(&mut free, &mut total)) }?;
        Ok(free)
    }

    fn warnings(&self) -> Vec<String> {
        self.compiler.warnings()
    }

    fn code(&self, program: &Program) -> Result<Option<MachineCodeEntry>> {
        let architecture = self.architecture();
        Ok(Some((code_key(program, architecture), self.compiler.code(program, architecture)?)))
    }

    fn has_code(&self, program: &Program) -> bool {
        let (major, minor) = self.properties.limits.capability;
        self.compiler.has_code(program, Architecture { major, minor })
    }

    fn load(&self, program: &Program) -> Result<Handle> {
        let code = self.compiler.code(program, self.architecture())?;
        let mut module = ptr::null_mut();
        let api = self.api()?;
        let result = unsafe { (api.load)(&mut module, code.as_ptr().cast()) };
        if api::REFUSED.contains(&result) {
            let reason = api.explain(result);
            return Err(Error::Refused { program: program.name.clone(), reason });
        }
        api.check("cuModuleLoadData", result).map_err(wanted(code.len()))?;
        Ok(module as Handle)
    }

    unsafe fn unload(&self, module: Handle) {
        let _ = self.api().and_then(|api| unsafe { call!(api, unload(module as Pointer)) });
    }

    unsafe fn kernel(&self, module: Handle, name: &str) -> Result<(Handle, Attributes)> {
        let missing = || Error::NoKernel { name: name.to_owned() };
        let text = CString::new(name).map_err(|_| missing())?;
        let mut kernel = ptr::null_mut();
        let api = self.api()?;
        match unsafe { (api.function)(&mut kernel, module as Pointer, text.as_ptr()) } {
            api::NOT_FOUND => Err(missing()),
            code => api.check("cuModuleGetFunction", code),
        }?;
        let attribute = |which: c_int| {
            let mut value = 0;
            unsafe { call!(api, function_attribute(&mut value, which, kernel)) }.map(|()| value as u32)
        };
        let attributes = Attributes {
            registers: attribute(api::NUM_REGS)?,
            local_bytes: attribute(api::LOCAL_SIZE_BYTES)?,
            shared_bytes: attribute(api::SHARED_SIZE_BYTES)?,
            max_threads: attribute(api::MAX_THREADS_PER_BLOCK)?,
        };
        // Kernels get more than 48 KiB only if they opt in. Memory that a launch does not use costs nothing.
        let room = self.properties.limits.shared_per_block.saturating_sub(attributes.shared_bytes) as c_int;
        unsafe { call!(api, set_function_attribute(kernel, api::MAX_DYNAMIC_SHARED_SIZE_BYTES, room)) }?;
        Ok((kernel as Handle, attributes))
    }

    unsafe fn occupancy(&self, kernel: Handle, block: u32, shared_bytes: u32) -> Result<u32> {
        let (mut blocks, kernel) = (0, kernel as Pointer);
        unsafe { call!(self.api()?, occupancy(&mut blocks, kernel, block as c_int, shared_bytes as usize)) }?;
        Ok(blocks as u32)
    }

    fn rounded(&self, bytes: usize) -> usize {
        pool::rounded(bytes)
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        let mut address: Address = 0;
        unsafe { call!(self.api()?, allocate(&mut address, bytes)) }.map_err(wanted(bytes))?;
        Ok(address)
    }

    unsafe fn free(&self, address: u64) {
        let _ = self.api().and_then(|api| unsafe { call!(api, free(address)) });
    }

    unsafe fn zero(&self, address: u64, bytes: usize) -> Result<()> {
        unsafe { call!(self.api()?, fill(address, 0, bytes, self.own_stream)) }
    }

    fn wait_for_zeros(&self) -> Result<()> {
        // SAFETY: the stream is this device's own.
        unsafe { call!(self.api()?, synchronize(self.own_stream)) }
    }

    fn allocate_host(&self, bytes: usize) -> Result<u64> {
        let mut pointer = ptr::null_mut();
        unsafe { call!(self.api()?, allocate_host(&mut pointer, bytes, api::HOST_PORTABLE)) }
            .map_err(wanted(bytes))?;
        Ok(pointer as u64)
    }

    unsafe fn free_host(&self, address: u64) {
        let _ = self.api().and_then(|api| unsafe { call!(api, free_host(address as Pointer)) });
    }

    fn stream(&self) -> Result<Handle> {
        let mut stream = ptr::null_mut();
        unsafe { call!(self.api()?, stream(&mut stream, api::STREAM_NON_BLOCKING)) }?;
        Ok(stream as Handle)
    }

    unsafe fn end_stream(&self, stream: Handle) {
        let _ = self.api().and_then(|api| unsafe { call!(api, end_stream(stream as Pointer)) });
    }

    unsafe fn synchronize(&self, stream: Handle) -> Result<()> {
        unsafe { call!(self.api()?, synchronize(stream as Pointer)) }
    }

    unsafe fn copy_in(&self, stream: Handle, to: u64, from: *const u8, bytes: usize) -> Result<()> {
        unsafe { call!(self.api()?, copy_in(to, from.cast(), bytes, stream as Pointer)) }
    }

    unsafe fn copy_out(&self, stream: Handle, to: *mut u8, from: u64, bytes: usize) -> Result<()> {
        unsafe { call!(self.api()?, copy_out(to.cast(), from, bytes, stream as Pointer)) }
    }

    unsafe fn copy_within(&self, stream: Handle, to: u64, from: u64, bytes: usize) -> Result<()> {
        unsafe { call!(self.api()?, copy_within(to, from, bytes, stream as Pointer)) }
    }

    unsafe fn fill(&self, stream: Handle, address: u64, byte: u8, bytes: usize) -> Result<()> {
        unsafe { call!(self.api()?, fill(address, byte, bytes, stream as Pointer)) }
    }

    unsafe fn launch(
        &self,
        stream: Handle,
        kernel: Handle,
        shape: Shape,
        arguments: *const c_void,
    ) -> Result<()> {
        let Shape { grid, block, shared_bytes } = shape;
        let mut arguments = [arguments.cast_mut()];
        unsafe {
            call!(
                self.api()?,
                launch(
                    kernel as Pointer,
                    grid,
                    1,
                    1,
                    block,
                    1,
                    1,
                    shared_bytes,
                    stream as Pointer,
                    arguments.as_mut_ptr(),
                    ptr::null_mut()
                )
            )
        }
    }

    fn event(&self) -> Result<Handle> {
        let mut event = ptr::null_mut();
        unsafe { call!(self.api()?, event(&mut event, 0)) }?;
        Ok(event as Handle)
    }

    unsafe fn end_event(&self, event: Handle) {
        let _ = self.api().and_then(|api| unsafe { call!(api, end_event(event as Pointer)) });
    }

    unsafe fn record(&self, event: Handle, stream: Handle) -> Result<()> {
        unsafe { call!(self.api()?, record(event as Pointer, stream as Pointer)) }
    }

    unsafe fn wait(&self, stream: Handle, event: Handle) -> Result<()> {
        unsafe { call!(self.api()?, wait(stream as Pointer, event as Pointer, 0)) }
    }

    unsafe fn synchronize_event(&self, event: Handle) -> Result<()> {
        unsafe { call!(self.api()?, synchronize_event(event as Pointer)) }
    }

    unsafe fn elapsed_ms(&self, from: Handle, to: Handle) -> Result<f32> {
        let mut milliseconds = 0.0;
        unsafe { call!(self.api()?, elapsed(&mut milliseconds, from as Pointer, to as Pointer)) }?;
        Ok(milliseconds)
    }
}
