//! The structures that the kernels take.

use super::shape::{MatrixShape, UNIT_BYTES};
use crate::device::{Buffer, kernel_structs};
use modmill_core::matrix::WordModulus;
use std::ops::Range;

kernel_structs! {
    /// `WordModulus` of `residue_words.cuh`.
    pub(super) struct ModulusWords: 16 bytes {
        modulus at 0: u32,
        last at 4: u32,
        factor at 8: u64,
    }
}

impl ModulusWords {
    pub(super) fn of(modulus: WordModulus) -> Self {
        Self { modulus: modulus.get(), last: modulus.last_uniform(), factor: modulus.factor() }
    }

    /// The structure as it lies in memory.
    pub(super) fn limbs(self) -> [u64; 2] {
        [u64::from(self.last) << 32 | u64::from(self.modulus), self.factor]
    }
}

kernel_structs! {
    /// `LayoutCall` of `residue_matrix.cuh`.
    pub(super) struct LayoutCall: 96 bytes {
        plain at 0: u64,
        units at 8: u64,
        moduli at 16: u64,
        first_block at 24: u64,
        rows at 32: u32,
        columns at 36: u32,
        count at 40: u32,
        groups at 44: u32,
        steps at 48: u32,
        first_step at 52: u32,
        written_steps at 56: u32,
        seed at 60: [u32; 8],
        unused at 92: u32,
    }
}

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

kernel_structs! {
    /// `VectorCall` of `residue_matrix.cuh`.
    pub(super) struct VectorCall: 48 bytes {
        units at 0: u64,
        vector at 8: u64,
        answers at 16: u64,
        moduli at 24: u64,
        columns at 32: u32,
        groups at 36: u32,
        steps at 40: u32,
        vector_stride at 44: u32,
    }

    /// `FactorsCall` of `residue_product.cuh`.
    pub(super) struct FactorsCall: 48 bytes {
        vectors at 0: u64,
        units at 8: u64,
        vectors_count at 16: u32,
        stride at 20: u32,
        first_row at 24: u32,
        rows at 28: u32,
        count at 32: u32,
        groups at 36: u32,
        steps at 40: u32,
        unused at 44: u32,
    }

    /// `ProductCall` of `residue_product.cuh`.
    pub(super) struct ProductCall: 56 bytes {
        units at 0: u64,
        factors at 8: u64,
        answers at 16: u64,
        moduli at 24: u64,
        vectors_count at 32: u32,
        columns at 36: u32,
        count at 40: u32,
        groups at 44: u32,
        factor_groups at 48: u32,
        steps at 52: u32,
    }
}
