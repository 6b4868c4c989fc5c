//! Checks against Euclid's algorithm on `num-bigint`, and against the properties of cofactors.
//!
//! A divisor of both numbers that is also a combination of them is their greatest common divisor. Long
//! numbers are checked by this property, since Euclid's algorithm takes quadratic time.

use super::*;
use crate::test_support::{Random, big};
use num_bigint::BigUint;

fn euclid(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

fn gcd(multiplier: &Multiplier, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut divisor = vec![0; a.len().max(b.len())];
    gcd_into(multiplier, a, b, &mut divisor, &mut Scratch::default());
    trimmed(&divisor)
}

#[track_caller]
fn check(multiplier: &Multiplier, a: &[u64], b: &[u64]) {
    let Bezout { gcd: divisor, s, t, is_swapped } = xgcd(multiplier, a, b);
    let expected = big(&divisor);
    for number in [a, b].map(big) {
        assert_eq!(&number - &number / (&expected).max(&BigUint::from(1u8)) * &expected, BigUint::ZERO);
    }
    assert_eq!(big(&gcd(multiplier, a, b)), expected, "{} {}", a.len(), b.len());
    let (plus, minus) = (big(&s) * big(a), big(&t) * big(b));
    let (plus, minus) = if is_swapped { (minus, plus) } else { (plus, minus) };
    assert_eq!(plus, minus + &expected, "{} {}", a.len(), b.len());
    if !a.is_empty() && !b.is_empty() && expected != BigUint::ZERO {
        assert!(big(&s) <= (big(b) / &expected) / 2u8 + 1u8 && big(&t) <= (big(a) / &expected) / 2u8 + 1u8);
    }
    if big(b) != BigUint::ZERO {
        match invert(multiplier, a, b) {
            Some(inverse) => {
                assert!(big(&inverse) < big(b));
                assert_eq!(big(&inverse) * big(a) % big(b), BigUint::from(1u8) % big(b));
            }
            None => assert!(expected != BigUint::from(1u8)),
        }
    }
}

fn times(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = vec![0; a.len() + b.len()];
    crate::portable::product(a, b, &mut out);
    out
}

#[test]
fn short_numbers_exhaustively() {
    let multiplier = Multiplier::detect(None)[0];
    for a in 0..40 {
        for b in 0..40 {
            for (a, b) in [([a, 0], [b, 0]), ([a, u64::MAX], [u64::MAX - b, b])] {
                check(&multiplier, &a, &b);
                assert_eq!(big(&gcd(&multiplier, &a, &b)), euclid(big(&a), big(&b)));
            }
        }
    }
}

#[test]
fn no_number_has_an_inverse_modulo_zero() {
    let multiplier = Multiplier::detect(None)[0];
    for zero in [&[][..], &[0], &[0, 0]] {
        assert_eq!(invert(&multiplier, &[3], zero), None);
        assert_eq!(invert(&multiplier, zero, zero), None);
    }
}

#[test]
fn every_length_around_the_thresholds() {
    let mut random = Random::new(47);
    let multiplier = *Multiplier::detect(None).last().unwrap();
    let t = half::THRESHOLD;
    for n in (1..12).chain([t / 2, t - 1, t, t + 1, 2 * t - 1, 2 * t, 2 * t + 1, 500]) {
        let (a, b, c) = (random.limbs(n), random.limbs(n), random.limbs(n / 3 + 1));
        check(&multiplier, &a, &b);
        check(&multiplier, &a, &b[..n / 2 + 1]);
        check(&multiplier, &times(&a, &c), &times(&b, &c));
        check(&multiplier, &a, &a);
        check(&multiplier, &times(&a, &c), &a);
        check(&multiplier, &vec![u64::MAX; n], &b);
        let mut power = vec![0; n + 1];
        power[n] = 1;
        check(&multiplier, &power, &vec![u64::MAX; n]);
        check(&multiplier, &power, &b);
        // Quotients of many limbs, and equal leading limbs.
        let mut close = a.clone();
        close[0] ^= 6;
        check(&multiplier, &a, &close);
        check(&multiplier, &times(&a, &b), &b);
        let mut above = times(&a, &b);
        above[0] |= 1;
        check(&multiplier, &above, &b);
    }
}

#[test]
fn lehmer_stops_above_the_floor() {
    let multiplier = Multiplier::detect(None)[0];
    let mut random = Random::new(59);
    let mut power = vec![0; 9];
    power[8] = 1;
    let mut close = vec![u64::MAX; 9];
    close[0] = 1;
    for floor in 0..9 {
        for (a, b) in [
            (random.limbs(9), random.limbs(9)),
            (random.limbs(9), random.limbs(floor + 1)),
            (power.clone(), vec![u64::MAX; 9]),
            (vec![u64::MAX; 9], close.clone()),
        ] {
            let (mut reduced_a, mut reduced_b, mut matrix) = (a.clone(), b.clone(), Matrix::identity(2));
            lehmer::reduce(&multiplier, &mut reduced_a, &mut reduced_b, floor, &mut matrix);
            let [x, y] = [&reduced_a, &reduced_b].map(|x| big(x));
            assert!(reduced_a.len().min(reduced_b.len()) > floor, "{floor}");
            // Neither number can be subtracted from the other once more.
            let distance = if x > y { &x - &y } else { &y - &x };
            assert!(distance.bits() <= 64 * floor as u64, "{floor}");
            let [m0, m1] = matrix.entries();
            assert_eq!(big(m0[0]) * &x + big(m0[1]) * &y, big(&a));
            assert_eq!(big(m1[0]) * &x + big(m1[1]) * &y, big(&b));
        }
    }
}

/// Every length of both numbers around a digit of division steps, with common factors, powers of two and
/// equal numbers.
#[test]
fn short_numbers_of_every_length() {
    let multiplier = Multiplier::detect(None)[0];
    let mut random = Random::new(61);
    for bits in (1usize..200).chain([247, 248, 249, 310, 511, 512, 1023, 1025, 2047, 2049, 4096, 8191]) {
        for other in [1, 2, 61, 62, 63, 64, bits / 2 + 1, bits.saturating_sub(64).max(1), bits, bits + 1] {
            let (a, b) = (random.bits(bits), random.bits(other));
            let (factor, shift) = (big(&random.bits(bits / 3 + 1)), bits % 131);
            let (times_a, times_b) = ((big(&a) * &factor) << shift, (big(&b) * &factor) << (shift / 2));
            for (x, y) in [
                (big(&a), big(&b)),
                (times_a.clone(), times_b),
                (times_a.clone(), factor),
                (times_a.clone(), times_a),
            ] {
                let (x, y) = (x.to_u64_digits(), y.to_u64_digits());
                let expected = euclid(big(&x), big(&y));
                assert_eq!(big(&gcd(&multiplier, &x, &y)), expected, "{bits} {other}");
                assert_eq!(big(&gcd(&multiplier, &y, &x)), expected, "{bits} {other}");
            }
        }
    }
}

/// Powers of two and their neighbours, which make the longest runs of zeros.
#[test]
fn powers_of_two_and_neighbours() {
    let multiplier = Multiplier::detect(None)[0];
    let near = |exponent: usize, delta: i8| {
        let power = BigUint::from(1u8) << exponent;
        let number = if delta < 0 { power - delta.unsigned_abs() } else { power + delta.unsigned_abs() };
        number.to_u64_digits()
    };
    for exponent in [1, 61, 62, 63, 64, 124, 125, 128, 500, 1024] {
        for other in [1, 62, 64, exponent, 2 * exponent] {
            for delta in [-1, 0, 1] {
                let (a, b) = (near(exponent, delta), near(other, -delta));
                assert_eq!(
                    big(&gcd(&multiplier, &a, &b)),
                    euclid(big(&a), big(&b)),
                    "{exponent} {other} {delta}"
                );
            }
        }
    }
}

/// Quotients that are all one: the longest reduction.
#[test]
fn fibonacci_numbers() {
    let (mut a, mut b) = (BigUint::from(1u8), BigUint::from(1u8));
    for n in 0..30_000 {
        (a, b) = (b.clone(), a + b);
        if [50, 92, 100, 183, 1000, 4000, 10_000, 29_999].contains(&n) {
            let (a, b) = (a.to_u64_digits(), b.to_u64_digits());
            for multiplier in Multiplier::detect(None) {
                check(&multiplier, &a, &b);
                check(&multiplier, &b, &a);
            }
        }
    }
}

/// Numbers that are long enough for transforms, with a known divisor.
#[test]
fn long_numbers_with_a_known_divisor() {
    let mut random = Random::new(53);
    for multiplier in Multiplier::detect(None) {
        let (a, b, mut g) = (random.limbs(3000), random.limbs(2500), random.limbs(700));
        g[0] |= 1;
        let mut consecutive = a.clone();
        modmill_core::limbs::add_assign(&mut consecutive, &[1]);
        let coprime = times(&consecutive, &b);
        // a and (a + 1) b + ... share the common factors of a and b: only small primes.
        let found = gcd(&multiplier, &times(&a, &g), &times(&coprime, &g));
        assert_eq!(big(&found) % big(&g), BigUint::ZERO);
        let bezout = xgcd(&multiplier, &times(&a, &g), &times(&coprime, &g));
        assert_eq!(bezout.gcd, found);
        let (plus, minus) = (big(&bezout.s) * big(&a), big(&bezout.t) * big(&coprime));
        let difference = if bezout.is_swapped { minus - plus } else { plus - minus };
        assert_eq!(difference * big(&g), big(&found));
    }
}
