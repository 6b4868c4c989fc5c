//! Units of a matrix on a device, and the rows of its sections.

/// Bytes of a unit: 16 columns by 32 rows.
pub(super) const UNIT_BYTES: usize = 2048;

/// The rows of a section are a multiple of this, but for the last: what the products read at a time.
pub(super) const SECTION_MULTIPLE: usize = 64;

/// The most rows of a launch. Sums of products of bytes are below `255^2 2^15 < 2^31`, and so exact.
pub(super) const SECTION_ROWS: usize = 1 << 15;

const _: () = assert!(255 * 255 * SECTION_ROWS < 1 << 31 && SECTION_ROWS.is_multiple_of(SECTION_MULTIPLE));
