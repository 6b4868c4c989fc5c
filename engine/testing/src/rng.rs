//! A small seeded generator, so that every run on every machine tests the same numbers.

use num_bigint::BigUint;

/// xoshiro256** (Blackman and Vigna), seeded through splitmix64.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A generator that starts from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        let state = std::array::from_fn(|_| {
            counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = counter;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        });
        Self { state }
    }

    /// The next word.
    pub fn word(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let answer = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        answer
    }

    /// A number below `limit`, which must not be zero. It is slightly biased.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.word() % limit as u64) as usize
    }

    /// A random element.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len())]
    }

    /// A uniform number of at most `bits` bits.
    pub fn number(&mut self, bits: usize) -> BigUint {
        let digits = (0..bits.div_ceil(32)).map(|_| self.word() as u32).collect();
        BigUint::new(digits) >> (bits.next_multiple_of(32) - bits)
    }

    /// A number of exactly `bits` bits, `bits >= 1`.
    pub fn exact(&mut self, bits: usize) -> BigUint {
        let mut number = self.number(bits);
        number.set_bit(bits as u64 - 1, true);
        number
    }

    /// Random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.word() as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_length_asked_for() {
        let mut rng = Rng::new(1);
        for bits in 1..200 {
            assert_eq!(rng.exact(bits).bits(), bits as u64);
            assert!(rng.number(bits).bits() <= bits as u64);
        }
        assert_ne!(Rng::new(1).word(), Rng::new(2).word());
    }
}
