//! The structures that the kernels take.
#![allow(unsafe_code)] // promises the layout of structures

use super::shape::MatrixShape;
use super::units::UNIT_BYTES;
use crate::device::{Buffer, KernelArguments, assert_layout};
use modmill_core::matrix::WordModulus;
use std::ops::Range;

/// `WordModulus` of `residue_words.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct ModulusWords {
    modulus: u32,
    last: u32,
    factor: u64,
}

assert_layout!(ModulusWords: 16 bytes, modulus at 0, last at 4, factor at 8);

impl ModulusWords {
    pub(super) fn of(modulus: WordModulus) -> Self {
        Self { modulus: modulus.get(), last: modulus.last_uniform(), factor: modulus.factor() }
    }

    /// The structure as it lies in memory.
    pub(super) fn limbs(self) -> [u64; 2] {
        [u64::from(self.last) << 32 | u64::from(self.modulus), self.factor]
    }
}

/// `LayoutCall` of `residue_matrix.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LayoutCall {
    plain: u64,
    pub(super) units: u64,
    moduli: u64,
    first_block: u64,
    rows: u32,
    columns: u32,
    pub(super) count: u32,
    pub(super) groups: u32,
    steps: u32,
    first_step: u32,
    written_steps: u32,
    seed: [u32; 8],
    unused: u32,
}

assert_layout!(LayoutCall: 96 bytes, plain at 0, units at 8, moduli at 16, first_block at 24, rows at 32, columns at 36, count at 40, groups at 44, steps at 48, first_step at 52, written_steps at 56, seed at 60);

// SAFETY: a plain structure of integers, laid out as the kernels' own.
unsafe impl KernelArguments for LayoutCall {}

impl LayoutCall {
    /// Writes rows of the matrix to units, from their first on.
    pub(super) fn new(shape: &MatrixShape, moduli: &Buffer, units: &Buffer, rows: Range<usize>) -> Self {
        let steps = MatrixShape::steps(rows.len()) as u32;
        Self {
            units: units.address(),
            moduli: moduli.address(),
            first_block: (rows.start * shape.moduli.len()) as u64 * shape.groups() as u64,
            rows: rows.len() as u32,
            columns: shape.columns as u32,
            count: shape.moduli.len() as u32,
            groups: shape.groups() as u32,
            steps,
            written_steps: steps,
            ..Self::default()
        }
    }

    /// This call with a seed, from which the matrix is expanded.
    pub(super) fn seeded(mut self, seed: &[u8; 32]) -> Self {
        for (word, bytes) in self.seed.iter_mut().zip(seed.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        self
    }

    /// `rows` rows as the host has them, which are those of the units from row `first` on, a multiple of 64.
    pub(super) fn piece(mut self, plain: &Buffer, first: usize, rows: usize) -> Self {
        self.plain = plain.address();
        self.rows = rows as u32;
        self.first_step = (first / 32) as u32;
        self.written_steps = MatrixShape::steps(rows) as u32;
        self
    }

    /// Units that are written.
    pub(super) fn written_units(&self) -> u64 {
        u64::from(self.count) * u64::from(self.groups) * u64::from(self.written_steps)
    }

    /// Bytes of the matrix's units, of which some are written.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.count) * u64::from(self.groups) * u64::from(self.steps) * UNIT_BYTES as u64
    }
}

/// `VectorCall` of `residue_matrix.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct VectorCall {
    pub(super) units: u64,
    pub(super) vector: u64,
    pub(super) answers: u64,
    pub(super) moduli: u64,
    pub(super) columns: u32,
    pub(super) groups: u32,
    pub(super) steps: u32,
    pub(super) vector_stride: u32,
}

assert_layout!(VectorCall: 48 bytes, units at 0, vector at 8, answers at 16, moduli at 24, columns at 32, groups at 36, steps at 40, vector_stride at 44);

// SAFETY: as above.
unsafe impl KernelArguments for VectorCall {}

/// `FactorsCall` of `residue_product.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct FactorsCall {
    pub(super) vectors: u64,
    pub(super) units: u64,
    pub(super) vectors_count: u32,
    pub(super) stride: u32,
    pub(super) first_row: u32,
    pub(super) rows: u32,
    pub(super) count: u32,
    pub(super) groups: u32,
    pub(super) steps: u32,
    pub(super) unused: u32,
}

assert_layout!(FactorsCall: 48 bytes, vectors at 0, units at 8, vectors_count at 16, stride at 20, first_row at 24, rows at 28, count at 32, groups at 36, steps at 40);

// SAFETY: as above.
unsafe impl KernelArguments for FactorsCall {}

/// `ProductCall` of `residue_product.cuh`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct ProductCall {
    pub(super) units: u64,
    pub(super) factors: u64,
    pub(super) answers: u64,
    pub(super) moduli: u64,
    pub(super) vectors_count: u32,
    pub(super) columns: u32,
    pub(super) count: u32,
    pub(super) groups: u32,
    pub(super) factor_groups: u32,
    pub(super) steps: u32,
}

assert_layout!(ProductCall: 56 bytes, units at 0, factors at 8, answers at 16, moduli at 24, vectors_count at 32, columns at 36, count at 40, groups at 44, factor_groups at 48, steps at 52);

// SAFETY: as above.
unsafe impl KernelArguments for ProductCall {}
