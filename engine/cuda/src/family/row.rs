//! The family `row`: 32-bit words in the registers of one thread, or of a group that exchanges them by
//! shuffles.

use super::layout::{KernelSet, Layout, Size};

/// Words of a thread, at most: more than these do not stay in registers.
const MAX_PART: u32 = 48;

/// The kernels for numbers of a size, if there are any in this layout.
pub(super) fn kernels(size: Size, layout: &Layout) -> Option<KernelSet> {
    let part = size.words / layout.threads;
    let fits = size.words.is_multiple_of(2 * layout.threads) && part <= MAX_PART;
    (fits && layout.cut.is_none()).then(|| KernelSet {
        radix_bits: 32 * size.words,
        input_bits: size.bits() as usize,
        entry_bytes: 16 * part.div_ceil(4) as usize,
        ..KernelSet::default()
    })
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
