//! The shape of a matrix on a device.

use super::units::{SECTION_MULTIPLE, UNIT_BYTES};
use modmill_core::{MatrixSource, ResidueModuli};

/// Rows, columns and moduli of a matrix.
#[derive(Clone)]
pub(super) struct MatrixShape {
    pub(super) moduli: ResidueModuli,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl MatrixShape {
    pub(super) fn of(source: &dyn MatrixSource) -> Self {
        Self { moduli: source.moduli().clone(), rows: source.rows(), columns: source.columns() }
    }

    /// Words of a row as the host has it.
    pub(super) fn row_words(&self) -> usize {
        self.columns * self.moduli.len()
    }

    /// Groups of 16 columns, of one modulus.
    pub(super) fn groups(&self) -> usize {
        self.columns.div_ceil(16)
    }

    /// Units of a group for `rows` rows.
    pub(super) fn steps(rows: usize) -> usize {
        rows.next_multiple_of(SECTION_MULTIPLE) / 32
    }

    /// Bytes of `rows` rows in units.
    pub(super) fn unit_bytes(&self, rows: usize) -> usize {
        (self.groups() * self.moduli.len()).saturating_mul(Self::steps(rows)).saturating_mul(UNIT_BYTES)
    }
}
