//! Independent answers: by `num-bigint`, and for short numbers by the slow reference of `modmill-core`, which
//! shares no code with the fast paths.

use modmill::{Batch, hex};
use modmill_core::reference::Natural;
use num_bigint::BigUint;

/// A batch whose width is that of the longest number.
#[must_use]
pub fn batch(numbers: &[BigUint]) -> Batch {
    Batch::from_values(numbers.iter().map(BigUint::to_u64_digits))
}

/// A batch of a declared width. No number may exceed it.
#[must_use]
pub fn batch_of_width(numbers: &[BigUint], bits: usize) -> Batch {
    batch(numbers).with_bits(bits).expect("the numbers fit the width")
}

/// A number from its limbs.
#[must_use]
pub fn number(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

/// All numbers of a batch.
#[must_use]
pub fn numbers(batch: &Batch) -> Vec<BigUint> {
    batch.iter().map(number).collect()
}

/// `base^exponent mod modulus`; 0^0 is 1, and everything is 0 modulo 1.
#[must_use]
pub fn pow(base: &BigUint, exponent: &BigUint, modulus: &BigUint) -> BigUint {
    if modulus.bits() == 1 {
        return BigUint::ZERO;
    }
    base.modpow(exponent, modulus)
}

/// `base^exponent mod modulus` by the slow reference, for short numbers.
#[must_use]
pub fn reference_pow(base: &BigUint, exponent: &BigUint, modulus: &BigUint) -> BigUint {
    let natural = |number: &BigUint| Natural::from_limbs(&number.to_u64_digits());
    let power = natural(base).power(&natural(exponent), &natural(modulus));
    number(&power.to_limbs(modulus.bits().div_ceil(64) as usize))
}

/// `a b mod modulus`.
#[must_use]
pub fn mul_mod(a: &BigUint, b: &BigUint, modulus: &BigUint) -> BigUint {
    a * b % modulus
}

/// `a^-1 mod modulus`, if there is one; modulo 1 it is 0.
#[must_use]
pub fn inv(a: &BigUint, modulus: &BigUint) -> Option<BigUint> {
    if modulus.bits() == 1 {
        return Some(BigUint::ZERO);
    }
    a.modinv(modulus)
}

/// The greatest common divisor by Euclid's algorithm.
#[must_use]
pub fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// The Jacobi symbol of `a` modulo an odd `n`, by the residues of `n` modulo 8 and by reciprocity.
#[must_use]
pub fn jacobi(a: &BigUint, n: &BigUint) -> i8 {
    let low = |number: &BigUint| number.iter_u64_digits().next().unwrap_or(0);
    let (mut a, mut n, mut symbol) = (a.clone(), n.clone(), 1);
    loop {
        a %= &n;
        if a == BigUint::ZERO {
            return if n == BigUint::from(1u8) { symbol } else { 0 };
        }
        while low(&a) % 2 == 0 {
            a >>= 1;
            symbol *= if matches!(low(&n) % 8, 3 | 5) { -1 } else { 1 };
        }
        symbol *= if low(&a) % 4 == 3 && low(&n) % 4 == 3 { -1 } else { 1 };
        (a, n) = (n, a);
    }
}

/// A number for a report: hexadecimal, without the middle of a long number.
#[must_use]
pub fn show(number: &BigUint) -> String {
    let text = hex::format(&number.to_u64_digits());
    match text.len() {
        0..=700 => text,
        length => format!("{}...{} ({length} digits)", &text[..300], &text[length - 300..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hard, rng::Rng};

    #[test]
    fn the_oracles_agree_with_each_other() {
        let mut rng = Rng::new(11);
        for bits in [1, 2, 3, 31, 32, 33, 63, 64, 65, 128, 200] {
            for _ in 0..20 {
                let modulus = hard::number(bits, &mut rng) + 1u8;
                let base = hard::number(2 * bits, &mut rng);
                let exponent = hard::number(40, &mut rng);
                let power = pow(&base, &exponent, &modulus);
                assert_eq!(
                    power,
                    reference_pow(&base, &exponent, &modulus),
                    "{base:x}^{exponent:x} % {modulus:x}"
                );
                if let Some(inverse) = inv(&base, &modulus) {
                    assert_eq!(mul_mod(&base, &inverse, &modulus), BigUint::from(1u8) % &modulus);
                }
            }
        }
    }

    #[test]
    fn long_numbers_are_shown_by_their_ends() {
        assert_eq!(show(&BigUint::from(0xabcu32)), "abc");
        assert!(show(&hard::ones(8192)).ends_with("(2048 digits)"));
    }
}
