//! Products and powers modulo a long number, constant-time in everything but lengths.

use super::Divisor;
use modmill_core::limbs::bits_at;
use modmill_core::mask;
use modmill_core::window::best_fixed_window;
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// Cost of reading one table entry under a mask, in products modulo N; an estimate.
const SCAN: f64 = 0.002;

impl Divisor {
    /// `a b mod d`.
    #[must_use]
    pub fn mul_mod(&self, a: &[u64], b: &[u64]) -> Limbs {
        let (a, b) = (self.shortened(a), self.shortened(b));
        let mut product = Zeroizing::new(vec![0; a.len() + b.len()]);
        self.multiplier().multiply(&a, &b, &mut product);
        self.remainder(&product)
    }

    /// `a^2 mod d`.
    #[must_use]
    pub fn square_mod(&self, a: &[u64]) -> Limbs {
        let a = self.shortened(a);
        let mut square = Zeroizing::new(vec![0; 2 * a.len()]);
        self.multiplier().square(&a, &mut square);
        self.remainder(&square)
    }

    /// The number, or its remainder if it is longer than the divisor.
    fn shortened(&self, a: &[u64]) -> Limbs {
        if a.len() > self.limbs() { self.remainder(a) } else { Zeroizing::new(a.to_vec()) }
    }

    /// Bits of the window for an exponent of `bits` bits.
    #[must_use]
    pub fn window(bits: usize) -> u32 {
        best_fixed_window(bits, SCAN)
    }

    /// `base^exponent mod d`, for an exponent of `bits` bits: fixed windows and masked table reads, so
    /// that time depends on `bits` and on lengths alone.
    #[must_use]
    pub fn pow(&self, base: &[u64], exponent: &[u64], bits: usize) -> Limbs {
        let window = Self::window(bits) as usize;
        let base = self.remainder(base);
        let mut table = vec![self.remainder(&[1]), base.clone()];
        while table.len() < 1 << window {
            let power = match table.len() % 2 {
                0 => self.square_mod(&table[table.len() / 2]),
                _ => self.mul_mod(&table[table.len() - 1], &base),
            };
            table.push(power);
        }
        let mut power = table[0].clone();
        for place in (0..bits.div_ceil(window)).rev() {
            for _ in 0..window {
                power = self.square_mod(&power);
            }
            let digit =
                bits_at(exponent, place * window, (window as u32).min((bits - place * window) as u32));
            power = self.mul_mod(&power, &select(&table, digit));
        }
        power
    }

    /// `base^exponent mod d` for a public exponent: from its top bit down, without products by 1.
    #[must_use]
    pub fn pow_vartime(&self, base: &[u64], exponent: &[u64]) -> Limbs {
        let bits = modmill_core::limbs::bit_length(exponent);
        let window = if bits < 64 { 1 } else { best_fixed_window(bits, 0.0) as usize };
        let base = self.remainder(base);
        let mut table = vec![self.remainder(&[1]), base.clone()];
        while table.len() < 1 << window {
            table.push(self.mul_mod(&table[table.len() - 1], &base));
        }
        let mut power = table[0].clone();
        for place in (0..bits.div_ceil(window)).rev() {
            if place + 1 < bits.div_ceil(window) {
                for _ in 0..window {
                    power = self.square_mod(&power);
                }
            }
            let digit = bits_at(exponent, place * window, window as u32) as usize;
            if digit != 0 {
                power = if place + 1 == bits.div_ceil(window) {
                    table[digit].clone()
                } else {
                    self.mul_mod(&power, &table[digit])
                };
            }
        }
        power
    }
}

/// The table's entry of this number, read under masks.
fn select(table: &[Limbs], index: u64) -> Limbs {
    let mut chosen = Zeroizing::new(vec![0; table[0].len()]);
    for (number, entry) in table.iter().enumerate() {
        let mask = mask::equal(number as u64, index);
        for (to, from) in chosen.iter_mut().zip(entry.iter()) {
            *to |= from & mask;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use crate::fft::{Divisor, Multiplier};
    use crate::random::Random;
    use num_bigint::BigUint;

    fn big(limbs: &[u64]) -> BigUint {
        BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
    }

    #[test]
    fn powers_agree_with_the_oracle() {
        let mut random = Random(31);
        for multiplier in Multiplier::detect(None) {
            for bits in [1, 2, 64, 65, 700, 64 * 161] {
                let modulus = random.bits(bits);
                let divisor = Divisor::new(multiplier, &modulus);
                let base = random.limbs(modulus.len() + 3);
                for exponent in [vec![], vec![0], vec![1], vec![65_537], vec![u64::MAX], random.limbs(2)] {
                    let expected = big(&base).modpow(&big(&exponent), &big(&modulus));
                    assert_eq!(big(&divisor.pow(&base, &exponent, 64 * exponent.len())), expected, "{bits}");
                    assert_eq!(big(&divisor.pow_vartime(&base, &exponent)), expected, "{bits}");
                }
                let other = random.limbs(2 * modulus.len());
                assert_eq!(big(&divisor.mul_mod(&base, &other)), big(&base) * big(&other) % big(&modulus));
                assert_eq!(big(&divisor.square_mod(&base)), big(&base) * big(&base) % big(&modulus));
            }
        }
    }
}
