//! One channel: arithmetic modulo a prime `p = h 2^16 - 1` on lazy residues.
//!
//! A lazy residue is any 32-bit word that is right modulo p. All functions are constant-time in residues.

/// A prime with the constants of its arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// The prime p.
    pub p: u32,
    /// `p^-1 mod 2^32`.
    pub inverse: u32,
    /// `(p + 1) / 2^16`.
    pub h: u32,
    /// `2^32 mod p`.
    pub radix: u32,
    /// `2^64 mod p`.
    pub radix_squared: u32,
}

impl Channel {
    /// The channel of a prime `h 2^16 - 1`.
    #[must_use]
    pub const fn new(p: u32) -> Self {
        assert!(p % (1 << 16) == (1 << 16) - 1);
        let radix = (1 << 32) % p as u64;
        Self {
            p,
            inverse: crate::limbs::inverse_of_odd(p as u64) as u32,
            h: (p >> 16) + 1,
            radix: radix as u32,
            radix_squared: (radix * radix % p as u64) as u32,
        }
    }

    /// Montgomery reduction: `product / 2^32 mod p`. The result is above zero and at most
    /// `product / 2^32 + p`, which must fit a word.
    ///
    /// With `m p = product mod 2^32` the difference `product - m p` is a multiple of 2^32. p is added to its
    /// high word so that it does not become negative.
    #[must_use]
    #[inline]
    pub const fn redc(self, product: u64) -> u32 {
        let m = (product as u32).wrapping_mul(self.inverse);
        let high = ((m as u64 * self.p as u64) >> 32) as u32;
        ((product >> 32) as u32).wrapping_add(self.p).wrapping_sub(high)
    }

    /// `total / 2^16 mod p`, at most `total / 2^16 + (2^16 - 1) h`, which must fit a word.
    #[must_use]
    #[inline]
    pub const fn fold(self, total: u64) -> u32 {
        ((total >> 16) as u32).wrapping_add((total as u16 as u32).wrapping_mul(self.h))
    }

    /// The canonical residue of a `residue` below `2p`.
    #[must_use]
    #[inline]
    pub fn reduce_once(self, residue: u32) -> u32 {
        // If `residue` is below p, the difference wraps and is the larger of the two.
        residue.min(residue.wrapping_sub(self.p))
    }

    /// The canonical residue of a lazy one.
    #[must_use]
    pub fn canonical(self, residue: u32) -> u32 {
        // At most (2^32 - 1) (p - 1) / 2^32 + p, below 2p.
        self.reduce_once(self.redc(u64::from(residue) * u64::from(self.radix)))
    }

    /// `a b mod p`, canonical, for any two words.
    #[must_use]
    pub fn multiply(self, a: u32, b: u32) -> u32 {
        // a is below p, so the first reduction is below 2p. The second is below 2 p^2 / 2^32 + p, which is
        // below 2p again.
        let product = self.redc(u64::from(self.canonical(a)) * u64::from(b));
        self.reduce_once(self.redc(u64::from(product) * u64::from(self.radix_squared)))
    }

    /// `base^exponent mod p`, canonical, for a public exponent.
    #[must_use]
    pub fn power(self, base: u32, exponent: u32) -> u32 {
        (0..u32::BITS - exponent.leading_zeros()).rev().fold(1, |power, place| {
            let square = self.multiply(power, power);
            if exponent >> place & 1 == 1 { self.multiply(square, base) } else { square }
        })
    }

    /// The canonical inverse modulo p by Fermat's theorem; zero for zero.
    #[must_use]
    pub fn invert(self, residue: u32) -> u32 {
        self.power(residue, self.p - 2)
    }

    /// The canonical residue of a number, given by its 32-bit words, least significant first. Horner's rule.
    #[must_use]
    pub fn remainder(self, words: impl DoubleEndedIterator<Item = u32>) -> u32 {
        words.rev().fold(0, |residue, word| {
            let raised = self.redc(u64::from(residue) * u64::from(self.radix_squared));
            // The sum of two canonical residues is below 2p.
            self.reduce_once(self.reduce_once(raised) + self.canonical(word))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rns::primes::{LARGEST_FACTOR, downwards};

    fn channels() -> impl Iterator<Item = Channel> {
        downwards(LARGEST_FACTOR).step_by(150).map(Channel::new)
    }

    fn words(p: u32) -> Vec<u32> {
        vec![0, 1, 2, p - 1, p, p + 1, 2 * p, 1 << 16, u32::MAX - 1, u32::MAX, 0x9e37_79b9]
    }

    #[test]
    fn reductions_are_right_and_in_range() {
        for channel in channels() {
            let p = u64::from(channel.p);
            let largest = (u64::from(u32::MAX) - p) << 32 | 0xffff_ffff;
            for product in [0, 1, p, p - 1, p << 32, (p << 32) - 1, (p << 32) + 1, largest - 1, largest] {
                let reduced = u64::from(channel.redc(product));
                assert!(reduced > 0 && reduced <= (product >> 32) + p, "{product} modulo {p}");
                assert_eq!(u128::from(reduced) * (1 << 32) % u128::from(p), u128::from(product % p));
            }
            let largest = (u64::from(u32::MAX) - u64::from(channel.h) * 65_535) << 16 | 0xffff;
            for total in [0, 1, 65_535, 65_536, p, largest - 1, largest] {
                let folded = u64::from(channel.fold(total));
                assert!(folded <= (total >> 16) + 65_535 * u64::from(channel.h));
                assert_eq!(folded * 65_536 % p, total % p, "{total} modulo {p}");
            }
        }
    }

    #[test]
    fn products_inverses_and_remainders_are_canonical() {
        for channel in channels() {
            let p = u64::from(channel.p);
            for &a in &words(channel.p) {
                assert_eq!(u64::from(channel.canonical(a)), u64::from(a) % p);
                for &b in &words(channel.p) {
                    assert_eq!(u64::from(channel.multiply(a, b)), u64::from(a) * u64::from(b) % p);
                    let number = u128::from(a) << 64 | u128::from(b) << 32 | u128::from(a);
                    let expected = (number % u128::from(p)) as u32;
                    assert_eq!(channel.remainder([a, b, a].into_iter()), expected, "{number} modulo {p}");
                }
                let unit = u32::from(!u64::from(a).is_multiple_of(p));
                assert_eq!(channel.multiply(a, channel.invert(a)), unit);
            }
            assert_eq!((channel.radix, channel.radix_squared), (channel.power(2, 32), channel.power(2, 64)));
        }
    }
}
