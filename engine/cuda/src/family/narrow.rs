//! The family `narrow`: 22- or 23-bit samples in doubles, whose products are exact, held by a group of
//! threads.

use super::layout::{KernelSet, Layout, Size};
use super::samples::Samples;

/// Samples of a number, at most: a column sum of this many products of 22-bit samples fits a double.
const MAX_SAMPLES: u32 = 255;

/// Samples of 23 bits of a number, at most, for the same reason.
const MAX_LONG_SAMPLES: u32 = 63;

/// The kernels for numbers of a size, if there are any in this layout.
pub(super) fn kernels(size: Size, layout: &Layout) -> Option<KernelSet> {
    let &Layout { threads, block, .. } = layout;
    let samples = samples(size, threads);
    let fits = samples.of_thread <= 32
        && (threads == 1 || samples.of_thread >= 3)
        && samples.count <= MAX_SAMPLES
        && layout.cut.is_none();
    fits.then(|| KernelSet {
        radix_bits: samples.radix_bits(),
        input_bits: 32 * size.words as usize,
        entry_bytes: 16 * samples.of_thread.div_ceil(4) as usize,
        shared_bytes: 8 * samples.of_thread * block,
        defines: vec![("DIGITS", samples.of_thread), ("SAMPLE_BITS", samples.bits)],
    })
}

/// The longest samples whose column sums fit, with `threads` threads to a number.
pub(super) fn samples(size: Size, threads: u32) -> Samples {
    let long = Samples::new(size, threads, 23);
    if long.count <= MAX_LONG_SAMPLES { long } else { Samples::new(size, threads, 22) }
}
