//! The first bits of all multiples of a block, from one division.
//!
//! The multiples of y are `y_j = y R^j mod d` for j below S, and recryption wants `y_j / d` rounded to p bits
//! after the point, with the lowest bit of y_j added to the integer bit. Since `y_j / d` is the fraction of
//! `y R^j / d`, its bits after the point are those of y/d from bit `j log2 R` on: all are in
//! `Q = floor(2^K y / d)` with `K = (S - 1) log2 R + p + 1`. For j > 0 the number `y R^j` is even and d is
//! odd, so that the lowest bit of `y_j = y R^j - d floor(y R^j / d)` is that of the quotient, the bit of Q
//! just above the window.
//!
//! Let D be the first `W = K + 128` bits of d, Y the same bits of y, `m = floor(2^(W+E) / D)` with
//! `E = K + 64`, and `q = floor(Y m / 2^W)`. Then `|Y/D - y/d| <= 1/D`, which is `2^-63` in units of `2^-E`,
//! and rounding m and q down costs less than one each: `q - 2^-63 <= 2^E y / d < q + 2 + 2^-63`. So Q is q
//! without its lowest 64 bits, unless these are 0 or above `2^64 - 4`. Then the one candidate is tried.

use super::{Error, Setting};
use modmill::{Batch, Engine, Modulus};
use modmill_core::limbs::{add_assign, bit, bits_at, shift_left, shift_right, sub_assign, sub_assign_times};
use rayon::prelude::*;

/// Bits of q below those of Q.
const BELOW: usize = 64;
/// Bits of d and y beyond those of Q.
const BEYOND: usize = 128;

/// The division of a key.
pub(super) struct Windows {
    setting: Setting,
    modulus: Modulus,
    /// K: the bits of Q.
    quotient_bits: usize,
    /// Bits of d and y that are left out.
    dropped: usize,
    /// m, one number.
    reciprocal: Batch,
}

impl Windows {
    /// The division by a modulus.
    pub(super) fn new(setting: &Setting, modulus: &Modulus) -> Self {
        let quotient_bits = (setting.multiples() - 1) * setting.ratio_bits() + setting.precision() + 1;
        let kept = modulus.bits().min(quotient_bits + BEYOND);
        let dropped = modulus.bits() - kept;
        let mut first = vec![0; kept.div_ceil(64)];
        shift_right(modulus.value(), dropped, &mut first);
        let reciprocal = Batch::from_values([power_quotient(kept + quotient_bits + BELOW, &first)]);
        Self { setting: *setting, modulus: modulus.clone(), quotient_bits, dropped, reciprocal }
    }

    /// The rounded bits of all multiples of each y, as p + 1 bits with the integer bit at the top.
    pub(super) fn of(&self, engine: &Engine, y: &Batch) -> Result<Vec<Vec<u8>>, Error> {
        let quotients = self.quotients(engine, y)?;
        let windows = |item: usize| self.cut(quotients.get(item), y.get(item));
        Ok(engine.install(|| (0..y.len()).into_par_iter().map(windows).collect()))
    }

    /// Q of each y.
    fn quotients(&self, engine: &Engine, y: &Batch) -> Result<Batch, Error> {
        let kept = self.modulus.bits() - self.dropped;
        let mut first = Batch::try_zeros(kept, y.len())?;
        let stride = first.stride();
        engine.install(|| {
            let rows = first.as_limbs_mut().par_chunks_mut(stride).enumerate();
            rows.for_each(|(index, first)| shift_right(y.get(index), self.dropped, first));
        });
        let products = engine.mul(&first, self.reciprocal.shared(0))?;
        // A candidate may be 2^K.
        let mut quotients = Batch::try_zeros(self.quotient_bits + 1, y.len())?;
        let stride = quotients.stride();
        engine.install(|| {
            let rows = quotients.as_limbs_mut().par_chunks_mut(stride).enumerate();
            rows.for_each(|(index, quotient)| shift_right(products.get(index), kept + BELOW, quotient));
        });
        for (index, product) in products.iter().enumerate() {
            let low = bits_at(product, kept, BELOW as u32);
            if low == 0 || low > u64::MAX - 3 {
                // The greater of the two candidates.
                let quotient = quotients.get_mut(index);
                add_assign(quotient, &[u64::from(low != 0)]);
                self.correct(engine, quotient, y.get(index))?;
            }
        }
        Ok(quotients)
    }

    /// Subtracts 1 from a quotient if it is above `2^K y / d`.
    fn correct(&self, engine: &Engine, quotient: &mut [u64], y: &[u64]) -> Result<(), Error> {
        let candidate = Batch::from_values([&*quotient]);
        let product = engine.mul(&candidate, &Batch::from_values([self.modulus.value()]))?;
        let mut dividend =
            vec![0; product.stride().max((self.modulus.bits() + self.quotient_bits).div_ceil(64))];
        shift_left(y, self.quotient_bits, &mut dividend);
        let is_above = sub_assign(&mut dividend, product.get(0));
        sub_assign(quotient, &[is_above]);
        Ok(())
    }

    /// The windows of one y.
    fn cut(&self, quotient: &[u64], y: &[u64]) -> Vec<u8> {
        let p = self.setting.precision();
        let window = |j: usize| {
            let end = self.quotient_bits - j * self.setting.ratio_bits();
            let rounded = (bits_at(quotient, end - (p + 1), p as u32 + 1) + 1) >> 1;
            let lowest = if j == 0 { bit(y, 0) } else { bit(quotient, end) };
            (rounded ^ lowest << p) as u8
        };
        (0..self.setting.multiples()).map(window).collect()
    }
}

/// `floor(2^exponent / divisor)` for a divisor of at least two limbs without leading zeros, in quadratic
/// time.
fn power_quotient(exponent: usize, divisor: &[u64]) -> Vec<u64> {
    let n = divisor.len();
    let shift = divisor[n - 1].leading_zeros() as usize;
    let mut normalised = vec![0; n];
    shift_left(divisor, shift, &mut normalised);
    let top = u128::from(normalised[n - 1]);
    let mut rest = vec![0; (exponent + shift) / 64 + 2];
    rest[(exponent + shift) / 64] = 1 << ((exponent + shift) % 64);
    let mut quotient = vec![0; rest.len().saturating_sub(n)];
    for place in (0..quotient.len()).rev() {
        let first = u128::from(rest[place + n]) << 64 | u128::from(rest[place + n - 1]);
        // At most 2 above the true digit.
        let mut digit = (first / top).min(u64::MAX.into()) as u64;
        let owed = sub_assign_times(&mut rest[place..place + n], &normalised, digit);
        let mut above = rest[place + n].wrapping_sub(owed);
        while above != 0 {
            digit -= 1;
            above = above.wrapping_add(add_assign(&mut rest[place..place + n], &normalised));
        }
        (rest[place + n], quotient[place]) = (0, digit);
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gentry_halevi::random;
    use num_bigint::BigUint;

    fn big(limbs: &[u64]) -> BigUint {
        BigUint::from_bytes_le(&limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect::<Vec<_>>())
    }

    #[test]
    fn quotients_of_powers_of_two() {
        for divisor in [
            vec![1, 1 << 63],
            vec![u64::MAX, u64::MAX],
            vec![0, 1],
            vec![u64::MAX, 1],
            vec![5, 0, 7],
            vec![u64::MAX, 0, 1 << 63],
        ] {
            for exponent in [64, 127, 128, 200, 1000] {
                let expected = (BigUint::from(1u8) << exponent) / big(&divisor);
                assert_eq!(big(&power_quotient(exponent, &divisor)), expected, "{divisor:?} {exponent}");
            }
        }
    }

    /// Multiples one after the other, with plain arithmetic.
    fn sequential(setting: &Setting, d: &BigUint, y: &BigUint) -> Vec<u8> {
        let p = setting.precision();
        let mut multiple = y.clone();
        let mut windows = Vec::new();
        for _ in 0..setting.multiples() {
            let rounded = ((&multiple << (p + 1)) / d + 1u8) >> 1u8;
            let rounded = rounded.to_bytes_le()[0];
            windows.push(rounded ^ (u8::from(multiple.bit(0)) << p));
            multiple = (multiple << setting.ratio_bits()) % d;
        }
        windows
    }

    #[test]
    fn windows_of_one_division_are_those_of_all_multiples() {
        let engine = Engine::builder().threads(2).build().unwrap();
        // Long enough to leave bits out, and too short for it; the second has quotients of whole limbs.
        for (n, t, security, bits) in [
            (512, 380, 72, 20_000),
            (128, 256, 72, 5000),
            (64, 64, 72, 4000),
            (32, 128, 8, 4001),
            (8, 32, 16, 300),
        ] {
            let setting = Setting::custom(n, t, security).unwrap();
            let mut d = random::below(&vec![u64::MAX; bits / 64 + 1], bits, 1).unwrap();
            d.get_mut(0)[0] |= 1;
            d.get_mut(0)[(bits - 1) / 64] |= 1 << ((bits - 1) % 64);
            let modulus = Modulus::new(d.get(0)).unwrap();
            let mut y = random::below(modulus.value(), bits, 10).unwrap();
            // Numbers whose quotients end in zeros or ones: 0, 1, d - 1, and the least above and the greatest
            // below multiples of d / 2^k.
            y.get_mut(0).fill(0);
            y.get_mut(1).fill(0);
            y.get_mut(1)[0] = 1;
            y.get_mut(2).copy_from_slice(modulus.value());
            sub_assign(y.get_mut(2), &[1]);
            for (item, shift, more) in [(3, 1usize, 0u8), (4, 1, 1), (5, 9, 0), (6, 9, 1)] {
                let number: BigUint = ((big(modulus.value()) * 5u8) >> (shift + 3)) + more;
                let limbs = number.to_u64_digits();
                y.get_mut(item).fill(0);
                y.get_mut(item)[..limbs.len()].copy_from_slice(&limbs);
            }
            let windows = Windows::new(&setting, &modulus);
            assert_eq!((windows.dropped > 0, windows.quotient_bits.is_multiple_of(64)), (n > 8, n == 128));
            for (found, y) in windows.of(&engine, &y).unwrap().iter().zip(y.iter()) {
                assert_eq!(*found, sequential(&setting, &big(modulus.value()), &big(y)));
            }
        }
    }
}
