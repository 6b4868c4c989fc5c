//! Batch modular arithmetic on big integers.
//!
//! ```
//! use modmill::{Batch, Engine};
//!
//! let engine = Engine::new()?;
//! let bases = Batch::from_hex(["3", "0x10001", "deadbeef"])?;
//! let exponents = Batch::from_hex(["ffff", "2", "0"])?;
//! let moduli = Batch::from_hex(["fffffffb", "1000", "7"])?; // odd or even, any lengths
//! let powers = engine.pow(&bases, &exponents, &moduli)?;
//! assert_eq!(powers.to_hex(1), "1");
//! println!("{}", engine.ask().pow(&bases, &exponents, &moduli)?);
//! # Ok::<(), modmill::Error>(())
//! ```
//!
//! Every operation takes operands per item or shared by all items ([`Operand`], [`Moduli`]), and answers in
//! order. Moduli may be odd or even, of any length from 1 bit to [`TRANSFORM_MAX_BITS`]; bases need not be
//! reduced. Items that have no answer are named in the error, which still carries the answers of all others
//! ([`Error::Items`]).
//!
//! The feature `cuda`, which is on by default, brings the GPUs. Without it the crate depends on far fewer
//! others. An engine then finds no GPU and computes on the CPU alone; everything else is the same.
#![forbid(unsafe_code)]

mod backends;
mod callers;
mod column;
mod column_sums;
mod compute;
mod config;
mod division;
mod engine;
mod even;
mod fixed_base;
mod gcd;
#[cfg(not(feature = "cuda"))]
mod gpu;
pub mod hazmat;
mod host_memory;
pub mod integers;
mod inverse;
mod jacobi;
mod joined;
mod modular;
mod modular_sums;
mod multi_pow;
mod near;
pub mod number;
mod pinned;
mod place;
mod prepared;
pub mod primality;
mod products;
pub mod random;
mod resident;
mod residue_matrix;
mod residues;
mod sort;
mod steps;
mod stream;
pub mod threads;
pub mod trees;
pub mod warm;
mod watched;

#[cfg(feature = "cuda")]
use modmill_cuda as gpu;

pub use config::EngineBuilder;
pub use engine::{Engine, Host, limited_to, only_backend};
pub use fixed_base::FixedBase;
pub use gcd::Xgcd;
pub use jacobi::Jacobi;
pub use modmill_core::{
    Alternative, Backend, Batch, BatchView, DeviceAddress, Error, Exponent, ExponentList, Exponents, Family,
    Isa, ItemError, ItemErrorKind, KERNEL_MAX_BITS, Location, Moduli, ModuliForm, Modulus, Op, Operand,
    Partial, Path, Plan, Public, Request, Resident, ResidentModuli, ResidentView, Seconds, Secrecy,
    TRANSFORM_MAX_BITS, Watch, hex,
};
pub use modmill_cpu::MAX_THREADS;
pub use place::{Ask, Device, Holds, Place, To};
pub use prepared::Prepared;
pub use resident::DeviceMemoryUse;
pub use residues::Residues;
pub use stream::{Formula, OfEngine, Rows, Stream};

/// Settings and devices of the CUDA backend.
pub mod cuda {
    pub use crate::engine::kernel_seconds;
    pub use crate::gpu::{Device, Error, Gpus, Properties, Settings};
}

/// Matrices of long integers in residues, by vectors of bits or of residues.
pub mod matrix {
    pub use crate::residue_matrix::{Placement, ResidueMatrix};
    pub use modmill_core::matrix::{
        BitVectors, FileRows, MatrixFactors, MatrixSource, MemoryRows, ResidueModuli, ResidueVectors,
        SeededRows,
    };
}

/// Memory of long columns: vectors that say so when memory runs out, and those that are used again.
pub mod memory {
    pub use modmill_core::{Spare, try_vector};
}

/// Records of what an engine has executed, for tests that hold it against plans.
pub mod recorder {
    pub use modmill_core::{Execution, Recorder};
}

/// Sums of products of long numbers, which are reduced once.
pub mod sums {
    pub use crate::modular_sums::{ModularSums, SumFactors};
    pub use modmill_core::Sums;
}
