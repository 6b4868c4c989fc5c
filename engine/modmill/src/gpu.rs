//! The part of `modmill-cuda` that this crate uses, for builds without the feature `cuda`.
//!
//! No value of [`Cuda`] or [`Device`] exists here, so that no method of them ever runs. The compiler checks
//! the calls and leaves them out.

use modmill_core::matrix::Progress;
use modmill_core::{
    Alternative, Answers, Batch, BatchView, Call, Family, LimbMemory, MatrixFactors, MatrixSource,
    MemoryRows, Modulus, Operand, Plan, Recorder, Request, Resident, ResidentView, ResidueVectors, Sums,
};
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Results of devices.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// An error of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is no GPU that this build could use.
    NoDevice,
    /// Not enough memory.
    OutOfMemory {
        /// Bytes asked for.
        wanted: usize,
    },
    /// A watch stopped the batch.
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice => f.write_str("no GPU can be used: modmill was built without the feature `cuda`"),
            Self::OutOfMemory { wanted } => write!(f, "out of memory: {wanted} bytes do not fit"),
            Self::Interrupted => f.write_str("the batch was stopped"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for modmill_core::Error {
    fn from(error: Error) -> Self {
        Self::Device(error.to_string())
    }
}

/// Settings of GPUs.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The only family of algorithms to use.
    pub family: Option<Family>,
    /// Whether the addresses of table reads may depend on secret exponents.
    pub direct_tables: bool,
    /// Whether GPUs were asked for.
    pub asked_for: bool,
}

/// The GPUs of a machine.
#[derive(Debug)]
pub struct Gpus {
    /// The GPUs that can be used.
    pub devices: Vec<Device>,
    /// Why other GPUs cannot be used.
    pub failed: Vec<Error>,
}

/// The properties of a device.
#[derive(Debug, Clone)]
pub struct Properties {
    /// Its name.
    pub name: String,
    /// Its number among the devices that the driver sees.
    pub ordinal: u32,
    /// The version of CUDA that the driver is for.
    pub driver: String,
    /// Whether it is an emulated device.
    pub emulated: bool,
    /// Bytes of second-level cache.
    pub l2_bytes: u32,
    /// Bytes of memory.
    pub memory_bytes: usize,
}

/// A GPU.
#[derive(Debug, Clone)]
pub enum Device {}

/// All GPUs of an engine.
pub enum Cuda {}

/// Numbers that a device holds, and the form in which it holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {}

pub(crate) type DeviceMatrix = Held;
pub(crate) type FixedBase = Held;
pub(crate) type ModularSums = Held;
pub(crate) type MontgomeryForm = Held;
pub(crate) type SumFactors = Held;
pub(crate) type Transformed = Held;

/// Reciprocals for transforms.
pub trait Reciprocals: Send + Sync {
    /// The reciprocal of a divisor.
    fn reciprocal(&self, divisor: &[u64]) -> Zeroizing<Vec<u64>>;
}

/// Bits of a window of a fixed base.
pub(crate) const FIXED_WINDOW: u32 = 6;

/// No family is refused before [`Cuda::open`] says why there are no GPUs.
pub(crate) const FAMILIES: &[Family] = Family::ALL;

impl Device {
    /// Always [`Error::NoDevice`].
    pub fn gpus() -> Result<Gpus> {
        Err(Error::NoDevice)
    }

    /// Always [`Error::NoDevice`].
    pub fn from_environment() -> Result<Gpus> {
        Err(Error::NoDevice)
    }

    /// Its name, driver and memory.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        match *self {}
    }

    /// Bytes that can still be allocated.
    pub fn free_memory(&self) -> Result<usize> {
        match *self {}
    }

    /// Bytes of resident batches.
    #[must_use]
    pub fn resident_bytes(&self) -> usize {
        match *self {}
    }

    /// Bytes that are kept for reuse.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        match *self {}
    }
}

impl Cuda {
    /// Always [`Error::NoDevice`].
    pub(crate) fn open(_: Settings) -> Result<Self> {
        Err(Error::NoDevice)
    }

    /// Always [`Error::NoDevice`]: the list is empty.
    pub(crate) fn try_on(_: Vec<Device>, _: Settings) -> Result<Self> {
        Err(Error::NoDevice)
    }

    pub(crate) fn moved_by(self, _: Arc<rayon::ThreadPool>) -> Self {
        self
    }

    /// These devices with a way to find reciprocals.
    #[must_use]
    pub fn divided_by(self, _: Arc<dyn Reciprocals>) -> Self {
        self
    }

    pub(crate) fn recorded_by(self, _: Arc<Recorder>) -> Self {
        self
    }

    /// The devices.
    pub fn devices(&self) -> impl Iterator<Item = &Device> {
        std::iter::empty()
    }

    /// Faults that stopped nothing.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        match *self {}
    }

    pub(crate) fn warm_by<T>(&self, _: impl FnOnce() -> T) -> T {
        match *self {}
    }
}

/// Defines methods of a type without values.
macro_rules! never_run {
    ($type:ident: $($name:ident($($argument:ty),*) -> $answer:ty;)+) => {
        impl $type {
            $(pub(crate) fn $name(&self $(, _: $argument)*) -> $answer {
                match *self {}
            })+
        }
    };
}

never_run! { Device:
    pinned_limbs(usize) -> Result<Box<dyn LimbMemory>>;
}

never_run! { Held:
    bytes() -> usize;
    is_on(&Cuda) -> bool;
    is_with(ResidentView<'_>) -> bool;
    len() -> usize;
    radix_bits() -> usize;
}

/// Answers on a device, with the seconds of their kernels.
type Timed = Result<(Resident, f64)>;

never_run! { Cuda:
    families() -> Vec<Family>;
    plan(&Request) -> Option<Plan>;
    alternatives(&Plan) -> Vec<Alternative>;
    variant_of(&Plan) -> Option<Held>;
    warm(&Plan) -> Result<()>;
    warm_rsa(usize, usize) -> Result<bool>;
    run(&Plan, Call<'_>, Answers<'_>) -> Result<f64>;
    reads_table(&Plan) -> bool;
    upload(BatchView<'_>, Option<usize>) -> Result<Resident>;
    join(&[ResidentView<'_>]) -> Result<Resident>;
    holds(ResidentView<'_>) -> bool;
    are_together(ResidentView<'_>, ResidentView<'_>) -> bool;
    transform(&Resident, usize) -> Result<Transformed>;
    multiply_transformed(Operand<'_>, &Transformed) -> Timed;
    montgomery_form(usize, usize) -> Option<MontgomeryForm>;
    montgomery_product(MontgomeryForm, Operand<'_>, Operand<'_>, &Modulus) -> Timed;
    modular_sums(&[u64], usize) -> Result<ModularSums>;
    sum_factors(&ModularSums, Operand<'_>) -> Result<SumFactors>;
    sums_of_products(&ModularSums, &[&SumFactors], &Sums) -> Timed;
    weighted_sums(&ModularSums, Operand<'_>, &[u8]) -> Timed;
    fixed_base(&Batch, u32, &Modulus) -> Result<Option<FixedBase>>;
    hold_matrix(&dyn MatrixSource) -> Result<DeviceMatrix>;
    pin_matrix(&dyn MatrixSource) -> Result<MemoryRows>;
    multiply_held(&DeviceMatrix, MatrixFactors<'_>, &mut ResidueVectors, Progress<'_>) -> Result<f64>;
    multiply_streamed(&dyn MatrixSource, MatrixFactors<'_>, &mut ResidueVectors, Progress<'_>) -> Result<f64>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Engine, Family};

    #[test]
    fn an_engine_finds_no_gpus_and_says_why() {
        assert_eq!(Device::gpus().unwrap_err(), Error::NoDevice);
        let engine = Engine::builder().ignore_backend_env().build().unwrap();
        assert!(engine.cuda().is_none() && engine.memory().unwrap().is_empty());
        assert_eq!(engine.faults(), [Error::NoDevice.to_string()]);
    }

    #[test]
    fn gpus_that_are_asked_for_are_an_error() {
        let asked = || Engine::builder().backend(Backend::Cuda);
        for builder in [asked(), asked().family(Family::Row), asked().devices(Vec::new())] {
            match builder.build() {
                Err(modmill_core::Error::Unavailable(text)) => {
                    assert!(text.contains("feature `cuda`"), "{text}")
                }
                other => panic!("{:?}", other.map(|engine| engine.paths())),
            }
        }
    }
}
