//! A slow reference for tests: 32-bit schoolbook products and division bit by bit. It shares no code
//! and no idea with the fast paths.

/// A non-negative integer as little-endian 32-bit digits without leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Natural(Vec<u32>);

impl Natural {
    /// A number from little-endian 64-bit limbs.
    #[must_use]
    pub fn from_limbs(limbs: &[u64]) -> Self {
        Self(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect()).trimmed()
    }

    /// The number as `count` little-endian 64-bit limbs.
    ///
    /// # Panics
    /// If the number does not fit.
    #[must_use]
    pub fn to_limbs(&self, count: usize) -> Vec<u64> {
        let mut digits = self.0.clone();
        assert!(digits.len() <= 2 * count, "value does not fit in {count} limbs");
        digits.resize(2 * count, 0);
        digits.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect()
    }

    fn trimmed(mut self) -> Self {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    fn is_below(&self, other: &Self) -> bool {
        // Both are trimmed, so the longer one is larger.
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev())).is_lt()
    }

    fn subtract(&mut self, other: &Self) {
        let mut borrow = 0i64;
        for (index, digit) in self.0.iter_mut().enumerate() {
            let difference = i64::from(*digit) - i64::from(other.0.get(index).copied().unwrap_or(0)) + borrow;
            *digit = difference as u32;
            borrow = difference >> 32;
        }
        assert_eq!(borrow, 0, "subtracted more than there was");
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    /// The product, by the schoolbook method.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut product = vec![0u32; self.0.len() + other.0.len()];
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0u64;
            for (j, &b) in other.0.iter().enumerate() {
                let sum = u64::from(a) * u64::from(b) + u64::from(product[i + j]) + carry;
                product[i + j] = sum as u32;
                carry = sum >> 32;
            }
            product[i + other.0.len()] = carry as u32;
        }
        Self(product).trimmed()
    }

    /// The remainder modulo `modulus`, one bit at a time.
    ///
    /// # Panics
    /// If `modulus` is zero.
    #[must_use]
    pub fn modulo(&self, modulus: &Self) -> Self {
        assert!(!modulus.0.is_empty(), "nothing is defined modulo zero");
        let mut rest = Self(Vec::new());
        for bit in self.bits_from_top() {
            let mut carry = u32::from(bit);
            for digit in &mut rest.0 {
                (*digit, carry) = (*digit << 1 | carry, *digit >> 31);
            }
            if carry != 0 {
                rest.0.push(carry);
            }
            if !rest.is_below(modulus) {
                rest.subtract(modulus);
            }
        }
        rest
    }

    /// `self^exponent mod modulus` by squaring and multiplying. `0^0` is 1 modulo N.
    #[must_use]
    pub fn power(&self, exponent: &Self, modulus: &Self) -> Self {
        let mut power = Self(vec![1]).modulo(modulus);
        for bit in exponent.bits_from_top() {
            power = power.times(&power).modulo(modulus);
            if bit {
                power = power.times(self).modulo(modulus);
            }
        }
        power
    }

    fn bits_from_top(&self) -> impl Iterator<Item = bool> + '_ {
        self.0.iter().rev().flat_map(|&digit| (0..32).rev().map(move |bit| digit >> bit & 1 == 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn big(value: &Natural) -> BigUint {
        BigUint::new(value.0.clone())
    }

    #[test]
    fn agrees_with_another_library() {
        let words: Vec<u64> =
            (0..64u64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32)).collect();
        for (a, b, n) in [(0..5, 5..9, 9..12), (1..2, 3..4, 5..6), (0..8, 8..9, 20..24), (0..0, 1..2, 2..3)] {
            let (a, b, n) = (
                Natural::from_limbs(&words[a]),
                Natural::from_limbs(&words[b]),
                Natural::from_limbs(&words[n]),
            );
            assert_eq!(big(&a.times(&b)), big(&a) * big(&b));
            assert_eq!(big(&a.modulo(&n)), big(&a) % big(&n));
            assert_eq!(big(&a.power(&b, &n)), big(&a).modpow(&big(&b), &big(&n)));
        }
    }

    #[test]
    fn the_conventions_hold() {
        let n = |value: u64| Natural::from_limbs(&[value]);
        assert_eq!(n(0).power(&n(0), &n(7)), n(1));
        assert_eq!(n(0).power(&n(0), &n(1)), n(0));
        assert_eq!(n(5).power(&n(0), &n(1)), n(0));
        assert_eq!(n(9).to_limbs(2), [9, 0]);
    }
}
