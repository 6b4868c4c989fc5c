//! Random probable primes by the rules of FIPS 186-5, appendix A.1.3.

use crate::{Sieve, random};
use modmill::number::{self, Number};
use modmill::threads::Share;
use modmill::{Batch, Engine, Error, Modulus, primality};
use rayon::prelude::*;

/// The least number of candidates that are tested together.
const CANDIDATES: usize = 64;

/// The largest number of candidates that are tested together.
const MOST_CANDIDATES: usize = 1 << 16;

/// Candidates with a prime factor below this limit are rejected before the Miller-Rabin test.
const SMALL: usize = 1000;

/// The number of Miller-Rabin rounds for random candidates of `bits` bits. It is not below the number in FIPS
/// 186-5, table B.1. Primes that are too short for the table get more rounds.
fn rounds(bits: usize) -> usize {
    if bits >= 1024 { 5 } else { 32 }
}

/// Draws a batch of candidates of `bits` bits that `accept` takes, and returns the primes among them, which
/// may be none. A prime is at least `sqrt(2) 2^(bits - 1)`, so that the product of two has `2 bits` bits.
///
/// `accept` sees odd candidates, least significant limb first. The call does not end if it takes none.
pub fn find(
    engine: &Engine,
    bits: usize,
    accept: impl Fn(&[u64]) -> bool + Sync,
) -> Result<Vec<Number>, Error> {
    find_many(engine, bits, 1, accept)
}

/// Finds primes as [`find`] does, about `wanted` of them. Candidates are drawn on all threads and tested
/// together: as many as have `wanted` primes among them on average, but not more than 65536.
///
/// ```
/// use modmill::Engine;
///
/// let primes = modmill_primes::find_many(&Engine::new()?, 128, 50, |_| true)?;
/// assert!(primes.len() > 10);
/// # Ok::<(), modmill::Error>(())
/// ```
pub fn find_many(
    engine: &Engine,
    bits: usize,
    wanted: usize,
    accept: impl Fn(&[u64]) -> bool + Sync,
) -> Result<Vec<Number>, Error> {
    let sieve = Sieve::below(SMALL);
    let draw = |_: usize| loop {
        let mut candidate = random::number(bits)?;
        candidate[0] |= 1;
        if is_candidate(&candidate, bits, &accept, &sieve) {
            return Ok::<Number, Error>(candidate);
        }
    };
    // A number of n bits without small factors is prime with a probability of about
    // 1 / (n log(2) prod(1 - 1 / p)), where the product over all p below 1000 is 0.081: 18 / n.
    let count = wanted.saturating_mul(bits).div_ceil(18).clamp(CANDIDATES, MOST_CANDIDATES);
    let drawn = engine.install(|| (0..count).into_par_iter().map(draw).list::<Result<Vec<Number>, _>>())?;
    let mut candidates = Batch::try_zeros(bits, count)?;
    for (index, candidate) in drawn.iter().enumerate() {
        candidates.get_mut(index).copy_from_slice(candidate);
    }
    tested(engine, candidates)
}

/// Finds primes as [`find`] does, among odd candidates that `draw` draws at random, such as those with a
/// known factor of `p - 1`. They have `bits.div_ceil(64)` limbs, and are drawn again if they are longer or
/// shorter than a prime may be.
pub fn find_drawn(
    engine: &Engine,
    bits: usize,
    mut draw: impl FnMut() -> Result<Number, Error>,
    accept: impl Fn(&[u64]) -> bool,
) -> Result<Vec<Number>, Error> {
    let sieve = Sieve::below(SMALL);
    let mut candidates = Batch::try_zeros(bits, CANDIDATES)?;
    for index in 0..CANDIDATES {
        loop {
            let candidate = draw()?;
            if is_candidate(&candidate, bits, &accept, &sieve) {
                candidates.get_mut(index).copy_from_slice(&candidate);
                break;
            }
        }
    }
    tested(engine, candidates)
}

/// Whether a number may be tested: it is in range, accepted and without small factors.
fn is_candidate(number: &[u64], bits: usize, accept: impl Fn(&[u64]) -> bool, sieve: &Sieve) -> bool {
    in_range(number, bits) && accept(number) && sieve.factor(number).is_none()
}

/// The candidates that pass all rounds to random bases.
fn tested(engine: &Engine, mut candidates: Batch) -> Result<Vec<Number>, Error> {
    let bits = candidates.bits();
    for round in 0..rounds(bits) {
        let bases = modmill::random::bits(engine, bits, candidates.len())?;
        let passed = primality::miller_rabin(engine, &candidates, &bases)?;
        let survivors: Vec<usize> = (0..candidates.len()).filter(|&index| passed[index]).collect();
        if survivors.is_empty() {
            return Ok(Vec::new());
        }
        if round == 0 || survivors.len() < candidates.len() {
            let mut fewer = Batch::try_zeros(bits, survivors.len())?;
            for (to, &from) in survivors.iter().enumerate() {
                fewer.get_mut(to).copy_from_slice(candidates.get(from));
            }
            candidates = fewer;
        }
    }
    Ok(candidates.iter().map(|prime| Number::new(prime.to_vec())).collect())
}

/// Whether one odd number passes `rounds` Miller-Rabin rounds to random bases, side by side. A composite
/// number passes a round with a probability of at most 1/4.
pub fn is_probable_prime(engine: &Engine, number: &Modulus, rounds: usize) -> Result<bool, Error> {
    let mut candidates = Batch::try_zeros(number.bits(), rounds)?;
    for round in 0..rounds {
        candidates.get_mut(round).copy_from_slice(number.value());
    }
    let bases = modmill::random::bits(engine, number.bits(), rounds)?;
    Ok(primality::miller_rabin(engine, &candidates, &bases)?.iter().all(|&passed| passed))
}

/// Whether a number of at most `bits` bits is at least `sqrt(2) 2^(bits - 1)`: its square has `2 bits` bits.
/// The product of two such numbers then has `2 bits` bits as well.
fn in_range(number: &[u64], bits: usize) -> bool {
    number::bit_length(&number::mul(number, number)) == 2 * bits
}

/// Whether `|p - q| > 2^(bits - 100)` for two primes of `bits` bits.
#[must_use]
pub fn far_apart(p: &[u64], q: &[u64]) -> bool {
    let difference = |a: &[u64], b: &[u64]| {
        let mut difference = Number::new(a.to_vec());
        (number::sub_assign(&mut difference, b) == 0).then_some(difference)
    };
    let difference = difference(p, q).or_else(|| difference(q, p));
    difference.is_some_and(|difference| number::bit_length(&difference) + 100 > number::bit_length(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_distances() {
        // sqrt(2) 2^63 = 13043817825332782212.35
        assert!(in_range(&[13_043_817_825_332_782_213], 64) && !in_range(&[13_043_817_825_332_782_212], 64));
        let (a, b) = ([0u64, 1 << 63], [0u64, 1 << 63 | 1 << 20]);
        assert!(!far_apart(&a, &a) && far_apart(&a, &b) && far_apart(&b, &a));
        assert!(!far_apart(&[0, 1 << 63], &[1 << 27, 1 << 63]));
    }
}
