//! The lengths of keys.

/// The length of the shortest n, in bits. Keys of fewer than 2048 bits do not protect data for long.
pub const MIN_BITS: usize = 1024;

/// The length of the longest n, in bits.
pub const MAX_BITS: usize = 8192;
