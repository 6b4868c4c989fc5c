//! How much of a matrix is on its way to a device at a time.

use super::shape::MatrixShape;
use super::units::{SECTION_MULTIPLE, SECTION_ROWS};

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
