//! The family `row`: 32-bit words in the registers of one thread, or of a group that exchanges them by
//! shuffles.

use super::layout::{KernelSet, Layout, Size};

/// Numbers of some words, spread over `threads` threads.
pub(super) struct Row {
    size: Size,
    threads: u32,
}

/// Words of a thread, at most: more than these do not stay in registers.
const MAX_PART: u32 = 48;

impl Row {
    pub(super) fn new(size: Size, layout: &Layout) -> Option<Self> {
        let threads = layout.threads;
        let fits = size.words.is_multiple_of(2 * threads) && size.words / threads <= MAX_PART;
        (fits && layout.cut.is_none()).then_some(Self { size, threads })
    }

    /// The layouts worth measuring with `threads` threads to a number.
    pub(super) fn layouts(words: u32, threads: u32) -> Vec<Layout> {
        let part = words / threads;
        // A group has to have something to do between its exchanges.
        if threads > 1 && part < 4 {
            return Vec::new();
        }
        let blocks: &[(u32, u32)] = match part {
            ..=4 => &[(256, 6), (128, 8)],
            5..=8 => &[(256, 4), (128, 7)],
            9..=12 => &[(128, 6)],
            13..=16 => &[(128, 5), (128, 4)],
            17..=32 => &[(128, 3)],
            _ => &[(128, 2)],
        };
        blocks.iter().map(|&(block, resident)| Layout { threads, block, resident, cut: None }).collect()
    }
}

impl KernelSet for Row {
    fn radix_bits(&self) -> u32 {
        32 * self.size.words
    }

    fn input_bits(&self) -> usize {
        self.size.bits() as usize
    }

    fn entry_bytes(&self) -> usize {
        16 * (self.size.words / self.threads).div_ceil(4) as usize
    }

    fn shared_bytes(&self) -> u32 {
        0
    }

    fn defines(&self) -> Vec<(&'static str, u32)> {
        Vec::new()
    }
}
