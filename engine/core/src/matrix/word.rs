//! Arithmetic modulo a word.

use crate::error::Error;

/// An odd modulus m of at most 32 bits with Barrett's factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordModulus {
    modulus: u32,
    /// `floor(2^64 / m)`.
    factor: u64,
}

impl WordModulus {
    /// The modulus m, which must be odd and at least 3.
    pub(super) fn new(modulus: u32) -> Result<Self, Error> {
        match modulus {
            0..3 => Err(Error::OutOfRange {
                what: "a modulus",
                value: modulus as usize,
                least: 3,
                most: u32::MAX as usize,
            }),
            _ if modulus.is_multiple_of(2) => Err(Error::EvenModulus(modulus)),
            // m does not divide 2^64, so that this is the same as the division of 2^64.
            _ => Ok(Self { modulus, factor: u64::MAX / u64::from(modulus) }),
        }
    }

    /// The modulus.
    #[must_use]
    #[inline]
    pub fn get(self) -> u32 {
        self.modulus
    }

    /// `floor(2^64 / m)`.
    #[must_use]
    pub fn factor(self) -> u64 {
        self.factor
    }

    /// The greatest word x for which `x mod m` is uniform if x is uniform among the words up to it: one less
    /// than the greatest multiple of m that is at most 2^32. It is `m - 1` for moduli above 2^31.
    #[must_use]
    pub fn last_uniform(self) -> u32 {
        let m = u64::from(self.modulus);
        ((1 << 32) / m * m - 1) as u32
    }

    /// `x mod m`, by the same instructions for all x.
    ///
    /// For `f = floor(2^64 / m)` the quotient `floor(x f / 2^64)` is the true one or one less, because
    /// `x / m - x f / 2^64 = x (2^64 / m - f) / 2^64 < 1`. So the remainder is below 2m.
    #[must_use]
    #[inline]
    pub fn reduce(self, x: u64) -> u32 {
        let quotient = ((u128::from(x) * u128::from(self.factor)) >> 64) as u64;
        let remainder = x.wrapping_sub(quotient.wrapping_mul(u64::from(self.modulus)));
        let reduced = remainder.wrapping_sub(u64::from(self.modulus));
        // The sign of the difference chooses, without a branch.
        let below = ((reduced as i64) >> 63) as u64;
        reduced.wrapping_add(below & u64::from(self.modulus)) as u32
    }

    /// `low + high 2^32 mod m`.
    #[must_use]
    #[inline]
    pub fn reduce_wide(self, low: u64, high: u64) -> u32 {
        let high = u64::from(self.reduce(high)) << 32;
        self.reduce(u64::from(self.reduce(high)) + u64::from(self.reduce(low)))
    }

    /// `a + b mod m` for residues.
    #[must_use]
    #[inline]
    pub fn add(self, a: u32, b: u32) -> u32 {
        self.reduce(u64::from(a) + u64::from(b))
    }

    /// `a - b mod m` for residues.
    #[must_use]
    #[inline]
    pub fn sub(self, a: u32, b: u32) -> u32 {
        self.reduce(u64::from(a) + u64::from(self.modulus) - u64::from(b))
    }

    /// `-a mod m` for a residue.
    #[must_use]
    #[inline]
    pub fn negate(self, a: u32) -> u32 {
        (self.modulus - a) & u32::from(a != 0).wrapping_neg()
    }

    /// `a b mod m`.
    #[must_use]
    #[inline]
    pub fn mul(self, a: u32, b: u32) -> u32 {
        self.reduce(u64::from(a) * u64::from(b))
    }

    /// The residue of a small signed number, by the same instructions for all numbers.
    #[must_use]
    #[inline]
    pub fn signed(self, value: i32) -> u32 {
        // A multiple of m that is at least 2^31.
        let multiple = (1u64 << 31).div_ceil(u64::from(self.modulus)) * u64::from(self.modulus);
        self.reduce(multiple.wrapping_add_signed(i64::from(value)))
    }

    /// `1 / a mod m` for public numbers; `None` if a and m share a factor.
    #[must_use]
    pub fn inverse_vartime(self, a: u32) -> Option<u32> {
        let (mut r0, mut r1) = (i64::from(self.modulus), i64::from(a % self.modulus));
        let (mut t0, mut t1) = (0i64, 1i64);
        while r1 != 0 {
            let quotient = r0 / r1;
            (r0, r1) = (r1, r0 - quotient * r1);
            (t0, t1) = (t1, t0 - quotient * t1);
        }
        (r0 == 1).then_some(t0.rem_euclid(i64::from(self.modulus)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reductions_are_exact_at_the_ends_of_the_range() {
        for modulus in [3, 5, 65_535, 0x7fff_ffff, 0x8000_0001, u32::MAX - 4, u32::MAX] {
            let word = WordModulus::new(modulus).unwrap();
            let m = u64::from(modulus);
            let top = u64::MAX / m * m;
            for x in [0, 1, m - 1, m, m + 1, 2 * m - 1, m * m - 1, m * m, top - 1, top, u64::MAX] {
                assert_eq!(u64::from(word.reduce(x)), x % m, "{x} mod {m}");
                let wide = (u128::from(u64::MAX) << 32) + u128::from(x);
                assert_eq!(u128::from(word.reduce_wide(x, u64::MAX)), wide % u128::from(modulus));
            }
            for value in [0, 1, -1, i32::MAX, i32::MIN] {
                let expected = i64::from(value).rem_euclid(i64::from(modulus));
                assert_eq!(i64::from(word.signed(value)), expected);
            }
            assert_eq!((word.sub(0, modulus - 1), word.sub(0, 0)), (1, 0));
            assert_eq!((word.negate(modulus - 1), word.negate(1), word.negate(0)), (1, modulus - 1, 0));
        }
    }
}
