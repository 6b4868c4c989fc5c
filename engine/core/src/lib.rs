//! The foundation of modmill: batches of numbers, moduli, radix conversion, exponent windows, the
//! vocabulary of plans, typed errors, and a slow reference that shares no code with the fast paths.
#![forbid(unsafe_code)]

pub mod batch;
mod blocks;
mod call;
pub mod error;
mod exponent;
pub mod goldilocks;
pub mod hex;
#[cfg(any(feature = "num-bigint", feature = "crypto-bigint"))]
mod interop;
mod items;
pub mod job;
pub mod limbs;
pub mod mask;
pub mod matrix;
pub mod modulus;
mod names;
pub mod operand;
pub mod plan;
pub mod radix;
mod recorder;
pub mod reference;
mod request;
mod resident;
pub mod rns;
mod spare;
mod step;
mod storage;
mod sums;
pub mod sync;
pub mod transform;
mod vector;
mod watch;
pub mod window;

pub use batch::{Batch, BatchView};
pub use blocks::{Blocks, CrtModulus, CrtPowers, PerItem, PublicPowers};
pub use call::{Answers, Call, ColumnProducts, Divisors, FixedPowers, Inverses, MultiPowers, Quotients};
pub use error::{Error, ItemError, ItemErrorKind, Partial};
pub use exponent::{Exponent, ExponentList, Public};
pub use items::Items;
pub use job::{Job, Product};
pub use matrix::{
    BitVectors, FileRows, MatrixFactors, MatrixSource, MemoryRows, ResidueModuli, ResidueVectors, SeededRows,
};
pub use modulus::Modulus;
pub use names::{Backend, Family, Isa, Op, Path};
pub use operand::{Moduli, Operand};
pub use plan::{Alternative, Plan, Recipe, Seconds};
pub use recorder::{Execution, Recorder};
pub use request::{Exponents, Location, ModuliForm, Request, Secrecy};
pub use resident::{DeviceAddress, DeviceMemory, Resident, ResidentModuli, ResidentView};
pub use spare::Spare;
pub use step::{Step, StepKind};
pub use storage::LimbMemory;
pub use sums::Sums;
pub use vector::try_vector;
pub use watch::{Watch, watched};

/// The longest number that quadratic algorithms take, in bits.
///
/// The lazy column sums of the vector kernels are proven up to this length, and each kernel asserts
/// it. Quadratic products are the wrong algorithm above it: longer numbers go by transforms.
pub const KERNEL_MAX_BITS: usize = 32_768;

/// The longest number that operations by transforms take, in bits.
///
/// Every field of the transforms has roots of unity for products of two numbers of this length.
pub const TRANSFORM_MAX_BITS: usize = 1 << 34;
