//! The family `wide`: 52-bit samples in doubles, held by one thread or by a group.

use super::layout::{KernelSet, Layout, Size};
use super::samples::Samples;

const SAMPLE_BITS: u32 = 52;

/// Samples of a number, at most: a column sum of this many products fits 64 bits.
const MAX_SAMPLES: u32 = 1000;

/// The kernels for numbers of a size, if there are any in this layout.
pub(super) fn kernels(size: Size, layout: &Layout) -> Option<KernelSet> {
    let &Layout { threads, block, .. } = layout;
    let samples = samples(size, threads);
    let fits = match threads {
        1 => samples.of_thread <= 30,
        _ => (2..=24).contains(&samples.of_thread),
    };
    // A group computes squares by a procedure of their own, which pays from a few samples on.
    let group_squares = threads > 1 && samples.of_thread >= 8;
    let numbers = if group_squares { 3 } else { 1 };
    (fits && samples.count <= MAX_SAMPLES && layout.cut.is_none()).then(|| KernelSet {
        radix_bits: samples.radix_bits(),
        input_bits: 32 * size.words as usize,
        entry_bytes: 16 * samples.of_thread.div_ceil(2) as usize,
        shared_bytes: 8 * numbers * samples.of_thread * block,
        defines: vec![("DIGITS", samples.of_thread), ("GROUP_SQUARES", group_squares.into())],
    })
}

/// The samples of numbers, with `threads` threads to a number.
pub(super) fn samples(size: Size, threads: u32) -> Samples {
    Samples::new(size, threads, SAMPLE_BITS)
}
