//! Arithmetic modulo 2^k, for the power of two in an even modulus. Values may be secret, so the time does not
//! depend on them; `k` is public.

use modmill_core::limbs::{bits_at, inverse_of_odd};
use modmill_core::mask;
use zeroize::Zeroizing;

/// A residue modulo 2^k in `k.div_ceil(64)` limbs.
pub type Residue = Zeroizing<Vec<u64>>;

/// `value mod 2^k`.
#[must_use]
pub fn reduce(value: &[u64], k: usize) -> Residue {
    let mut low = Zeroizing::new(vec![0; k.div_ceil(64)]);
    let copied = low.len().min(value.len());
    low[..copied].copy_from_slice(&value[..copied]);
    truncate(&mut low, k);
    low
}

fn truncate(value: &mut [u64], k: usize) {
    if let Some(top) = value.last_mut().filter(|_| !k.is_multiple_of(64)) {
        *top &= (1 << (k % 64)) - 1;
    }
}

/// `a b mod 2^k` for residues a and b.
#[must_use]
pub fn mul(a: &[u64], b: &[u64], k: usize) -> Residue {
    let mut product = Zeroizing::new(vec![0u64; a.len()]);
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0u64;
        for (to, &y) in product[i..].iter_mut().zip(b) {
            // The sum is at most `(2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1`.
            let sum = u128::from(x) * u128::from(y) + u128::from(*to) + u128::from(carry);
            *to = sum as u64;
            carry = (sum >> 64) as u64;
        }
    }
    truncate(&mut product, k);
    product
}

/// `a - b mod 2^k` for residues a and b.
#[must_use]
pub fn sub(a: &[u64], b: &[u64], k: usize) -> Residue {
    let mut difference = Zeroizing::new(a.to_vec());
    modmill_core::limbs::sub_assign(&mut difference, b);
    truncate(&mut difference, k);
    difference
}

/// `base^exponent mod 2^k` by square-and-multiply with a masked choice. The time depends on `exponent_bits`
/// and k only.
///
/// ```
/// use modmill_cpu::power_of_two::pow;
///
/// assert_eq!(pow(&[3], &[5], 3, 7)[..], [243 % 128]);
/// ```
#[must_use]
pub fn pow(base: &[u64], exponent: &[u64], exponent_bits: usize, k: usize) -> Residue {
    let base = reduce(base, k);
    let mut power = reduce(&[1], k);
    for place in (0..exponent_bits).rev() {
        power = mul(&power, &power, k);
        let multiplied = mul(&power, &base, k);
        let take = mask::from_bit(bits_at(exponent, place, 1));
        for (limb, other) in power.iter_mut().zip(multiplied.iter()) {
            *limb ^= (*limb ^ other) & take;
        }
    }
    power
}

/// The inverse of an odd residue by Newton's iteration `x <- x (2 - a x)`. Each step doubles the number of
/// correct low bits.
#[must_use]
pub fn inverse_of_odd_residue(a: &[u64], k: usize) -> Residue {
    // Modulo 1 there are no limbs, and every inverse is 0.
    let lowest = a.first().copied().unwrap_or(1);
    let mut inverse = reduce(&[inverse_of_odd(lowest)], k);
    let two = reduce(&[2], k);
    let mut correct = 64;
    while correct < k {
        inverse = mul(&inverse, &sub(&two, &mul(a, &inverse, k), k), k);
        correct *= 2;
    }
    inverse
}

/// The number of `len` limbs below `m 2^k` that is congruent to `x` modulo m and to `y` modulo 2^k. Garner's
/// step computes it as `x + m ((y - x) / m mod 2^k)`.
#[must_use]
pub fn join(x: &[u64], m: &[u64], y: &[u64], k: usize, len: usize) -> Residue {
    let inverse = inverse_of_odd_residue(&reduce(m, k), k);
    let multiple = mul(&sub(y, &reduce(x, k), k), &inverse, k);
    // The result is below `m 2^k`, so arithmetic modulo `2^(64 len)` is exact.
    let whole = |value: &[u64]| reduce(value, 64 * len);
    let mut joined = mul(&whole(m), &whole(&multiple), 64 * len);
    modmill_core::limbs::add_assign(&mut joined, &whole(x));
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_core::reference::Natural;

    #[test]
    fn modulo_one_every_number_is_zero() {
        assert!(inverse_of_odd_residue(&reduce(&[3], 0), 0).is_empty());
        assert!(pow(&[3], &[5], 3, 0).is_empty());
        assert_eq!(join(&[2], &[5], &[], 0, 1)[..], [2]);
    }

    #[test]
    fn powers_and_inverses_agree_with_the_reference() {
        let a = [0x9e37_79b9_7f4a_7c15, 0xf39c_c060_5ced_c835, 0x1082_276b_f3a2_7251];
        let exponents: [&[u64]; 5] = [&[0], &[1], &[2], &[65537], &[u64::MAX, 3]];
        for k in [1, 2, 63, 64, 65, 127, 128, 150, 192, 300] {
            let mut modulus = vec![0u64; k / 64 + 1];
            modulus[k / 64] = 1 << (k % 64);
            let n = Natural::from_limbs(&modulus);
            for exponent in exponents {
                let expected = Natural::from_limbs(&a).power(&Natural::from_limbs(exponent), &n);
                let found = pow(&a, exponent, 64 * exponent.len(), k);
                assert_eq!(Natural::from_limbs(&found), expected, "k = {k}");
            }
            let residue = reduce(&a, k);
            assert_eq!(mul(&residue, &inverse_of_odd_residue(&residue, k), k), reduce(&[1], k));
        }
    }
}
