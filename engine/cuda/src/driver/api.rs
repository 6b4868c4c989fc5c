//! The driver's functions, with the names and types of `cuda.h`, and the meaning of their results.
#![allow(unsafe_code)] // calls a C library

use crate::error::{Error, Result};
use crate::library::{self, api};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

/// The oldest version of the driver's interface that is used, as `cuDriverGetVersion` writes it.
pub(super) const OLDEST: c_int = 12000;

/// `CUdevice`.
pub(super) type Number = c_int;
/// `CUcontext`, `CUmodule`, `CUfunction`, `CUstream`, `CUevent`.
pub(super) type Pointer = *mut c_void;
/// `CUdeviceptr`.
pub(super) type Address = u64;

api! {
    /// The functions of `cuda.h` that are used. Where the header renames a function, this is the name
    /// that it has in the library.
    struct Api {
        init = "cuInit": fn(c_uint),
        driver_version = "cuDriverGetVersion": fn(*mut c_int),
        error_name = "cuGetErrorName": fn(c_int, *mut *const c_char),
        error_string = "cuGetErrorString": fn(c_int, *mut *const c_char),
        device_count = "cuDeviceGetCount": fn(*mut c_int),
        device = "cuDeviceGet": fn(*mut Number, c_int),
        device_name = "cuDeviceGetName": fn(*mut c_char, c_int, Number),
        device_attribute = "cuDeviceGetAttribute": fn(*mut c_int, c_int, Number),
        device_memory = "cuDeviceTotalMem_v2": fn(*mut usize, Number),
        retain_context = "cuDevicePrimaryCtxRetain": fn(*mut Pointer, Number),
        release_context = "cuDevicePrimaryCtxRelease_v2": fn(Number),
        set_context = "cuCtxSetCurrent": fn(Pointer),
        memory_info = "cuMemGetInfo_v2": fn(*mut usize, *mut usize),
        allocate = "cuMemAlloc_v2": fn(*mut Address, usize),
        free = "cuMemFree_v2": fn(Address),
        allocate_host = "cuMemHostAlloc": fn(*mut Pointer, usize, c_uint),
        free_host = "cuMemFreeHost": fn(Pointer),
        copy_in = "cuMemcpyHtoDAsync_v2": fn(Address, *const c_void, usize, Pointer),
        copy_out = "cuMemcpyDtoHAsync_v2": fn(*mut c_void, Address, usize, Pointer),
        copy_within = "cuMemcpyDtoDAsync_v2": fn(Address, Address, usize, Pointer),
        fill = "cuMemsetD8Async": fn(Address, u8, usize, Pointer),
        load = "cuModuleLoadData": fn(*mut Pointer, *const c_void),
        unload = "cuModuleUnload": fn(Pointer),
        function = "cuModuleGetFunction": fn(*mut Pointer, Pointer, *const c_char),
        function_attribute = "cuFuncGetAttribute": fn(*mut c_int, c_int, Pointer),
        set_function_attribute = "cuFuncSetAttribute": fn(Pointer, c_int, c_int),
        occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor": fn(*mut c_int, Pointer, c_int, usize),
        launch = "cuLaunchKernel": fn(
            Pointer, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Pointer, *mut *mut c_void,
            *mut *mut c_void
        ),
        stream = "cuStreamCreate": fn(*mut Pointer, c_uint),
        end_stream = "cuStreamDestroy_v2": fn(Pointer),
        synchronize = "cuStreamSynchronize": fn(Pointer),
        wait = "cuStreamWaitEvent": fn(Pointer, Pointer, c_uint),
        event = "cuEventCreate": fn(*mut Pointer, c_uint),
        end_event = "cuEventDestroy_v2": fn(Pointer),
        record = "cuEventRecord": fn(Pointer, Pointer),
        synchronize_event = "cuEventSynchronize": fn(Pointer),
        elapsed = "cuEventElapsedTime": fn(*mut f32, Pointer, Pointer),
    }
}

/// The name of the driver's library. It is a part of the driver. The library of this name in the toolkit's
/// folders is a stub.
const NAME: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

impl Api {
    /// Loads the driver's library and starts the driver.
    pub(super) fn start(name: &str) -> Result<Self> {
        // SAFETY: runs the initialisers of the system's driver.
        let library = unsafe { Library::new(name) }
            .map_err(|error| Error::NoDriver { reason: library::reason(&error) })?;
        let too_old = |found| Error::DriverTooOld { found, needed: version_text(OLDEST) };
        // SAFETY: the driver's library has the interface of `cuda.h`.
        let api = unsafe { Self::new(library) }.map_err(|error| too_old(library::reason(&error)))?;
        let mut version = 0;
        // SAFETY: may be called before anything else; writes a number.
        api.check("cuDriverGetVersion", unsafe { (api.driver_version)(&mut version) })?;
        if version < OLDEST {
            return Err(too_old(format!("it is for CUDA {}", version_text(version))));
        }
        // SAFETY: may be called at any time.
        match unsafe { (api.init)(0) } {
            0 => Ok(api),
            NO_DEVICE => Err(Error::NoDevice),
            code => Err(Error::NoDriver { reason: api.explain(code) }),
        }
    }

    /// Loads the system's driver.
    pub(super) fn of_system() -> Result<Self> {
        Self::start(NAME)
    }

    /// The version of CUDA that the driver is for.
    pub(super) fn version(&self) -> String {
        let mut version = 0;
        // SAFETY: writes a number.
        unsafe { (self.driver_version)(&mut version) };
        version_text(version)
    }

    /// The error of a result; `call` is the function that returned it.
    pub(super) fn check(&self, call: &'static str, code: c_int) -> Result<()> {
        match code {
            0 => Ok(()),
            OUT_OF_MEMORY => Err(Error::OutOfMemory { wanted: 0 }),
            code if LASTING.contains(&code) => {
                Err(Error::Lost { reason: format!("{call}: {}", self.explain(code)) })
            }
            code => Err(Error::Call { call, reason: self.explain(code) }),
        }
    }

    /// A result in the driver's words.
    pub(super) fn explain(&self, code: c_int) -> String {
        let text = |read: unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int| {
            let mut text = ptr::null();
            // SAFETY: writes a pointer to a constant text, or null.
            unsafe { read(code, &mut text) };
            // SAFETY: constant texts end in zero.
            (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        let name = text(self.error_name).unwrap_or_else(|| format!("code {code}"));
        format!("{} ({name})", text(self.error_string).unwrap_or_default())
    }
}

fn version_text(version: c_int) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

// Values of `CUresult`.
pub(super) const OUT_OF_MEMORY: c_int = 2;
pub(super) const DEVICE_UNAVAILABLE: c_int = 46;
pub(super) const NO_DEVICE: c_int = 100;
pub(super) const INVALID_DEVICE: c_int = 101;
pub(super) const NOT_FOUND: c_int = 500;
/// Machine code that is broken, for another device, or of too new a version.
pub(super) const REFUSED: &[c_int] = &[200, 209, 218, 222, 300];

/// Results after which every other call fails too, until the process ends: the context is gone, or the
/// device.
const LASTING: &[c_int] = &[
    4,   // DEINITIALIZED
    201, // INVALID_CONTEXT
    214, // ECC_UNCORRECTABLE
    220, // NVLINK_UNCORRECTABLE
    226, // CONTAINED
    700, // ILLEGAL_ADDRESS
    702, // LAUNCH_TIMEOUT
    709, // CONTEXT_IS_DESTROYED
    710, // ASSERT
    714, // HARDWARE_STACK_ERROR
    715, // ILLEGAL_INSTRUCTION
    716, // MISALIGNED_ADDRESS
    717, // INVALID_ADDRESS_SPACE
    718, // INVALID_PC
    719, // LAUNCH_FAILED
    721, // TENSOR_MEMORY_LEAK
    806, // MPS_RPC_FAILURE
    810, // MPS_CLIENT_TERMINATED
    999, // UNKNOWN
];

// Values of `CUdevice_attribute`.
pub(super) const CLOCK_RATE: c_int = 13;
pub(super) const MULTIPROCESSOR_COUNT: c_int = 16;
pub(super) const L2_CACHE_SIZE: c_int = 38;
pub(super) const MAX_THREADS_PER_MULTIPROCESSOR: c_int = 39;
pub(super) const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
pub(super) const COMPUTE_CAPABILITY_MINOR: c_int = 76;
pub(super) const MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: c_int = 81;
pub(super) const MAX_REGISTERS_PER_MULTIPROCESSOR: c_int = 82;
pub(super) const SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: c_int = 87;
pub(super) const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_int = 97;
pub(super) const MAX_BLOCKS_PER_MULTIPROCESSOR: c_int = 106;
pub(super) const RESERVED_SHARED_MEMORY_PER_BLOCK: c_int = 111;

// Values of `CUfunction_attribute`.
pub(super) const MAX_THREADS_PER_BLOCK: c_int = 0;
pub(super) const SHARED_SIZE_BYTES: c_int = 1;
pub(super) const LOCAL_SIZE_BYTES: c_int = 3;
pub(super) const NUM_REGS: c_int = 4;
pub(super) const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;

/// Streams that do not wait for the default stream.
pub(super) const STREAM_NON_BLOCKING: c_uint = 1;
/// Pinned memory that every context can use.
pub(super) const HOST_PORTABLE: c_uint = 1;
