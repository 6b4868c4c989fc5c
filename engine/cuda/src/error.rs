//! Everything that can go wrong between this program and a GPU, each with what to do about it.

use thiserror::Error;

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong with a device.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver's library is missing or does not start.
    #[error("no NVIDIA driver: {reason}; install one, or use the CPU backend")]
    NoDriver {
        /// The words of the loader or of the driver.
        reason: String,
    },
    /// The driver is older than what is called here.
    #[error("the NVIDIA driver is too old ({found}); update it to one for CUDA {needed} or later")]
    DriverTooOld {
        /// The version found, or the function it lacks.
        found: String,
        /// The oldest version that serves.
        needed: String,
    },
    /// A driver, but nothing to drive.
    #[error(
        "the NVIDIA driver sees no GPU; is it hidden by MODMILL_CUDA_DEVICES, CUDA_VISIBLE_DEVICES or a container?"
    )]
    NoDevice,
    /// Another process has the device to itself.
    #[error("{device} is busy or closed to us: {reason}; see its compute mode in nvidia-smi")]
    Busy {
        /// The name of the device.
        device: String,
        /// The words of the driver.
        reason: String,
    },
    /// An environment variable that cannot be honoured.
    #[error("{name}: {reason}")]
    Setting {
        /// The variable.
        name: &'static str,
        /// The fault in its value.
        reason: String,
    },
    /// Not enough memory, even after everything kept for reuse was given back.
    #[error("out of memory: {wanted} bytes do not fit; make batches smaller")]
    OutOfMemory {
        /// Bytes asked for; 0 where the driver ran out on its own account.
        wanted: usize,
    },
    /// The device, or this process's use of it, is broken for good: nothing on it can be used again.
    #[error("the device is lost: {reason}; what it was computing has to be computed elsewhere")]
    Lost {
        /// The words of the driver.
        reason: String,
    },
    /// No way to get machine code for a program: no compiler, and no bundle that has it.
    #[error(
        "{program} cannot be compiled: {reason}; install NVRTC, name its library in MODMILL_NVRTC, or \
         name a bundle of compiled kernels in MODMILL_CUDA_BUNDLE"
    )]
    NoCompiler {
        /// The program wanted.
        program: String,
        /// The places that were searched.
        reason: String,
    },
    /// The emulated device found no C++ compiler.
    #[error("no C++ compiler for the emulated device: {reason}; install one, or name it in CXX")]
    NoHostCompiler {
        /// The compilers that were tried.
        reason: String,
    },
    /// The compiler did not accept a program.
    #[error("{program} does not compile:\n{log}")]
    Compile {
        /// The program.
        program: String,
        /// The messages of the compiler.
        log: String,
    },
    /// Machine code that this driver or this machine does not accept.
    #[error(
        "the compiled form of {program} is refused: {reason}; a compiler newer than the driver does this: \
         update the driver, or name an older NVRTC in MODMILL_NVRTC"
    )]
    Refused {
        /// The program.
        program: String,
        /// The words of the loader.
        reason: String,
    },
    /// A program has no kernel of this name.
    #[error("there is no kernel {name:?}")]
    NoKernel {
        /// The name asked for.
        name: String,
    },
    /// An item that cannot be computed as it was handed over.
    #[error("item {item}: {reason}")]
    Item {
        /// Its number.
        item: usize,
        /// The fault in the item.
        reason: String,
    },
    /// Numbers longer than kernels take.
    #[error("{what} has {bits} bits; the limit is {limit}")]
    TooLong {
        /// The name of the numbers.
        what: &'static str,
        /// Their bits.
        bits: usize,
        /// The most there may be.
        limit: usize,
    },
    /// A count or a length that kernels, which have 32 bits for it, cannot take.
    #[error("kernels count to {}, not to {number}; make batches smaller or numbers shorter", u32::MAX)]
    TooMany {
        /// The count or length.
        number: usize,
    },
    /// Bytes outside of a buffer.
    #[error("bytes {start} to {end} are outside of a buffer of {bytes} bytes")]
    OutOfRange {
        /// First byte.
        start: usize,
        /// One behind the last byte.
        end: usize,
        /// Bytes there are.
        bytes: usize,
    },
    /// A watch stopped the batch.
    #[error("the batch was stopped")]
    Interrupted,
    /// A call that failed for another reason; the device can still be used.
    #[error("{call} failed: {reason}")]
    Call {
        /// The function called.
        call: &'static str,
        /// The words of the driver, or a reason of this crate.
        reason: String,
    },
}

impl From<Error> for modmill_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::OutOfMemory { wanted } => Self::OutOfMemory { what: "device memory", bytes: wanted },
            Error::Interrupted => Self::Interrupted,
            other => Self::Device(other.to_string()),
        }
    }
}
