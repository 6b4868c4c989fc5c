//! Primality tests of known primes and known composites.

use super::{Outcome, Suite};
use crate::hard;
use crate::oracle::batch;
use modmill::{Batch, Engine, primality};
use num_bigint::BigUint;

/// Exponents of Mersenne primes 2^p - 1.
const MERSENNE: [usize; 12] = [2, 3, 5, 7, 13, 17, 31, 61, 89, 127, 521, 1279];

pub(super) fn run(suite: &mut Suite<'_>) {
    let limit = suite.effort.choose(5_000, 50_000);
    suite.case(format!("primality of the numbers below {limit}"), |engine| small(engine, limit));
    let longest = suite.effort.choose(1279, 4423);
    suite.case(format!("Mersenne numbers up to {longest} bits"), |engine| mersenne(engine, longest));
    suite.case("pseudoprimes", pseudoprimes);
    suite.case("primality of nothing, and to no base", |engine| {
        let none = primality::is_probable_prime(engine, &Batch::zeros(64, 0), &[2])
            .map_err(|error| error.to_string())?;
        let odd = primality::is_probable_prime(engine, &Batch::from_values([[9u64], [8]]), &[])
            .map_err(|error| error.to_string())?;
        if none.is_empty() && odd == [true, false] { Ok(()) } else { Err(format!("{none:?}, {odd:?}")) }
    });
}

fn verdicts(engine: &Engine, numbers: &[BigUint], bases: &[u64], expected: &[bool]) -> Outcome {
    let found =
        primality::is_probable_prime(engine, &batch(numbers), bases).map_err(|error| error.to_string())?;
    if found.len() != expected.len() {
        return Err(format!("{} verdicts on {} numbers", found.len(), expected.len()));
    }
    match (0..expected.len()).find(|&item| found[item] != expected[item]) {
        None => Ok(()),
        Some(item) => Err(format!("{} to bases {bases:?}: expected {}", numbers[item], expected[item])),
    }
}

fn small(engine: &Engine, limit: usize) -> Outcome {
    let numbers: Vec<BigUint> = (0..limit).map(BigUint::from).collect();
    let prime = |n: usize| n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    let expected: Vec<bool> = (0..limit).map(prime).collect();
    // 25 326 001 is the smallest number that fools these three bases.
    verdicts(engine, &numbers, &[2, 3, 5], &expected)
}

fn mersenne(engine: &Engine, longest: usize) -> Outcome {
    let exponents =
        || MERSENNE.iter().copied().chain([2203, 2281, 3217, 4253, 4423]).filter(|&p| p <= longest);
    let primes: Vec<BigUint> = exponents().map(hard::ones).collect();
    verdicts(engine, &primes, &[2, 3, 5, 7], &vec![true; primes.len()])?;
    // 2^p - 1 is a strong probable prime to base 2 for every prime p, so base 3 is needed.
    let composites: Vec<BigUint> = [11, 23, 29, 37, 67, 257, 1277].map(hard::ones).to_vec();
    verdicts(engine, &composites, &[3], &vec![false; composites.len()])?;
    let products: Vec<BigUint> = primes.iter().zip(&primes[1..]).map(|(p, q)| p * q).collect();
    let short: Vec<BigUint> = products.into_iter().filter(|n| n.bits() < 2200).collect();
    verdicts(engine, &short, &[3, 5], &vec![false; short.len()])
}

fn pseudoprimes(engine: &Engine) -> Outcome {
    // Strong pseudoprimes to the bases before the last, from the tables of Pomerance, Selfridge
    // and Wagstaff and of Jaeschke: psi_1 to psi_8.
    let tables: [(u64, &[u64], u64); 6] = [
        (2_047, &[2], 3),
        (1_373_653, &[2, 3], 5),
        (25_326_001, &[2, 3, 5], 7),
        (3_215_031_751, &[2, 3, 5, 7], 11),
        (2_152_302_898_747, &[2, 3, 5, 7, 11], 13),
        (341_550_071_728_321, &[2, 3, 5, 7, 11, 13, 17], 23),
    ];
    for (number, fooled, witness) in tables {
        verdicts(engine, &[BigUint::from(number)], fooled, &[true])?;
        verdicts(engine, &[BigUint::from(number)], &[witness], &[false])?;
    }
    let carmichael: Vec<BigUint> =
        [561u32, 1105, 1729, 2465, 2821, 6601, 8911, 62745].map(BigUint::from).to_vec();
    verdicts(engine, &carmichael, &[2, 3], &[false; 8])?;
    // Bases that are 0, 1 or -1 modulo the candidate tell nothing about it.
    let numbers = [15u8, 3, 5].map(BigUint::from);
    verdicts(engine, &numbers, &[1, 15, 14], &[true, true, true])
}
