//! What everything else in modmill stands on: batches of numbers, moduli, radix conversion,
//! exponent windows, the vocabulary of plans, typed errors, and a slow reference that shares no
//! code with the fast paths.
#![forbid(unsafe_code)]

pub mod batch;
pub mod blocks;
pub mod error;
pub mod goldilocks;
pub mod hex;
#[cfg(any(feature = "num-bigint", feature = "crypto-bigint"))]
mod interop;
pub mod job;
pub mod limbs;
pub mod mask;
pub mod modulus;
pub mod operand;
pub mod plan;
pub mod radix;
pub mod reference;
pub mod rns;
pub mod transform;
pub mod window;

pub use batch::{Batch, BatchView};
pub use blocks::{Blocks, CrtJob, CrtKey, PerItem, PublicJob};
pub use error::{Error, ItemError, ItemErrorKind, Partial};
pub use job::Job;
pub use modulus::Modulus;
pub use operand::{Moduli, Operand};
pub use plan::{Backend, Family, Isa, Op, Path, Plan};

/// The longest number that quadratic algorithms take, in bits.
///
/// The lazy column sums of the vector kernels are proven up to this size (each kernel asserts
/// it), and above it quadratic products are the wrong algorithm: longer numbers go by transforms.
pub const MAX_BITS: usize = 32_768;

/// The longest number that operations by transforms take, in bits: products, squares, and products,
/// squares and powers modulo N. Transforms of twice this length have roots of unity in every field.
pub const HUGE_BITS: usize = 1 << 34;
