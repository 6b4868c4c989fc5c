//! Planted collections, and the findings that they must have.

use modmill::Engine;
use modmill_audit::{Finding, Key, Kind};
use modmill_testing::oracle::{batch_of_width, numbers};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// A name and a modulus.
pub(crate) type Named = (String, BigUint);

/// `count` different primes of `bits` bits.
pub(crate) fn primes(engine: &Engine, rng: &mut Rng, bits: usize, count: usize) -> Vec<BigUint> {
    let mut found = BTreeSet::new();
    while found.len() < count {
        let starts: Vec<BigUint> = (found.len()..count).map(|_| rng.exact(bits)).collect();
        let next = modmill_primes::next_primes(engine, &batch_of_width(&starts, bits)).unwrap();
        found.extend(numbers(&next).into_iter().filter(|prime| prime.bits() == bits as u64));
    }
    let mut found: Vec<BigUint> = found.into_iter().collect();
    // In no order.
    for index in (1..found.len()).rev() {
        found.swap(index, rng.below(index + 1));
    }
    found
}

/// A collection with every kind of flaw, among keys without any, in no order: pairs, stars, chains,
/// triangles, duplicates, squares, small factors, primes, and lengths that differ. Keys are products of
/// primes of `bits` bits and of half as many.
pub(crate) fn planted(engine: &Engine, seed: u64, bits: usize, healthy: usize) -> Vec<Named> {
    let rng = &mut Rng::new(seed);
    let mut long = primes(engine, rng, bits, 60 + 2 * healthy).into_iter();
    let mut short = primes(engine, rng, bits / 2, 20).into_iter();
    let (mut p, mut s) = (|| long.next().unwrap(), || short.next().unwrap());
    let mut keys: Vec<(&str, BigUint)> = Vec::new();
    // A pair, also of different lengths.
    let shared = p();
    keys.extend([("pair", &shared * p()), ("pair", &shared * p())]);
    let shared = s();
    keys.extend([("mixed", &shared * s()), ("mixed", &shared * p())]);
    // A star, a chain and a triangle.
    let shared = p();
    keys.extend((0..5).map(|_| ("star", &shared * p())));
    let chain: Vec<BigUint> = (0..5).map(|_| p()).collect();
    keys.extend(chain.windows(2).map(|pair| ("chain", &pair[0] * &pair[1])));
    let (a, b, c) = (p(), p(), p());
    keys.extend([("triangle", &a * &b), ("triangle", &a * &c), ("triangle", &b * &c)]);
    // Duplicates: of a key without other flaws, and of one that shares a prime.
    let twice = p() * p();
    keys.extend([("duplicate", twice.clone()), ("duplicate", twice)]);
    let (shared, other) = (p(), p());
    keys.extend([
        ("weak twice", &shared * &other),
        ("weak twice", &shared * &other),
        ("weak once", &shared * p()),
    ]);
    // Squares and a cube: alone, and with a prime in common with another key.
    let (alone, cube, shared) = (p(), s(), p());
    keys.extend([("square", &alone * &alone), ("cube", &cube * &cube * &cube)]);
    keys.extend([("shared square", &shared * &shared), ("square's partner", &shared * p())]);
    let (shared, a) = (p(), p());
    keys.extend([("repeated", &shared * &shared * &a), ("repeated", &shared * p()), ("repeated", &a * p())]);
    // Small factors: with none in common, with one in common, and beside a shared prime.
    let shared = p();
    keys.extend([
        ("small", p() * 3u8),
        ("small", p() * 3u8 * 65_521u32),
        ("even", p() * 4u8),
        ("smooth", BigUint::from(15u8)),
    ]);
    keys.extend([("small shared", &shared * p() * 7u8), ("small's partner", &shared * p())]);
    // Primes, also with a multiple.
    let prime = p();
    keys.extend([("prime", p()), ("prime with a multiple", prime.clone()), ("multiple", &prime * p())]);
    keys.extend((0..healthy).map(|_| ("healthy", p() * p())));
    for index in (1..keys.len()).rev() {
        keys.swap(index, rng.below(index + 1));
    }
    keys.into_iter().enumerate().map(|(index, (name, key))| (format!("{index} {name}"), key)).collect()
}

pub(crate) fn key(modulus: &BigUint) -> Key {
    Key::new(&modulus.to_bytes_be(), &[1, 0, 1]).unwrap()
}

pub(crate) fn named(keys: &[Named]) -> Vec<(String, Key)> {
    keys.iter().map(|(name, modulus)| (name.clone(), key(modulus))).collect()
}

fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// A number without its factors below 2^16.
fn without_small(number: &BigUint) -> BigUint {
    static FACTORIAL: LazyLock<BigUint> = LazyLock::new(|| (2u32..1 << 16).product());
    let mut rest = number.clone();
    loop {
        let divisor = gcd(&rest, &(&*FACTORIAL % &rest));
        if divisor == BigUint::from(1u8) {
            return rest;
        }
        if divisor == rest {
            return BigUint::from(1u8);
        }
        rest /= divisor;
    }
}

/// Whether a number passes Fermat's test to a few bases.
fn is_prime(number: &BigUint) -> bool {
    [2u8, 3, 5, 7].iter().all(|&base| {
        let base = BigUint::from(base);
        &base % number == BigUint::ZERO || base.modpow(&(number - 1u8), number) == BigUint::from(1u8)
    })
}

/// The kinds that the findings about each name must have, with the names of the partners, all by comparing
/// every number with every other one.
pub(crate) fn expected(keys: &[Named]) -> BTreeSet<(String, Kind, BTreeSet<String>)> {
    let mut expected = BTreeSet::new();
    let one = BigUint::from(1u8);
    let rests: Vec<BigUint> = keys.iter().map(|(_, modulus)| without_small(modulus)).collect();
    for ((name, modulus), rest) in keys.iter().zip(&rests) {
        let mut add = |kind, partners: BTreeSet<String>| expected.insert((name.clone(), kind, partners));
        if keys.iter().filter(|(_, other)| other == modulus).count() > 1 {
            add(Kind::Duplicate, BTreeSet::new());
        }
        let is_power = (2..=3u32).any(|k| modulus.nth_root(k).pow(k) == *modulus);
        if is_prime(modulus) {
            add(Kind::Prime, BTreeSet::new());
        } else if rest != modulus {
            add(Kind::SmallFactor, BTreeSet::new());
        } else if is_power {
            add(Kind::Power, BTreeSet::new());
        }
        let others = keys.iter().zip(&rests).filter(|((_, other), _)| other != modulus);
        let shared: Vec<(&String, BigUint)> =
            others.map(|((name, _), other)| (name, gcd(rest, other))).collect();
        let partners = shared.iter().filter(|(_, divisor)| *divisor != one);
        let partners: BTreeSet<String> = partners.map(|(name, _)| (*name).clone()).collect();
        // The rest when all common factors are divided out, as often as they divide.
        let mut left = rest.clone();
        for (_, divisor) in &shared {
            while gcd(&left, divisor) != one {
                left = &left / gcd(&left, divisor);
            }
        }
        if !partners.is_empty() {
            add(if left == one { Kind::AllPrimesShared } else { Kind::SharedPrime }, partners);
        }
    }
    expected
}

/// Findings in the form of [`expected`]. Their factors must multiply to the modulus, and those of keys that
/// share a factor must be the primes that the collection was made of.
pub(crate) fn told(findings: &[Finding], keys: &[Named]) -> BTreeSet<(String, Kind, BTreeSet<String>)> {
    let moduli: BTreeMap<&String, &BigUint> = keys.iter().map(|(name, modulus)| (name, modulus)).collect();
    let mut told = BTreeSet::new();
    for finding in findings {
        let parse = |text: &String| BigUint::parse_bytes(text.as_bytes(), 16).unwrap();
        let modulus = parse(&finding.modulus);
        for id in &finding.ids {
            assert_eq!(*moduli[id], modulus);
            let partners = finding.partners.iter().cloned().collect();
            assert!(told.insert((id.clone(), finding.kind, partners)), "{id} twice");
        }
        if finding.kind == Kind::Duplicate {
            assert!(finding.factors.is_empty());
            continue;
        }
        let factors: Vec<BigUint> = finding.factors.iter().map(parse).collect();
        assert_eq!(factors.iter().product::<BigUint>(), modulus, "{finding:?}");
        assert!(factors.is_sorted(), "{finding:?}");
        if finding.kind != Kind::SmallFactor {
            assert!(factors.iter().all(is_prime), "{finding:?}");
        }
    }
    told
}
