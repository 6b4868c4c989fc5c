//! Remainders against an independent division.

use super::*;
use crate::scalar_choice::{Limbs, with_scalar};
use crate::test_support::{Random, big};
use num_bigint::BigUint;

fn limbs_of(number: &BigUint, len: usize) -> Vec<u64> {
    let mut limbs = number.to_u64_digits();
    limbs.resize(len, 0);
    limbs
}

/// Every scalar arithmetic of this processor.
fn scalars() -> Vec<Limbs> {
    #[allow(unused_mut)]
    let mut scalars = vec![Limbs::Portable];
    #[cfg(target_arch = "x86_64")]
    scalars.extend(crate::isa::detect_adx().map(Limbs::X86));
    scalars
}

/// Checks one product and, for equal factors, one square.
fn check(a: &[u64], b: &[u64], n: &[u64], scratch: &mut Scratch) {
    let expected = limbs_of(&(big(a) * big(b) % big(n)), n.len() + 1);
    let mut out = vec![7; n.len() + 1];
    for limbs in scalars() {
        out.fill(7);
        with_scalar!(limbs, scalar => multiply(scalar, a, b, n, &mut out, scratch));
        assert_eq!(out, expected, "{limbs:?}: {a:x?} {b:x?} mod {n:x?}");
        if a == b {
            out.fill(7);
            with_scalar!(limbs, scalar => square(scalar, a, n, &mut out, scratch));
            assert_eq!(out, expected, "{limbs:?}: {a:x?} squared mod {n:x?}");
        }
    }
}

/// Checks quotient and remainder of an arbitrary dividend.
fn check_division(value: &[u64], n: &[u64]) {
    let (quotient, remainder) = (big(value) / big(n), big(value) % big(n));
    check_known(value, n, &quotient, &remainder);
}

/// Checks a division whose quotient and remainder are known.
fn check_known(value: &[u64], n: &[u64], expected_quotient: &BigUint, remainder: &BigUint) {
    let mut scratch = Scratch::new(1, 1);
    let expected = limbs_of(remainder, n.len());
    let expected_quotient = limbs_of(expected_quotient, value.len());
    for limbs in scalars() {
        // Numbers of their own width, and of a declared width beyond the limbs, which has them divided.
        for bits in [bit_length(value), 64 * value.len() + 1] {
            for (bit, expected) in [(1, &expected), (0, &vec![0; n.len()])] {
                let mut out = vec![7; n.len()];
                with_scalar!(limbs, scalar => reduce(scalar, (value, bits), bit, n, &mut out, &mut scratch));
                assert_eq!(&out, expected, "{limbs:?}: {bit} times {value:x?} mod {n:x?}");
            }
        }
        let (mut quotient, mut out) = (vec![7; value.len()], vec![7; n.len()]);
        let answers = (&mut quotient[..], &mut out[..]);
        with_scalar!(limbs, scalar => div_rem(scalar, value, n, answers, &mut scratch));
        assert_eq!(quotient, expected_quotient, "{limbs:?}: {value:x?} by {n:x?}");
        assert_eq!(out, expected, "{limbs:?}: {value:x?} by {n:x?}");
    }
}

/// Numbers of `count` limbs with long carry chains: bits, runs of ones, extremes at the top.
fn hard(count: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let mut numbers = vec![vec![0; count], vec![u64::MAX; count]];
    for place in [0, 1, 63, 64 * count / 2, 64 * count - 1] {
        let power = BigUint::from(1u8) << place;
        numbers.push(limbs_of(&power, count));
        numbers.push(limbs_of(&(&power - 1u8), count));
        numbers.push(limbs_of(&(&power + 1u8), count + 1)[..count].to_vec());
    }
    for top in [1, 1 << 63, (1 << 63) + 1, u64::MAX, u64::MAX - 1] {
        for mut number in [vec![0; count], vec![u64::MAX; count], random.limbs(count)] {
            number[count - 1] = top;
            numbers.push(number);
        }
    }
    numbers.push((0..count as u64).map(|place| (place % 2).wrapping_neg()).collect());
    numbers
}

#[test]
fn all_small_numbers() {
    let mut scratch = Scratch::new(0, 0);
    for n in 1..=40u64 {
        for a in 0..=41u64 {
            for b in 0..=41u64 {
                let mut out = [7; 2];
                mul_mod(&[a], &[b, 0], &[n, 0], &mut out, &mut scratch);
                assert_eq!(out, [a * b % n, 0], "{a} {b} mod {n}");
            }
            let mut out = [7];
            square(Portable, &[a], &[n], &mut out, &mut scratch);
            assert_eq!(out, [a * a % n], "{a} squared mod {n}");
        }
    }
}

#[test]
fn bits_beyond_the_width_do_not_count() {
    let mut out = [7];
    reduce(Portable, (&[0xff], 3), 1, &[5], &mut out, &mut Scratch::new(1, 1));
    assert_eq!(out, [7 % 5]);
}

#[test]
fn hard_numbers_of_all_lengths() {
    let mut random = Random::new(5);
    let mut scratch = Scratch::new(0, 0);
    for count in [1, 2, 3, 4, 5, 6, 7, 8, 9, 13] {
        for n in hard(count, &mut random).iter().filter(|n| bit_length(n) > 0) {
            let less = limbs_of(&(big(n) - 1u8), count);
            for a in hard(count, &mut random).iter().chain([n, &less]) {
                for b in [&less, a, &vec![u64::MAX; count]] {
                    check(a, b, n, &mut scratch);
                }
            }
        }
    }
}

/// Dividends `q n + r` with extreme q and r: quotients of all ones, quotients just below a boundary, top
/// limbs equal to the divisor's, and remainders at both ends, where the estimate is one too large.
#[test]
fn quotients_at_their_limits() {
    let mut random = Random::new(6);
    // Long divisors have eight limbs of the quotient found at once.
    for (count, rests) in [1, 2, 3, 4, 5, 6, 8, 11]
        .map(|count| (count, &[1, 2, 4, 5, 8][..]))
        .into_iter()
        .chain([35, 36, 37, 44].map(|count| (count, &[7, 8, 13, 17][..])))
    {
        for n in hard(count, &mut random).iter().filter(|n| bit_length(n) > 0) {
            let n_value = big(n);
            let less = &n_value - 1u8;
            let half = &n_value >> 1;
            for &rest in rests {
                for q in hard(rest, &mut random) {
                    let q = big(&q);
                    let multiple = &q * &n_value;
                    for r in [&BigUint::ZERO, &less, &half] {
                        let value = &multiple + r;
                        check_known(&limbs_of(&value, count + rest), n, &q, r);
                        check_known(&limbs_of(&value, count + rest + 1), n, &q, r);
                    }
                }
                let mut equal = vec![u64::MAX; rest];
                equal.extend_from_slice(n);
                check_division(&equal, n);
                equal[..rest].fill(0);
                check_division(&equal, n);
            }
        }
    }
}

/// The lower estimate of the quotient misses a multiple of the divisor, and rounding up corrects it. For
/// nearly all other dividends, rounding up makes the quotient one too large.
#[test]
fn multiples_and_their_neighbours() {
    let mut random = Random::new(7);
    let n = random.bits(1024);
    for value in [big(&n) << 1024, (big(&n) << 1024) - 1u8, big(&n) * big(&random.limbs(16))] {
        check_division(&limbs_of(&value, 32), &n);
        check_division(&limbs_of(&value, 33), &n);
    }
}

#[test]
fn random_numbers_of_random_lengths() {
    let mut random = Random::new(8);
    let mut scratch = Scratch::new(0, 0);
    for round in 0..4000 {
        let limit = if round % 16 == 0 { 4096 } else { 700 };
        let bits = 1 + random.below(limit);
        let mut n = random.bits(bits);
        let len = n.len();
        n.resize(len + random.below(2), 0);
        let (a_len, b_len) = match round % 3 {
            0 => (len, len),
            1 => (random.below(2 * len + 2), random.below(2 * len + 2)),
            _ => (len, 1 + random.below(len)),
        };
        let (a, b) = (random.limbs(a_len), random.limbs(b_len));
        check(&a, &b, &n, &mut scratch);
        check(&a, &a, &n, &mut scratch);
    }
}

#[test]
fn sizes_around_the_usual_ones() {
    let mut random = Random::new(9);
    let mut scratch = Scratch::new(0, 0);
    for bits in (1..=330).chain([511, 512, 513, 521, 1023, 1024, 1025, 2048, 3072, 4095, 4096]) {
        let n = random.bits(bits);
        let a = limbs_of(&(big(&random.limbs(n.len())) % big(&n)), n.len());
        let b = limbs_of(&(big(&random.limbs(n.len())) % big(&n)), n.len());
        check(&a, &b, &n, &mut scratch);
        check(&a, &a, &n, &mut scratch);
    }
}
