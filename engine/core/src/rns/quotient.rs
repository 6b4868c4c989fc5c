//! The approximate quotient of a base extension (Cox-Rower in `docs/inside/bibliography.md`), for lazy
//! residues.
//!
//! `x = sum_j xi_j A_j - k A` with `0 <= x < A` means `sum_j xi_j / a_j = k + x / A`. The sum is
//! approximated by `S / 2^F` with `S = sum_j (xi_j >> SHIFT) w_j` and `w_j` the rounded
//! `2^(16 + F) / a_j`, and `k = floor(S / 2^F + 1/2)`. This k is exact if
//!
//! * `S / 2^F` is too small by at most 1/2 (shifts cut off bits, and some weights are rounded down);
//! * `S / 2^F` is too large by less than `1/2 - x / A` (some weights are rounded up).
//!
//! For negative x above `-A/2`, the first error must leave room for `|x| / A` in turn.

use super::Channel;

/// The weights, precision and error of an approximation for words within given bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quotient {
    /// The number F of fractional bits of the sum.
    pub precision: u32,
    /// The weights `w_j`.
    pub weights: Vec<u32>,
    /// The largest quotient.
    pub largest: u64,
    /// The largest S, with the added half.
    pub largest_sum: u64,
    /// The greatest error of `S / 2^F` downwards, in units of 2^-64.
    pub error_below: u128,
    /// The greatest error of `S / 2^F` upwards, in units of 2^-64.
    pub error_above: u128,
}

/// The number of low bits of a residue that the approximation ignores.
pub const SHIFT: u32 = 16;

/// One half in units of 2^-64.
pub const HALF: u128 = 1 << 63;

impl Quotient {
    /// The approximation for words up to `largest` in the channels of `base`, with the greatest precision
    /// whose sum fits 32 bits.
    #[must_use]
    pub fn new(base: &[Channel], largest: &[u64]) -> Self {
        let fits = |&precision: &u32| {
            largest_sum(&weights(base, precision), largest, precision) <= u64::from(u32::MAX)
        };
        Self::with_precision(base, largest, (1..32).rev().find(fits).unwrap_or(1))
    }

    /// The approximation for words up to `largest` in the channels of `base`, with F = `precision`. Its sum
    /// fits 32 bits only if [`Quotient::largest_sum`] says so.
    #[must_use]
    pub fn with_precision(base: &[Channel], largest: &[u64], precision: u32) -> Self {
        let weights = weights(base, precision);
        let (mut below, mut above, mut sum) = (0, 0, 0u128);
        for ((channel, &weight), &word) in base.iter().zip(&weights).zip(largest) {
            let p = u128::from(channel.p);
            // weight / 2^F - 2^SHIFT / p is excess / (p 2^F). The high bits of the word multiply it.
            let excess = i128::from(weight) * i128::from(channel.p) - (1i128 << (SHIFT + precision));
            let error = ((excess.unsigned_abs() * u128::from(word >> SHIFT)) << (64 - precision)).div_ceil(p);
            if excess > 0 {
                above += error
            } else {
                below += error
            }
            below += ((1u128 << SHIFT << 64) - (1 << 64)).div_ceil(p);
            sum += (u128::from(word) << 64).div_ceil(p);
        }
        Self {
            precision,
            largest: (sum >> 64) as u64,
            largest_sum: largest_sum(&weights, largest, precision),
            weights,
            error_below: below,
            error_above: above,
        }
    }

    /// The quotient of `residues`.
    #[must_use]
    pub fn of(&self, residues: &[u32]) -> u32 {
        let half = 1 << (self.precision - 1);
        let terms = residues.iter().zip(&self.weights).map(|(&residue, &weight)| (residue >> SHIFT) * weight);
        (terms.sum::<u32>() + half) >> self.precision
    }
}

/// The weights `w_j` for F = `precision`.
fn weights(base: &[Channel], precision: u32) -> Vec<u32> {
    let round = |channel: &Channel| {
        let p = u64::from(channel.p);
        (((1u64 << (SHIFT + precision)) + p / 2) / p) as u32
    };
    base.iter().map(round).collect()
}

/// The largest S for words up to `largest`, with the added half.
fn largest_sum(weights: &[u32], largest: &[u64], precision: u32) -> u64 {
    let terms = weights.iter().zip(largest).map(|(&weight, &word)| (word >> SHIFT) * u64::from(weight));
    terms.sum::<u64>() + (1 << (precision - 1))
}
