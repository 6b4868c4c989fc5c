//! Adds overlapping digits up to one number.

use super::point::{LANES, Point};
use super::shape::DigitLayout;
use super::shares::{self, Shares};

/// Reconstructs coefficients from their residues modulo F primes and adds them up to limbs.
pub(crate) trait Join<const F: usize>: Sync {
    /// Fills `out` with `sum c_i 2^(bits i)` over the coefficients from point `first` on, and returns the
    /// carry out of `out`. The digits of point `first` start at a limb boundary.
    fn carry(&self, residues: [&[Point]; F], bits: u32, first: usize, out: &mut [u64]) -> i128;

    /// Whether threads may share `out`. They may if all digits have the same length.
    fn is_divisible(&self) -> bool {
        true
    }
}

/// Adds signed numbers of up to 150 bits, each one digit above the previous one, and writes the sum.
///
/// `WHOLE` means that a digit is a limb.
pub(crate) struct DigitWriter<'a, const WHOLE: bool> {
    out: &'a mut [u64],
    written: usize,
    bits: u32,
    carry: i128,
    pending: u64,
    filled: u32,
}

impl<'a, const WHOLE: bool> DigitWriter<'a, WHOLE> {
    pub(crate) fn new(out: &'a mut [u64], bits: u32) -> Self {
        Self { out, written: 0, bits, carry: 0, pending: 0, filled: 0 }
    }

    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.written >= self.out.len()
    }

    /// Adds the next number, given as three words.
    #[inline(always)]
    pub(crate) fn add(&mut self, low: u64, middle: u64, high: i64) {
        // Either numbers have 150 bits and digits 62 or 64, or numbers have 64 bits and digits fewer. A carry
        // is below 2 * 2^(150 - 62) and fits in two words; a sum fits in three.
        let (sum, overflow) =
            (u128::from(low) | u128::from(middle) << 64).overflowing_add(self.carry as u128);
        let high = i128::from(high + i64::from(overflow) + (self.carry >> 127) as i64);
        if WHOLE {
            self.carry = (sum >> 64) as i128 | high << 64;
            return self.write(sum as u64);
        }
        // Digits have fewer than 64 bits here, so words suffice.
        let (rest, [low, middle, high]) = (64 - self.bits, [sum as u64, (sum >> 64) as u64, high as u64]);
        let carry = [low >> self.bits | middle << rest, middle >> self.bits | high << rest];
        self.carry = (u128::from(carry[0]) | u128::from(carry[1]) << 64) as i128;
        let digit = low & (u64::MAX >> rest);
        self.pending |= digit << self.filled;
        self.filled += self.bits;
        if self.filled >= 64 {
            self.write(self.pending);
            self.filled -= 64;
            // The shift has two steps. Nothing is left of a digit that filled the limb exactly.
            self.pending = digit >> 1 >> (self.bits - self.filled - 1);
        }
    }

    #[inline(always)]
    fn write(&mut self, limb: u64) {
        if let Some(to) = self.out.get_mut(self.written) {
            *to = limb;
        }
        self.written += 1;
    }

    /// Sets the length of the following digits to `bits` bits.
    #[inline(always)]
    pub(crate) fn set_bits(&mut self, bits: u32) {
        self.bits = bits;
    }

    /// Writes the bits of an incomplete last limb.
    pub(crate) fn flush(&mut self) {
        if self.filled > 0 {
            self.write(self.pending);
        }
    }

    pub(crate) fn carry(self) -> i128 {
        self.carry
    }
}

/// The number of points whose digits fill whole limbs for every digit length.
const UNIT: usize = 64 / LANES;

/// Fills `out` with the low limbs of a product. The second result is the part above them.
pub(crate) fn resolve<'a, const F: usize>(
    join: &impl Join<F>,
    residues: [&[Point]; F],
    layout: &DigitLayout,
    out: &'a mut [u64],
) -> (Shares<'a>, i128) {
    let bits = layout.digit_bits;
    let share = if join.is_divisible() { shares::share(out.len(), bits as usize) } else { out.len().max(1) };
    Shares::new(out, share, |first, out| join.carry(residues, bits, first / bits as usize * UNIT, out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use num_bigint::BigInt;

    /// Signed numbers below `2^bits` in magnitude, in three words: both bounds, runs of ones and zeros, and
    /// random numbers.
    fn numbers(count: usize, bits: u32, random: &mut Random) -> Vec<[u64; 3]> {
        let top = (1i64 << (bits - 128)) - 1;
        let mut word = || match random.word() % 4 {
            0 => 0,
            1 => u64::MAX,
            _ => random.word(),
        };
        let high = |word: u64| (word as i64).clamp(-top - 1, top) as u64;
        (0..count).map(|_| [word(), word(), high(word())]).collect()
    }

    /// `sum x_i 2^(bits i)`, by halves.
    fn sum(numbers: &[BigInt], bits: u32) -> BigInt {
        match numbers {
            [number] => number.clone(),
            _ => {
                let (low, high) = numbers.split_at(numbers.len() / 2);
                sum(low, bits) + (sum(high, bits) << (bits as usize * low.len()))
            }
        }
    }

    fn check<const WHOLE: bool>(bits: u32, random: &mut Random) {
        for count in [1, 2, 3, 8, 64] {
            let numbers = numbers(64 * count, 149, random);
            let mut out = vec![0; bits as usize * count];
            let mut writer = DigitWriter::<WHOLE>::new(&mut out, bits);
            for &[low, middle, high] in &numbers {
                assert!(!writer.is_full());
                writer.add(low, middle, high as i64);
            }
            assert!(writer.is_full());
            let carry = writer.carry();
            let value = |&[low, middle, high]: &[u64; 3]| {
                BigInt::from(u128::from(low) | u128::from(middle) << 64) + (BigInt::from(high as i64) << 128)
            };
            let expected = sum(&numbers.iter().map(value).collect::<Vec<_>>(), bits);
            let found = (BigInt::from(carry) << (64 * out.len())) + BigInt::from(big(&out));
            assert_eq!(found, expected, "{count}");
        }
    }

    #[test]
    fn overlapping_digits_of_either_sign_add_up() {
        let mut random = Random::new(83);
        for _ in 0..50 {
            check::<true>(64, &mut random);
            check::<false>(62, &mut random);
        }
    }
}
