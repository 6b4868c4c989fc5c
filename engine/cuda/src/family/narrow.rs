//! The family `narrow`: 22- or 23-bit samples in doubles, whose products are exact, held by a group of
//! threads.

use super::layout::{KernelSet, Layout, Size};
use super::samples::Samples;

/// Samples of a number, at most: a column sum of this many products of 22-bit samples fits a double.
const MAX_SAMPLES: u32 = 255;

/// Samples of 23 bits of a number, at most, for the same reason.
const MAX_LONG_SAMPLES: u32 = 63;

pub(super) struct Narrow {
    size: Size,
    block: u32,
    samples: Samples,
}

impl Narrow {
    pub(super) fn new(size: Size, layout: &Layout) -> Option<Self> {
        let &Layout { threads, block, .. } = layout;
        let samples = samples(size, threads);
        let fits = samples.of_thread <= 32
            && (threads == 1 || samples.of_thread >= 3)
            && samples.count <= MAX_SAMPLES
            && layout.cut.is_none();
        fits.then_some(Self { size, block, samples })
    }

    /// The layouts worth measuring with `threads` threads to a number.
    pub(super) fn layouts(size: Size, threads: u32) -> Vec<Layout> {
        samples(size, threads).layouts(threads)
    }
}

/// The longest samples whose column sums fit.
fn samples(size: Size, threads: u32) -> Samples {
    let long = Samples::new(size, threads, 23);
    if long.count <= MAX_LONG_SAMPLES { long } else { Samples::new(size, threads, 22) }
}

impl KernelSet for Narrow {
    fn radix_bits(&self) -> u32 {
        self.samples.radix_bits()
    }

    fn input_bits(&self) -> usize {
        32 * self.size.words as usize
    }

    fn entry_bytes(&self) -> usize {
        16 * self.samples.of_thread.div_ceil(4) as usize
    }

    fn shared_bytes(&self) -> u32 {
        8 * self.samples.of_thread * self.block
    }

    fn defines(&self) -> Vec<(&'static str, u32)> {
        vec![("DIGITS", self.samples.of_thread), ("SAMPLE_BITS", self.samples.bits)]
    }
}
