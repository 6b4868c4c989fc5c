//! Prime fields in constant time, on portable 64-bit limbs.

mod element;
mod limbs;
mod moduli;

pub(crate) use moduli::{K256, N256, N384, N521, N25519, NK256, P256, P384, P521, P25519};

#[cfg(test)]
mod tests;

use std::ops::{Add, Mul, Neg, Sub};
use zeroize::{Zeroize, Zeroizing};

/// The numbers modulo a prime. No function's time depends on a value; the exponents of powers are public.
pub(crate) trait Field:
    Copy
    + Send
    + Sync
    + Zeroize
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// A number below the prime as limbs, least significant first.
    type Integer: Copy + AsRef<[u64]> + AsMut<[u64]> + Zeroize;
    const ZERO: Self;
    const ONE: Self;
    const PRIME: Self::Integer;
    /// The length of the prime in bits.
    const BITS: usize;
    /// The length of a number in bytes.
    const BYTES: usize = Self::BITS.div_ceil(8);

    fn square(self) -> Self;

    /// `a` if the mask is all ones, `b` if it is zero.
    fn select(mask: u64, a: Self, b: Self) -> Self;

    /// `self` with the bits of `other` added, if the mask is all ones: how entries of a table are read.
    fn or_masked(self, mask: u64, other: Self) -> Self;

    /// All ones for zero, and zero for all other numbers.
    fn is_zero(self) -> u64;

    /// The number as an integer.
    fn integer(self) -> Self::Integer;

    /// Reads [`Field::BYTES`] big-endian bytes. The mask is all ones if the number is below the prime; it is
    /// reduced otherwise.
    fn read(bytes: &[u8]) -> (Self, u64);

    /// Reads big-endian bytes of up to twice the length of the prime, and reduces them.
    fn read_wide(bytes: &[u8]) -> Self;

    /// Writes [`Field::BYTES`] big-endian bytes.
    fn write(self, bytes: &mut [u8]);

    /// All ones if the two numbers are equal.
    fn equals(self, other: Self) -> u64 {
        (self - other).is_zero()
    }

    /// Whether the number is odd, as the lowest bit of the answer.
    fn parity(self) -> u64 {
        self.integer().as_ref()[0] & 1
    }

    fn double(self) -> Self {
        self + self
    }

    fn triple(self) -> Self {
        self + self + self
    }

    /// The power by a public exponent.
    fn power(self, exponent: &[u64]) -> Self {
        let mut powers = Zeroizing::new([Self::ONE; 16]);
        for i in 1..16 {
            powers[i] = powers[i - 1] * self;
        }
        let mut power = Self::ONE;
        for position in (0..16 * exponent.len()).rev() {
            power = power.square().square().square().square();
            let digit = exponent[position / 16] >> (4 * (position % 16)) & 15;
            power = power * powers[digit as usize];
        }
        power
    }

    /// The inverse, by Fermat's theorem; zero for zero.
    fn inverse(self) -> Self {
        // No prime here ends in a limb below 2.
        let mut exponent = Self::PRIME;
        exponent.as_mut()[0] -= 2;
        self.power(exponent.as_ref())
    }

    /// The power by the quotient of the prime and `2^shift`, for a shift from 1 to 63.
    fn power_of_quotient(self, shift: usize) -> Self {
        let mut exponent = Self::PRIME;
        let limbs = exponent.as_mut();
        for i in 0..limbs.len() {
            let above = limbs.get(i + 1).map_or(0, |limb| limb << (64 - shift));
            limbs[i] = limbs[i] >> shift | above;
        }
        self.power(exponent.as_ref())
    }

    /// A number whose square is this one, if there is one. The prime is 3 modulo 4.
    fn root(self) -> Self {
        // (PRIME + 1) / 4 is one more than the quotient of PRIME and 4.
        self.power_of_quotient(2) * self
    }
}

/// Replaces every number by its inverse, with one inversion for all (Montgomery's trick). Zeros stay zeros
/// and do not disturb the others: one stands for them in the products.
pub(crate) fn invert_all<F: Field>(numbers: &mut [F]) {
    let mut products = Zeroizing::new(Vec::with_capacity(numbers.len()));
    let mut product = F::ONE;
    for &number in numbers.iter() {
        products.push(product);
        product = product * F::select(number.is_zero(), F::ONE, number);
    }
    let mut inverse = product.inverse();
    for (number, &before) in numbers.iter_mut().zip(products.iter()).rev() {
        let zero = number.is_zero();
        let own = inverse * before;
        inverse = inverse * F::select(zero, F::ONE, *number);
        *number = F::select(zero, F::ZERO, own);
    }
}
