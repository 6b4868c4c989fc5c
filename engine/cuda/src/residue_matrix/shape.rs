//! The shape of a matrix on a device, its units, and the sizes of its sections.

use modmill_core::{MatrixSource, ResidueModuli};

/// Bytes of a unit: 16 columns by 32 rows.
pub(super) const UNIT_BYTES: usize = 2048;

/// The rows of a section are a multiple of this, but for the last: what the products read at a time.
pub(super) const SECTION_MULTIPLE: usize = 64;

/// The most rows of a launch. Sums of products of bytes are below `255^2 2^15 < 2^31`, and so exact.
pub(super) const SECTION_ROWS: usize = 1 << 15;

const _: () = assert!(255 * 255 * SECTION_ROWS < 1 << 31 && SECTION_ROWS.is_multiple_of(SECTION_MULTIPLE));

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

/// The sizes of what is on its way at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionSizes {
    /// Bytes of a section that is copied. There are two in pinned memory and two on the device.
    pub copied: usize,
    /// Bytes of a section that a device expands from a seed. There are two on the device.
    pub expanded: usize,
    /// Bytes of vectors that are copied at a time from and to the host. There are three times as many in
    /// pinned memory.
    pub vectors: usize,
}

impl Default for SectionSizes {
    fn default() -> Self {
        Self { copied: 128 << 20, expanded: 2 << 30, vectors: 16 << 20 }
    }
}

impl SectionSizes {
    /// The most rows of a section: a multiple of 64, and no more than a launch takes.
    pub(super) fn rows(&self, shape: &MatrixShape, is_expanded: bool) -> usize {
        let bytes = if is_expanded { self.expanded } else { self.copied };
        let rows = bytes / (4 * shape.row_words());
        let most = shape.rows.next_multiple_of(SECTION_MULTIPLE).min(SECTION_ROWS);
        (rows / SECTION_MULTIPLE * SECTION_MULTIPLE).clamp(SECTION_MULTIPLE, most)
    }
}
