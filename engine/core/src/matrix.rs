//! Matrices of long integers in residues: the types that the backends share.
//!
//! An element is an integer modulo `M = m_0 m_1 ... m_(k-1)`, held as its residues modulo the k odd moduli of
//! 32 bits. All products are computed residue by residue, without carries; only [`ResidueModuli::compose`]
//! makes integers again.

mod bits;
mod compose;
mod factors;
mod moduli;
mod seeded;
mod source;
mod vectors;
mod word;

pub use bits::BitVectors;
pub use factors::MatrixFactors;
pub use moduli::{MAX_MODULI, ResidueModuli};
pub use seeded::{GROUP_WORDS, SeededRows};
pub use source::{FileRows, MatrixSource, MemoryRows, check_shape, rows_length};
pub use vectors::ResidueVectors;
pub use word::WordModulus;

/// Told after each section of a matrix: the rows that are done, and all rows.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);
