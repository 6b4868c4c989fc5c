//! Flaws of a modulus that anyone can find: small factors and perfect powers. Everything here is public, and
//! takes variable time.

use crate::Sieve;
use crypto_bigint::BoxedUint;
use modmill::number;
use std::sync::LazyLock;
use thiserror::Error;

/// Factors below this limit are found by trial division.
const SMALL: usize = 1 << 16;

/// A flaw that makes a modulus easy to factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModulusFlaw {
    /// The modulus is divisible by a small prime.
    #[error("it is divisible by {0}")]
    SmallFactor(u64),
    /// The modulus is a power of another number, with this exponent.
    #[error("it is a perfect power with exponent {0}")]
    PerfectPower(usize),
    /// The modulus is prime.
    #[error("it is prime")]
    Prime,
}

impl ModulusFlaw {
    /// The first flaw of a modulus that is odd or even: a prime factor below 2^16, or a power of another
    /// number. Whether the modulus is prime is not looked at.
    ///
    /// ```
    /// use modmill_primes::ModulusFlaw;
    ///
    /// assert_eq!(ModulusFlaw::find(&[65_537 * 3]), Some(ModulusFlaw::SmallFactor(3)));
    /// assert_eq!(ModulusFlaw::find(&[65_537 * 65_537]), Some(ModulusFlaw::PerfectPower(2)));
    /// assert_eq!(ModulusFlaw::find(&[65_537 * 65_539]), None);
    /// ```
    #[must_use]
    pub fn find(modulus: &[u64]) -> Option<Self> {
        static SIEVE: LazyLock<Sieve> = LazyLock::new(|| Sieve::below(SMALL));
        if modulus.first().is_none_or(|low| low & 1 == 0) {
            return Some(Self::SmallFactor(2));
        }
        let factor = SIEVE.factor(modulus).map(Self::SmallFactor);
        factor.or_else(|| perfect_power(modulus).map(|(_, exponent)| Self::PerfectPower(exponent)))
    }
}

/// A number above one whose power is `n`, and the least exponent above one for which there is one. `n` is odd
/// and has no factor below 2^16. The exponent is prime.
///
/// ```
/// use modmill_primes::perfect_power;
///
/// assert_eq!(perfect_power(&[65_537 * 65_537]), Some((vec![65_537], 2)));
/// assert_eq!(perfect_power(&[65_537 * 65_539]), None);
/// ```
#[must_use]
pub fn perfect_power(n: &[u64]) -> Option<(Vec<u64>, usize)> {
    // The root has no small factor either, so that it has at least as many bits as their limit.
    let longest = number::bit_length(n) / SMALL.ilog2() as usize;
    let listed = RESIDUES
        .iter()
        .take_while(|(k, _)| *k <= longest)
        .filter(|(k, primes)| primes.iter().all(|&prime| is_residue(n, *k as u64, prime)));
    let others = (MOST_LISTED + 1..=longest).filter(|k| k % 2 == 1);
    listed.map(|(k, _)| *k).chain(others).find_map(|k| Some((root_of_power(n, k)?, k)))
}

/// Exponents up to this one have primes in [`RESIDUES`].
const MOST_LISTED: usize = 1 << 10;

/// Each prime exponent k with some primes l that are 1 modulo k: only one number in k is a k-th power modulo
/// l.
static RESIDUES: LazyLock<Vec<(usize, Vec<u64>)>> = LazyLock::new(|| {
    let primes: Vec<u64> = Sieve::below(SMALL).primes().collect();
    let exponents = std::iter::once(2).chain(primes.iter().copied()).take_while(|&k| k <= MOST_LISTED as u64);
    // Eight primes leave one number in 256 as a possible square, and three at most one in 27 as another
    // power.
    let residues = |k: u64| {
        let count = if k == 2 { 8 } else { 3 };
        primes.iter().copied().filter(move |prime| prime % k == 1).take(count).collect()
    };
    exponents.map(|k| (k as usize, residues(k))).collect()
});

/// Whether `n` is a k-th power modulo a prime below 2^16 that is 1 modulo k.
fn is_residue(n: &[u64], k: u64, prime: u64) -> bool {
    let (mut base, mut power, mut exponent) = (crate::remainder(n, prime), 1, (prime - 1) / k);
    if base == 0 {
        return true;
    }
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power * base % prime;
        }
        base = base * base % prime;
        exponent >>= 1;
    }
    power == 1
}

/// The number whose k-th power is the odd number `n`, if there is one. k is two, or odd.
fn root_of_power(n: &[u64], k: usize) -> Option<Vec<u64>> {
    let short = |limbs: &[u64]| limbs[..number::bit_length(limbs).div_ceil(64)].to_vec();
    if k == 2 {
        let n = BoxedUint::from_words(n.iter().copied());
        return n.checked_sqrt_vartime().map(|root| short(root.as_words()));
    }
    let bits = number::bit_length(n);
    let root = root(n, k, bits.div_ceil(k).div_ceil(64));
    let root_bits = number::bit_length(&root);
    // n has between k (root_bits - 1) + 1 and k root_bits bits if the root is right.
    if root_bits * k >= bits + k {
        return None;
    }
    // root^k has at most bits + k - 1 bits, so that nothing of it is cut off.
    let power = power(&root, k, (bits + k).div_ceil(64));
    number::equal(&power, n).then(|| short(&root))
}

/// The k-th root of an odd `n` modulo `2^(64 len)` for an odd k. It exists and is unique.
///
/// Newton's iteration finds `y = n^(-1/k)`: with `n y^k = 1 + h`, `n (y - y h / k)^k = 1 + O(h^2)`, so that
/// every step doubles the number of right bits. The root is `n y^(k - 1)`.
fn root(n: &[u64], k: usize, len: usize) -> Vec<u64> {
    let n = resized(n, len);
    let k_inverse = inverse_of_odd(k as u64, len);
    let mut y = resized(&[1], len);
    // One bit is right at the start.
    for _ in 0..(64 * len).ilog2() + 1 {
        let mut h = low_product(&n, &power(&y, k, len), len);
        number::sub_assign(&mut h, &resized(&[1], len));
        let step = low_product(&low_product(&y, &h, len), &k_inverse, len);
        number::sub_assign(&mut y, &step);
    }
    low_product(&n, &power(&y, k - 1, len), len)
}

/// `k^-1 mod 2^(64 len)` for an odd k, by Newton's iteration.
fn inverse_of_odd(k: u64, len: usize) -> Vec<u64> {
    let k = resized(&[k], len);
    let mut inverse = resized(&[1], len);
    for _ in 0..(64 * len).ilog2() + 1 {
        let mut error = low_product(&k, &inverse, len);
        number::sub_assign(&mut error, &resized(&[1], len));
        let step = low_product(&inverse, &error, len);
        number::sub_assign(&mut inverse, &step);
    }
    inverse
}

/// `base^k mod 2^(64 len)`.
fn power(base: &[u64], k: usize, len: usize) -> Vec<u64> {
    let base = resized(base, len);
    (0..usize::BITS - k.leading_zeros()).rev().fold(resized(&[1], len), |power, bit| {
        let square = low_product(&power, &power, len);
        if k >> bit & 1 == 1 { low_product(&square, &base, len) } else { square }
    })
}

/// `a b mod 2^(64 len)`.
fn low_product(a: &[u64], b: &[u64], len: usize) -> Vec<u64> {
    resized(&number::mul(a, b), len)
}

/// The low `len` limbs of a number.
fn resized(number: &[u64], len: usize) -> Vec<u64> {
    let mut limbs = number[..number.len().min(len)].to_vec();
    limbs.resize(len, 0);
    limbs
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_testing::oracle::number as big;
    use modmill_testing::rng::Rng;
    use num_bigint::BigUint;

    #[test]
    fn powers_are_found_and_their_neighbours_are_not() {
        let mut rng = Rng::new(70);
        for (bits, k) in
            [(512, 2), (512, 3), (300, 5), (1024, 2), (100, 23), (17, 127), (30, 101), (64, 7), (65, 3)]
        {
            let mut base = rng.exact(bits);
            base.set_bit(0, true);
            while Sieve::below(SMALL).factor(&base.to_u64_digits()).is_some() {
                base += 2u8;
            }
            let power = base.pow(k as u32);
            let expected = Some((base.to_u64_digits(), k));
            assert_eq!(perfect_power(&power.to_u64_digits()), expected, "{bits} bits to the power {k}");
            for other in [&power + 2u8, &power - 2u8] {
                assert_eq!(perfect_power(&other.to_u64_digits()), None);
            }
        }
    }

    #[test]
    fn roots_are_roots_modulo_powers_of_two() {
        let n = Rng::new(71).exact(200).to_u64_digits();
        let n: Vec<u64> =
            n.iter().enumerate().map(|(index, limb)| if index == 0 { limb | 1 } else { *limb }).collect();
        for k in [3usize, 5, 7, 1021] {
            let root = big(&root(&n, k, 3));
            let modulus = BigUint::from(1u8) << 192;
            assert_eq!(root.modpow(&BigUint::from(k), &modulus), big(&n) % &modulus);
        }
    }
}
