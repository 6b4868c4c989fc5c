//! Exact quotients, from the lowest limb up. The derivation is in `docs/algorithms/division.md`.

use crate::long::Multiplier;
use crate::rows::Rows;
use modmill_core::limbs::{inverse_of_odd, shift_right, sub_assign, sub_assign_times, trailing_zeros};

/// Limbs of a quotient from which on an inverse by Newton's iteration costs less than rows.
const LONG: usize = 1024;

/// `out <- a / b`, for a number b that divides a. The quotient has at most as many limbs as `out`.
///
/// The time depends on the lengths and on the power of two in b, not on other properties of the values.
///
/// ```
/// use modmill_cpu::division::div_exact;
/// use modmill_cpu::long::Multiplier;
///
/// let mut quotient = [0; 2];
/// div_exact(&Multiplier::detect(None)[0], &[42 << 8, 0, 0], &[6 << 8], &mut quotient);
/// assert_eq!(quotient, [7, 0]);
/// ```
///
/// # Panics
/// If b is zero.
pub fn div_exact(multiplier: &Multiplier, a: &[u64], b: &[u64], out: &mut [u64]) {
    let shift = trailing_zeros(b).expect("a divisor is not zero");
    let n = out.len();
    if n == 0 {
        return;
    }
    // The quotient is below B^n, so that both numbers count modulo B^n only.
    let (mut rest, mut odd) = (Rows::zeros(n), Rows::zeros(n));
    shift_right(a, shift, &mut rest);
    shift_right(b, shift, &mut odd);
    if n >= LONG {
        let inverse = inverse(multiplier, &odd);
        return low_product(multiplier, &rest, &inverse, out);
    }
    let inverse = inverse_of_odd(odd[0]);
    for (place, digit) in out.iter_mut().enumerate() {
        // The digit makes the lowest limb that is left zero.
        *digit = rest[place].wrapping_mul(inverse);
        sub_assign_times(&mut rest[place..], &odd[..n - place], *digit);
    }
}

/// The inverse of an odd number modulo `B^n`, for its n limbs: a step `x <- x (2 - b x)` doubles the limbs
/// that are right.
fn inverse(multiplier: &Multiplier, b: &[u64]) -> Rows {
    let n = b.len();
    let mut inverse = Rows::zeros(n);
    inverse[0] = inverse_of_odd(b[0]);
    let mut known = 1;
    while known < n {
        let wanted = (2 * known).min(n);
        let (mut product, mut factor) = (Rows::zeros(wanted), Rows::zeros(wanted));
        low_product(multiplier, &b[..wanted], &inverse[..known], &mut product);
        factor[0] = 2;
        sub_assign(&mut factor, &product);
        low_product(multiplier, &factor, &inverse[..known], &mut product);
        inverse[..wanted].copy_from_slice(&product);
        known = wanted;
    }
    inverse
}

/// The lowest limbs of a product, as many as `out` has.
fn low_product(multiplier: &Multiplier, a: &[u64], b: &[u64], out: &mut [u64]) {
    let mut product = Rows::zeros(a.len() + b.len());
    multiplier.multiply(a, b, &mut product);
    out.copy_from_slice(&product[..out.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};
    use num_bigint::BigUint;

    #[test]
    fn quotients_times_divisors_are_dividends() {
        let mut random = Random::new(3);
        for multiplier in Multiplier::detect(None) {
            for (quotient_limbs, divisor_bits) in
                [(1, 1), (1, 64), (2, 65), (3, 700), (7, 3), (33, 2048), (LONG - 1, 100), (LONG + 3, 70_000)]
            {
                for zeros in [0, 1, 63, 64, 65] {
                    let quotient = random.bits(64 * quotient_limbs);
                    let divisor: BigUint = (big(&random.bits(divisor_bits)) | BigUint::from(1u8)) << zeros;
                    let ones = vec![u64::MAX; quotient_limbs];
                    for quotient in [quotient, ones, vec![0; quotient_limbs]] {
                        let dividend = (big(&quotient) * &divisor).to_u64_digits();
                        let mut found = vec![7; quotient_limbs];
                        div_exact(&multiplier, &dividend, &divisor.to_u64_digits(), &mut found);
                        assert_eq!(found, quotient, "{quotient_limbs} limbs by {divisor_bits} bits");
                    }
                }
            }
        }
    }
}
