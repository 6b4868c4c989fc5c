//! Sums of long numbers with small weights.
//!
//! Carries are resolved once, at the end of a sum. Until then the halves of each limb are added up in words of their own. Weights
//! may be secret: every number is read, whatever its weight.

use modmill_core::BatchView;
use zeroize::Zeroizing;

/// The most numbers of a sum: `2^24` products of a weight below `2^8` and half a limb are below `2^64`.
pub(super) const MOST_NUMBERS: usize = 1 << 24;

/// The number of limbs of each number that are added at a time. Those of a few thousand numbers stay in the second-level cache.
const TILE: usize = 128;

/// Calls `done` with the index of each sum and its limbs: one more than the numbers have. `weights` has an octet for each number
/// for each sum. Inlined, so that it is compiled for the instruction set of the caller.
#[inline(always)]
pub(super) fn add_up(numbers: BatchView<'_>, weights: &[u8], done: impl Fn(usize, &[u64])) {
    let (count, limbs) = (numbers.len(), numbers.bits().div_ceil(64));
    let sums = weights.len() / count.max(1);
    let mut halves = Zeroizing::new(vec![[0u64; 2 * TILE]; sums * limbs.div_ceil(TILE)]);
    for (tile, first) in (0..limbs).step_by(TILE).enumerate() {
        let len = TILE.min(limbs - first);
        for (sum, weights) in weights.chunks_exact(count.max(1)).enumerate() {
            let (low, high) = halves[sum * limbs.div_ceil(TILE) + tile].split_at_mut(TILE);
            for (number, &weight) in weights.iter().enumerate() {
                let words = &numbers.get(number)[first..first + len];
                for ((low, high), &word) in low.iter_mut().zip(high.iter_mut()).zip(words) {
                    *low += u64::from(word as u32) * u64::from(weight);
                    *high += (word >> 32) * u64::from(weight);
                }
            }
        }
    }
    let mut whole = Zeroizing::new(vec![0; limbs + 1]);
    for (sum, tiles) in halves.chunks_exact(limbs.div_ceil(TILE).max(1)).enumerate() {
        let mut carry = 0u128;
        for (limb, out) in whole.iter_mut().enumerate() {
            if limb < limbs {
                let tile = &tiles[limb / TILE];
                carry += u128::from(tile[limb % TILE]) + (u128::from(tile[TILE + limb % TILE]) << 32);
            }
            *out = carry as u64;
            carry >>= 64;
        }
        done(sum, &whole);
    }
}
