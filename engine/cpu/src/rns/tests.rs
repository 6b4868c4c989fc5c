//! Products and powers in residues against `num-bigint`, at the ends of every range.

use super::domain::{RnsDomain, RnsValue};
use crate::test_support::{Random, big};
use modmill_core::rns::{Bases, Channel};
use num_bigint::BigUint;
use std::sync::Arc;

fn limbs(number: &BigUint, count: usize) -> Vec<u64> {
    let mut limbs = number.to_u64_digits();
    limbs.resize(count.max(limbs.len()), 0);
    limbs
}

/// The number that a state represents.
fn value(bases: &Bases, state: &RnsValue) -> BigUint {
    let a: BigUint = bases.a().iter().map(|channel| BigUint::from(channel.p)).product();
    let terms = bases.a().iter().zip(state.0.iter());
    let sum: BigUint = terms.map(|(channel, &xi)| &a / channel.p * xi).sum();
    sum % a
}

fn product(base: &[Channel]) -> BigUint {
    base.iter().map(|channel| BigUint::from(channel.p)).product()
}

/// Odd moduli of `bits` bits: the largest, the smallest and a random one.
fn moduli(bits: usize, random: &mut Random) -> Vec<BigUint> {
    let one = BigUint::from(1u32);
    let largest = (&one << bits) - &one;
    let smallest = (&one << (bits - 1)) + &one;
    let other = big(&random.bits(bits)) | &one;
    [largest, smallest, other].into_iter().filter(|modulus| modulus.bit(0) && *modulus > one).collect()
}

fn numbers(modulus: &BigUint, capacity: usize, random: &mut Random) -> Vec<BigUint> {
    let one = BigUint::from(1u32);
    vec![
        BigUint::ZERO,
        one.clone(),
        modulus - &one,
        modulus.clone(),
        (&one << capacity) - &one,
        big(&random.bits(capacity)) % modulus,
        (&one << (3 * capacity)) - &one,
    ]
}

#[test]
fn products_are_right_and_stay_in_their_range() {
    let mut random = Random::new(1);
    for bits in [2, 3, 31, 64, 65, 116, 117, 237, 521, 1024, 2048] {
        let bases = Bases::for_bits(bits).unwrap();
        let b = product(bases.b());
        for modulus in moduli(bits, &mut random) {
            let domain = RnsDomain::new(&bases, &limbs(&modulus, 0)).unwrap();
            let bound = &modulus * bases.bounds().growth;
            let undo = b.modinv(&modulus).unwrap();
            let numbers = numbers(&modulus, bases.capacity_bits(), &mut random);
            for x in &numbers {
                let entered = domain.enter(&limbs(x, 0));
                let mut value_of_x = value(&bases, &entered);
                assert!(value_of_x < bound);
                assert_eq!(&value_of_x % &modulus, x * &b % &modulus, "{bits} bits, {x:x} enters");
                for y in &numbers {
                    let factor = domain.factor(&domain.load(&limbs(y, 0)));
                    let mut product = entered.clone();
                    domain.multiply(&mut product, &factor);
                    let expected = x * y % &modulus;
                    assert!(value(&bases, &product) < bound);
                    assert_eq!(value(&bases, &product) % &modulus, expected, "{bits} bits: {x:x} {y:x}");
                    let mut out = vec![0; modulus.bits().div_ceil(64) as usize];
                    domain.finish(entered.clone(), &factor, &mut out);
                    assert_eq!(big(&out), expected, "{bits} bits, exactly: {x:x} {y:x}");
                }
                // A chain of squares, so that lazy residues can grow to their bounds.
                let mut square = entered;
                for _ in 0..8 {
                    domain.square(&mut square);
                    value_of_x = (&value_of_x * &value_of_x * &undo) % &modulus;
                    assert!(value(&bases, &square) < bound);
                    assert_eq!(value(&bases, &square) % &modulus, value_of_x);
                }
            }
        }
    }
}

/// The largest value that may be squared, in the largest words that the ranges allow, so that a product meets
/// all its bounds at once.
#[test]
fn a_product_is_right_with_its_state_at_the_bounds() {
    for bits in [116, 512, 1024, 2048, 4096] {
        let bases = Bases::for_bits(bits).unwrap();
        let modulus = (BigUint::from(1u32) << bases.capacity_bits()) - 1u32;
        let domain = RnsDomain::new(&bases, &modulus.to_u64_digits()).unwrap();
        let bound = &modulus * bases.bounds().growth;
        let undo = product(bases.b()).modinv(&modulus).unwrap();
        for x in [&bound - 1u32, BigUint::ZERO, bound.clone() / 2u32] {
            let mut state = domain.one().clone();
            let channels = bases.a().iter().zip(bases.cofactor_inverses()).zip(&bases.bounds().ranges.xi_a);
            for (word, ((channel, &inverse), &largest)) in state.0.iter_mut().zip(channels) {
                let residue = u32::try_from(&x % channel.p).unwrap();
                let xi = u64::from(channel.multiply(residue, inverse));
                let p = u64::from(channel.p);
                *word = u32::try_from(xi + (largest - xi) / p * p).unwrap();
            }
            assert_eq!(value(&bases, &state), x);
            let expected = &x * &x * &undo % &modulus;
            let factor = domain.factor(&state);
            let (mut product, mut square) = (state.clone(), state);
            domain.multiply(&mut product, &factor);
            domain.square(&mut square);
            for result in [product, square] {
                let words = result.0.iter().zip(&bases.bounds().ranges.xi_a);
                assert!(words.clone().all(|(&word, &largest)| u64::from(word) <= largest));
                assert!(value(&bases, &result) < bound);
                assert_eq!(value(&bases, &result) % &modulus, expected, "{bits} bits");
            }
        }
    }
}

#[test]
fn powers_are_right() {
    let mut random = Random::new(2);
    for bits in [2, 64, 116, 300, 512] {
        let bases = Bases::for_bits(bits).unwrap();
        for modulus in moduli(bits, &mut random) {
            let domain = RnsDomain::new(&bases, &limbs(&modulus, 0)).unwrap();
            let unit = domain.unit();
            for x in numbers(&modulus, bases.capacity_bits(), &mut random) {
                for exponent in
                    [vec![], vec![0], vec![1], vec![2], vec![65537], random.limbs(1), vec![u64::MAX; 2]]
                {
                    let expected =
                        limbs(&x.modpow(&big(&exponent), &modulus), modulus.bits().div_ceil(64) as usize);
                    let mut out = vec![1; expected.len()];
                    for window in [1, 3, 5] {
                        let mut power = domain.enter(&limbs(&x, 0));
                        domain.pow(&mut power, &exponent, 64 * exponent.len(), window);
                        domain.finish(power, &unit, &mut out);
                        assert_eq!(out, expected, "{x:x}^{exponent:x?}, window {window}");
                    }
                    let mut power = domain.enter(&limbs(&x, 0));
                    domain.pow_vartime(&mut power, &exponent, 5);
                    domain.finish(power, &unit, &mut out);
                    assert_eq!(out, expected, "{x:x}^{exponent:x?}");
                }
            }
        }
    }
}

#[test]
fn a_modulus_of_base_primes_is_refused_by_b_and_taken_by_a() {
    let bases: Arc<Bases> = Bases::for_bits(200).unwrap();
    let domain = |primes: &[Channel]| RnsDomain::new(&bases, &product(primes).to_u64_digits());
    assert!(domain(&bases.b()[..1]).is_none() && domain(&bases.b()[3..7]).is_none());
    let (modulus, domain) = (product(&bases.a()[..5]), domain(&bases.a()[..5]).unwrap());
    for x in [BigUint::from(bases.a()[2].p), BigUint::from(7u32), &modulus - 1u32] {
        let mut out = vec![0; 3];
        domain.finish(domain.enter(&limbs(&x, 0)), &domain.factor(&domain.load(&limbs(&x, 0))), &mut out);
        assert_eq!(big(&out), &x * &x % &modulus);
    }
}
