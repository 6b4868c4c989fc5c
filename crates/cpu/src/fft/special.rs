//! Squares modulo `2^n - 1` and `2^n + 1`: what is above `2^n` is folded down. For public numbers.

use super::Multiplier;
use modmill_core::limbs::{add_assign, bit_length, bits_at, shift_right, sub_assign};

/// `2^n - 1` or `2^n + 1`, n at least 2. Numbers below it are canonical, and of `n / 64 + 1` limbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// `2^n - 1`.
    Minus(usize),
    /// `2^n + 1`.
    Plus(usize),
}

impl Special {
    fn bits(self) -> usize {
        match self {
            Self::Minus(n) | Self::Plus(n) => n,
        }
    }

    /// Limbs of a number below it.
    #[must_use]
    pub fn limbs(self) -> usize {
        self.bits() / 64 + 1
    }

    /// The modulus.
    #[must_use]
    pub fn value(self) -> Vec<u64> {
        let mut value = vec![0; self.limbs()];
        value[self.bits() / 64] = 1 << (self.bits() % 64);
        match self {
            Self::Minus(_) => sub_assign(&mut value, &[1]),
            Self::Plus(_) => add_assign(&mut value, &[1]),
        };
        value
    }

    /// `x mod` it, for any x.
    #[must_use]
    pub fn reduce(self, x: &[u64]) -> Vec<u64> {
        let n = self.bits();
        let mut sum = vec![0; self.limbs() + 1];
        let pieces = bit_length(x).div_ceil(n);
        let modulus = self.value();
        for piece in 0..pieces {
            let mut bits = vec![0; self.limbs()];
            let shifted = &x[piece * n / 64..];
            shift_right(shifted, piece * n % 64, &mut bits);
            bits[n / 64] &= (1 << (n % 64)) - 1;
            if matches!(self, Self::Plus(_)) && piece % 2 == 1 {
                // Below the modulus, so that the difference is not negative.
                let mut negative = modulus.clone();
                sub_assign(&mut negative, &bits);
                bits = negative;
            }
            add_assign(&mut sum, &bits);
            if !less(&sum, &modulus) {
                sub_assign(&mut sum, &modulus);
            }
        }
        sum.truncate(self.limbs());
        sum
    }

    /// `x^2 mod` it, for an x below it.
    #[must_use]
    pub fn square(self, multiplier: &Multiplier, x: &[u64]) -> Vec<u64> {
        let mut square = vec![0; 2 * x.len()];
        multiplier.square(x, &mut square);
        self.reduce(&square)
    }
}

fn less(a: &[u64], b: &[u64]) -> bool {
    let len = 64 * a.len().max(b.len());
    (0..len)
        .step_by(64)
        .rev()
        .map(|place| (bits_at(a, place, 64), bits_at(b, place, 64)))
        .find(|(a, b)| a != b)
        .is_some_and(|(a, b)| a < b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use num_bigint::BigUint;

    fn big(limbs: &[u64]) -> BigUint {
        BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
    }

    #[test]
    fn folding_is_division() {
        let mut random = Random(37);
        for n in [2, 3, 63, 64, 65, 127, 128, 129, 1000] {
            for special in [Special::Minus(n), Special::Plus(n)] {
                let value = special.value();
                let mut less = value.clone();
                sub_assign(&mut less, &[1]);
                for x in [
                    vec![],
                    vec![0],
                    vec![5],
                    value.clone(),
                    less,
                    vec![u64::MAX; n / 16 + 1],
                    random.limbs(n / 13 + 1),
                ] {
                    assert_eq!(big(&special.reduce(&x)), big(&x) % big(&value), "{special:?}");
                    let low = special.reduce(&x);
                    let square = special.square(&Multiplier::detect(None)[0], &low);
                    assert_eq!(big(&square), big(&x) * big(&x) % big(&value), "{special:?}");
                }
            }
        }
    }
}
