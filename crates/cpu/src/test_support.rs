//! Reproducible random numbers and the oracle's integers, for the tests of this crate.

use num_bigint::BigUint;

/// Limbs as an integer of the oracle.
pub(crate) fn big(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

/// A xorshift generator. Its seed must not be zero.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.word() >> 8) as usize % limit
    }

    /// `count` random limbs.
    pub(crate) fn limbs(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.word()).collect()
    }

    /// A number of exactly `bits` bits.
    pub(crate) fn bits(&mut self, bits: usize) -> Vec<u64> {
        let mut limbs = self.limbs(bits.div_ceil(64));
        let top = limbs.last_mut().expect("a number has bits");
        *top = (*top | 1 << 63) >> ((64 - bits % 64) % 64);
        limbs
    }
}
