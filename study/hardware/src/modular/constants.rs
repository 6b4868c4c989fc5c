//! The constants that are computed once for a modulus: `M' = -M^-1 mod R`, the transforms of M' and M, and
//! `R - M`.

use super::passes::put_digits;
use super::transform::{Multiplicand, Samples};
use super::{DIGITS, ModularMultiplier, SIDE};
use crate::digits;
use crate::error::Error;
use crate::memory::Memory;
use modmill_core::limbs;

/// `-M^-1 mod 2^(64 length)` for an odd modulus of `length` limbs.
fn negated_inverse(modulus: &[u64]) -> Vec<u64> {
    let word = limbs::inverse_of_odd(modulus[0]);
    // The rest is 1 - M x 2^0 ... for the limbs of x so far; its lowest limbs are zero.
    let mut rest = vec![0u64; modulus.len()];
    rest[0] = 1;
    let mut inverse = vec![0; modulus.len()];
    for index in 0..modulus.len() {
        let limb = rest[index].wrapping_mul(word);
        inverse[index] = limb;
        let reach = modulus.len() - index;
        limbs::sub_assign_times(&mut rest[index..], &modulus[..reach], limb);
    }
    limbs::negate(&mut inverse);
    inverse
}

impl ModularMultiplier {
    /// Fills the memories of constants. The transforms of M' and M are the machine's own.
    pub(super) fn set_up(&mut self, modulus: &[u64]) -> Result<(), Error> {
        let inverse = digits::split("M'", &negated_inverse(&self.modulus), self.digit_bits, DIGITS)?;
        for (which, numbers) in [inverse.as_slice(), modulus].into_iter().enumerate() {
            self.y.release();
            put_digits(&mut self.y, numbers)?;
            self.forward(Samples::Y, Multiplicand::Last)?;
            self.constants[which] = self.y.clone();
        }
        self.y = Memory::new("Y", SIDE, SIDE);
        let mut complement = self.modulus.clone();
        limbs::negate(&mut complement);
        let complement = digits::split("R - M", &complement, self.digit_bits, DIGITS)?;
        put_digits(&mut self.complement, &complement)
    }

    /// `R^2 mod M`, by doubling.
    pub(super) fn r_squared(&self) -> Vec<u64> {
        let mut power = vec![0; self.modulus.len()];
        power[0] = 1;
        for _ in 0..2 * 64 * self.modulus.len() {
            let copy = power.clone();
            let carry = limbs::add_assign(&mut power, &copy);
            let mut less = power.clone();
            let borrow = limbs::sub_assign(&mut less, &self.modulus);
            if carry != 0 || borrow == 0 {
                power = less;
            }
        }
        power
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negated_inverses_are_inverses() {
        let modulus = [0xffff_ffff_ffff_fff1, 0x1234, 0, 0x8000_0000_0000_0001];
        let mut inverse = negated_inverse(&modulus);
        limbs::negate(&mut inverse);
        // 1 - M M^-1 = 0 modulo 2^256.
        let mut rest = vec![1, 0, 0, 0];
        for (index, &limb) in inverse.iter().enumerate() {
            limbs::sub_assign_times(&mut rest[index..], &modulus[..4 - index], limb);
        }
        assert_eq!(rest, [0; 4]);
    }
}
