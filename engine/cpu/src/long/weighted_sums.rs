//! Sums of long numbers with small weights.
//!
//! Carries are resolved once, at the end of a sum. Until then the halves of each limb are added up in words
//! of their own. Weights may be secret: every number is read, whatever its weight.

use super::memory::zeros_with_room;
use modmill_core::BatchView;

/// The most numbers of a sum: `2^24` products of a weight below `2^8` and half a limb are below `2^64`.
pub(super) const MOST_NUMBERS: usize = 1 << 24;

/// The number of limbs of each number that are added at a time, for many sums and for few. For many, those of
/// all numbers are copied side by side: a few thousand times 32 limbs stay in the second-level cache. For
/// few, long stretches are read.
const TILES: [usize; 2] = [32, 512];

/// The number of sums from which the copy pays.
const MANY: usize = 8;

/// The number of numbers that are added in one pass over the sums.
const TOGETHER: usize = 4;

/// Adds the low and the high halves of the words of some numbers.
#[inline(always)]
fn add_together(low: &mut [u64], high: &mut [u64], words: [&[u64]; TOGETHER], weights: [u8; TOGETHER]) {
    let len = low.len();
    let (high, words) = (&mut high[..len], words.map(|words| &words[..len]));
    for place in 0..len {
        let (mut low_sum, mut high_sum) = (low[place], high[place]);
        for index in 0..TOGETHER {
            let word = words[index][place];
            // Nothing overflows; a check would keep the loop from vector instructions.
            low_sum = low_sum.wrapping_add(u64::from(word as u32).wrapping_mul(u64::from(weights[index])));
            high_sum = high_sum.wrapping_add((word >> 32).wrapping_mul(u64::from(weights[index])));
        }
        (low[place], high[place]) = (low_sum, high_sum);
    }
}

/// Calls `done` with the index of each sum and its limbs: one more than the numbers have. `weights` has a
/// byte for each number for each sum. Inlined, so that it is compiled for the instruction set of the caller.
#[inline(always)]
pub(super) fn add_up(numbers: BatchView<'_>, weights: &[u8], done: impl Fn(usize, &[u64])) {
    let (count, limbs) = (numbers.len().max(1), numbers.bits().div_ceil(64));
    let sums = weights.len() / count;
    let is_copied = sums >= MANY;
    let tile = TILES[usize::from(!is_copied)];
    let tiles = limbs.div_ceil(tile);
    // For each sum and each tile, the sums of low halves, and then those of high halves.
    let mut halves = zeros_with_room(sums * tiles * 2 * tile);
    let mut side_by_side = zeros_with_room(if is_copied { count * tile } else { 0 });
    for (index, first) in (0..limbs).step_by(tile).enumerate() {
        let len = tile.min(limbs - first);
        if is_copied {
            for (copy, number) in side_by_side.chunks_exact_mut(len).zip(numbers.iter()) {
                copy.copy_from_slice(&number[first..first + len]);
            }
        }
        for (sum, weights) in weights.chunks_exact(count).enumerate() {
            let (low, high) = halves[(sum * tiles + index) * 2 * tile..][..2 * tile].split_at_mut(tile);
            let (low, high) = (&mut low[..len], &mut high[..len]);
            for (group, weights) in weights.chunks(TOGETHER).enumerate() {
                // Numbers beyond the last are others, without weight.
                let words: [&[u64]; TOGETHER] = std::array::from_fn(|place| {
                    let number = group * TOGETHER + place.min(weights.len() - 1);
                    match is_copied {
                        true => &side_by_side[number * len..][..len],
                        false => &numbers.get(number)[first..first + len],
                    }
                });
                let weights = std::array::from_fn(|place| weights.get(place).copied().unwrap_or(0));
                add_together(low, high, words, weights);
            }
        }
    }
    let mut whole = zeros_with_room(limbs + 1);
    for (sum, halves) in halves.chunks_exact((tiles * 2 * tile).max(1)).enumerate() {
        let mut carry = 0u128;
        for (limb, out) in whole.iter_mut().enumerate() {
            if limb < limbs {
                let halves = &halves[limb / tile * 2 * tile..][..2 * tile];
                carry += u128::from(halves[limb % tile]) + (u128::from(halves[tile + limb % tile]) << 32);
            }
            *out = carry as u64;
            carry >>= 64;
        }
        done(sum, &whole);
    }
}
