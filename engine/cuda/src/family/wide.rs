//! The family `wide`: 52-bit samples in doubles, held by one thread or by a group.

use super::layout::{KernelSet, Layout, Size};
use super::samples::Samples;

const SAMPLE_BITS: u32 = 52;

/// Samples of a number, at most: a column sum of this many products fits 64 bits.
const MAX_SAMPLES: u32 = 1000;

pub(super) struct Wide {
    size: Size,
    threads: u32,
    block: u32,
    samples: Samples,
}

impl Wide {
    pub(super) fn new(size: Size, layout: &Layout) -> Option<Self> {
        let &Layout { threads, block, .. } = layout;
        let samples = Samples::new(size, threads, SAMPLE_BITS);
        let fits = match threads {
            1 => samples.of_thread <= 30,
            _ => (2..=24).contains(&samples.of_thread),
        };
        let fits = fits && samples.count <= MAX_SAMPLES && layout.cut.is_none();
        fits.then_some(Self { size, threads, block, samples })
    }

    /// The layouts worth measuring with `threads` threads to a number.
    pub(super) fn layouts(size: Size, threads: u32) -> Vec<Layout> {
        Samples::new(size, threads, SAMPLE_BITS).layouts(threads)
    }

    /// Whether a group computes squares by a procedure of their own, which pays from a few samples on.
    fn squares_in_groups(&self) -> bool {
        self.threads > 1 && self.samples.of_thread >= 8
    }
}

impl KernelSet for Wide {
    fn radix_bits(&self) -> u32 {
        self.samples.radix_bits()
    }

    fn input_bits(&self) -> usize {
        32 * self.size.words as usize
    }

    fn entry_bytes(&self) -> usize {
        16 * self.samples.of_thread.div_ceil(2) as usize
    }

    fn shared_bytes(&self) -> u32 {
        let numbers = if self.squares_in_groups() { 3 } else { 1 };
        8 * numbers * self.samples.of_thread * self.block
    }

    fn defines(&self) -> Vec<(&'static str, u32)> {
        vec![("DIGITS", self.samples.of_thread), ("GROUP_SQUARES", self.squares_in_groups().into())]
    }
}
