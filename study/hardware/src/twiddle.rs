//! Twiddle factors from a table of 1024 words.
//!
//! Let w be the root of order 65 536. `w^1024 = 8`, so that `w^e = w^(e mod 1024) 8^(e div 1024)`: a word of
//! the table, rotated. The thesis has 30 tables of 4096 words (section 5.6); here every lane has one of 1024.

use crate::field::times_power_of_two;
use modmill_core::goldilocks::{mul, root_of_unity};

/// Words of the table.
pub const TABLE_WORDS: usize = 1024;

/// The order of the root whose powers are in the table.
pub const TABLE_ORDER: u32 = 65_536;

/// A factor `w^exponent 2^shift` that a lane's result is multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Factor {
    /// The exponent of the root of order 65 536, below 65 536.
    pub exponent: u32,
    /// The exponent of 2, below 192.
    pub shift: u32,
}

/// The table of a lane.
#[derive(Debug, Clone)]
pub struct Twiddles(Vec<u64>);

impl Twiddles {
    /// The table: word i is `w^i`.
    #[must_use]
    pub fn new() -> Self {
        let root = root_of_unity(TABLE_ORDER.into());
        let powers = std::iter::successors(Some(1), |&power| Some(mul(power, root)));
        Self(powers.take(TABLE_WORDS).collect())
    }

    /// The words of the table.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// The value of a factor: a word of the table, rotated by three bits for each 1024 in the exponent.
    #[must_use]
    pub fn value(&self, factor: Factor) -> u64 {
        let exponent = factor.exponent as usize % TABLE_ORDER as usize;
        let rotation = 3 * (exponent / TABLE_WORDS) as u32 + factor.shift;
        times_power_of_two(self.0[exponent % TABLE_WORDS], rotation)
    }
}

impl Default for Twiddles {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_core::goldilocks::pow;

    #[test]
    fn every_power_of_the_root_comes_from_the_table() {
        let twiddles = Twiddles::new();
        let root = root_of_unity(65_536);
        let mut power = 1;
        for exponent in 0..TABLE_ORDER {
            assert_eq!(twiddles.value(Factor { exponent, shift: 0 }), power, "{exponent}");
            power = mul(power, root);
        }
        let scaled = twiddles.value(Factor { exponent: 77, shift: 176 });
        assert_eq!(mul(scaled, 1 << 16), pow(root, 77));
    }
}
