//! Modular inverses by division steps.

pub(crate) mod divsteps;
mod odd;
pub(crate) mod signed;

use crate::power_of_two::{self as two, Residue};
use modmill_core::limbs;

/// `a^-1 mod n`, with as many limbs as n. The modulus n has no leading zero limbs. The result is `None` if a
/// and n share a factor. Modulo 1 the inverse of every number is 0.
///
/// The time depends on the lengths, on the power of two in n and on whether an inverse exists, but not
/// otherwise on the values.
///
/// ```
/// use modmill_cpu::inverse::invert;
///
/// assert_eq!(invert(&[3], &[7]).as_deref(), Some(&vec![5]));
/// assert!(invert(&[6], &[9]).is_none());
/// ```
#[must_use]
pub fn invert(a: &[u64], n: &[u64]) -> Option<Residue> {
    let k = limbs::trailing_zeros(n)?;
    if k == 0 {
        return odd::invert(a, n);
    }
    if limbs::bit(a, 0) == 0 {
        return None;
    }
    let mut m = Residue::new(vec![0; n.len()]);
    limbs::shift_right(n, k, &mut m);
    let used = limbs::bit_length(&m).div_ceil(64);
    m.truncate(used);
    let modulo_m = odd::invert(a, &m)?;
    let modulo_two = two::inverse_of_odd_residue(&two::reduce(a, k), k);
    Some(two::join(&modulo_m, &m, &modulo_two, k, n.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};

    /// Compares an inverse, or its absence, with `num-bigint`.
    fn check(a: &[u64], n: &[u64]) {
        let one = big(&[1]) % big(n);
        let found = invert(a, n);
        match big(a).modinv(&big(n)).or((n == [1]).then(|| big(&[0]))) {
            Some(expected) => {
                let found = found.unwrap_or_else(|| panic!("{a:x?} has an inverse modulo {n:x?}"));
                assert_eq!(found.len(), n.len());
                assert_eq!(big(&found), expected, "{a:x?} modulo {n:x?}");
                assert_eq!(big(a) * big(&found) % big(n), one);
            }
            None => assert!(found.is_none(), "{a:x?} has no inverse modulo {n:x?}"),
        }
    }

    #[test]
    fn small_moduli_exhaustively() {
        for n in 1..=60 {
            for a in 0..=2 * n + 1 {
                check(&[a], &[n]);
                check(&[a, 0, 1], &[n]);
            }
            check(&[], &[n]);
        }
    }

    #[test]
    fn hard_moduli_and_hard_numbers() {
        for limbs in [1, 2, 3, 4, 8, 16, 31] {
            let one = |bit: usize| {
                let mut number = vec![0; limbs];
                number[bit / 64] = 1 << (bit % 64);
                number
            };
            let ones = vec![u64::MAX; limbs];
            let top = one(64 * limbs - 1);
            let mut above_top = top.clone();
            above_top[0] |= 1;
            let mut below_ones = ones.clone();
            below_ones[0] -= 2;
            let mut middle = ones.clone();
            middle[limbs / 2] = 0;
            middle[limbs - 1] |= 1;
            for n in [&ones, &top, &above_top, &below_ones, &middle] {
                let mut less = n.clone();
                limbs::sub_assign(&mut less, &[1]);
                let mut half = vec![0; limbs];
                limbs::shift_right(n, 1, &mut half);
                for a in [&one(0), &one(1), &one(64 * limbs - 2), &ones, &top, &middle, n, &less, &half] {
                    check(a, n);
                    check(&[a.as_slice(), &[0, 0]].concat(), n);
                    check(&[a.as_slice(), a].concat(), n);
                }
                check(&[0], n);
                check(&[3], n);
            }
        }
    }

    #[test]
    fn primes() {
        // 2^61 - 1, 2^89 - 1, 2^127 - 1, 2^521 - 1 and 2^255 - 19.
        let mut random = Random::new(11);
        for bits in [61, 89, 127, 521] {
            let mut n = vec![u64::MAX; bits / 64 + 1];
            n[bits / 64] = (1 << (bits % 64)) - 1;
            (0..20).for_each(|_| check(&random.bits(bits), &n));
        }
        let n = [u64::MAX - 18, u64::MAX, u64::MAX, u64::MAX >> 1];
        (0..20).for_each(|_| check(&random.bits(300), &n));
    }

    #[test]
    fn powers_of_two_and_even_moduli() {
        let mut random = Random::new(7);
        for k in [1, 2, 61, 62, 63, 64, 65, 127, 128, 200, 1000] {
            let mut power = vec![0; k / 64 + 1];
            power[k / 64] = 1 << (k % 64);
            for a in [random.bits(1), random.bits(k), random.bits(k + 70), vec![u64::MAX; k / 64 + 1]] {
                check(&a, &power);
            }
            for odd_bits in [2, 63, 64, 65, 130] {
                let mut odd = random.bits(odd_bits);
                odd[0] |= 1;
                let mut n = vec![0; (k + odd_bits).div_ceil(64)];
                limbs::shift_left(&odd, k, &mut n);
                for bits in [1, 64, odd_bits, k + odd_bits, k + odd_bits + 100] {
                    let mut a = random.bits(bits);
                    check(&a, &n);
                    a[0] |= 1;
                    check(&a, &n);
                }
            }
        }
    }

    #[test]
    fn random_numbers_of_all_sizes() {
        let mut random = Random::new(5);
        for bits in (2..140).chain([191, 192, 193, 255, 256, 512, 1000, 1024, 1025, 2048, 3072, 4096]) {
            for _ in 0..4 {
                let mut n = random.bits(bits);
                n[0] |= 1;
                for a_bits in [bits, bits / 2 + 1, 2 * bits + 3] {
                    check(&random.bits(a_bits), &n);
                }
                // Numbers that share the factor 3.
                let three: Vec<u64> = {
                    let tripled = big(&random.bits(bits)) * 3u32;
                    tripled.to_u64_digits()
                };
                n = (big(&n) * 3u32).to_u64_digits();
                check(&three, &n);
            }
        }
    }
}
