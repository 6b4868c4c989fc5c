//! How numbers are spread over the threads of a device, and what every family says about it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How numbers are spread over the threads of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Layout {
    /// Threads that hold a number together.
    pub threads: u32,
    /// Threads of a block.
    pub block: u32,
    /// Blocks that a multiprocessor is to hold at once. It limits the registers of a thread.
    pub resident: u32,
    /// How numbers or matrices are cut up, in the families that have a choice.
    #[serde(flatten)]
    pub cut: Option<Cut>,
}

/// How a family cuts up its numbers or matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// The words of a block of a number, in the two-pass family.
    Tile(u32),
    /// The chunks of the matrix to base B and of the matrix to base A, in the residue family.
    Chunks(u32, u32),
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tile(words) => write!(f, "{words}"),
            Self::Chunks(to_b, to_a) => write!(f, "{to_b}+{to_a}"),
        }
    }
}

/// The numbers that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// 32-bit words of a number.
    pub words: u32,
    /// Whether moduli have at least two bits less than the words hold.
    pub room: bool,
}

impl Size {
    /// Bits of the longest modulus.
    pub(crate) fn bits(self) -> u32 {
        32 * self.words - if self.room { 2 } else { 0 }
    }
}

/// The memory in which kernels keep the data that may or may not fit shared memory. It is decided once, by
/// the limits of the device that the kernels are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// The family has no choice.
    Fixed,
    /// Two-pass: how many of a number's three arrays are in the thread's table in global memory. The others
    /// are in shared memory.
    InTable(u32),
    /// Residues: both matrices are in shared memory.
    Shared,
    /// Residues: the matrices are streamed through a ring of stages in this many bytes of shared memory.
    Ring(u32),
    /// Residues: the matrices are read from global memory.
    Global,
}

/// The properties of one set of a family's kernels: numbers of one size in one layout.
#[derive(Debug, Default)]
pub(crate) struct KernelSet {
    /// log2 of the Montgomery radix R.
    pub(crate) radix_bits: u32,
    /// Bits of the longest integers that kernels take as they are. Longer ones are reduced first.
    pub(crate) input_bits: usize,
    /// Bytes of a table entry that a thread keeps.
    pub(crate) entry_bytes: usize,
    /// Bytes of shared memory of a block.
    pub(crate) shared_bytes: u32,
    /// The macros that only this family's sources know.
    pub(crate) defines: Vec<(&'static str, u32)>,
}
