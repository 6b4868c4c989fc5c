//! Numbers as samples in doubles, which the families `wide` and `narrow` share.

use super::layout::{Layout, Size};

/// The samples of a number, spread over a group of threads.
#[derive(Clone, Copy)]
pub(super) struct Samples {
    /// Bits of a sample.
    pub(super) bits: u32,
    /// Samples of a number. R is at least four times what its words hold.
    pub(super) count: u32,
    /// Samples of a thread.
    pub(super) of_thread: u32,
}

/// Bits of R above those of the words, at least.
const ROOM_BITS: u32 = 2;

impl Samples {
    pub(super) fn new(size: Size, threads: u32, bits: u32) -> Self {
        let count = (32 * size.words + ROOM_BITS).div_ceil(bits);
        Self { bits, count, of_thread: count.div_ceil(threads) }
    }

    pub(super) fn radix_bits(&self) -> u32 {
        self.bits * self.count
    }

    /// The layouts worth measuring with `threads` threads to a number.
    pub(super) fn layouts(&self, threads: u32) -> Vec<Layout> {
        // A group has to have something to do between its exchanges.
        if threads > 1 && self.of_thread < 4 {
            return Vec::new();
        }
        let (block, resident) = match self.of_thread {
            ..=5 => (128, 8),
            6..=10 => (128, 5),
            11..=15 => (128, 4),
            16..=24 => (128, 3),
            _ => (128, 2),
        };
        vec![Layout { threads, block, resident, cut: None }]
    }
}
