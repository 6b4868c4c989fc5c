//! Key generation by the rules of FIPS 186-5, appendix A.1.3: random probable primes.

use super::validate::{random_bases, random_number};
use super::{PrivateKey, PrivateParts, Sizes};
use crate::number::{self, Number};
use crate::{Error, KeyError};
use crypto_bigint::{BoxedUint, Gcd, NonZero};
use modmill::{Batch, Engine};
use modmill_core::limbs;
use zeroize::Zeroizing;

/// The public exponent of generated keys.
const EXPONENT: u64 = 65_537;

/// Candidates that are tested together.
const CANDIDATES: usize = 64;

/// Rounds to random bases for random candidates of so many bits, not fewer than FIPS 186-5, table
/// B.1, asks for. Shorter primes than the table has get more.
fn rounds(bits: usize) -> usize {
    if bits >= 1024 { 5 } else { 32 }
}

impl PrivateKey {
    /// Generates a key of so many bits, a multiple of 2, with the public exponent 65537.
    pub fn generate(engine: &Engine, bits: usize, sizes: Sizes) -> Result<Self, Error> {
        let mut keys = Self::generate_many(engine, bits, 1, sizes)?;
        Ok(keys.remove(0))
    }

    /// Generates keys; their primes are looked for together.
    pub fn generate_many(
        engine: &Engine,
        bits: usize,
        count: usize,
        sizes: Sizes,
    ) -> Result<Vec<Self>, Error> {
        let refused = |reason| Error::from(KeyError::Generate { bits, reason });
        if bits < sizes.min_bits() {
            return Err(refused("it is too short"));
        }
        if bits > Sizes::MAX_BITS {
            return Err(refused("it is too long"));
        }
        if bits % 2 == 1 {
            return Err(refused("it is odd, so that the primes cannot be of one length"));
        }
        let mut keys = Vec::new();
        let mut waiting: Option<Number> = None;
        while keys.len() < count {
            for prime in find_primes(engine, bits / 2)? {
                waiting = match waiting.take() {
                    Some(other) if far_apart(&other, &prime) => {
                        keys.extend(assemble(&other, &prime, sizes)?);
                        None
                    }
                    // Primes that lie too near to each other: one of them has to go.
                    Some(other) => Some(other),
                    None => Some(prime),
                };
            }
        }
        keys.truncate(count);
        Ok(keys)
    }
}

/// The primes among a batch of random candidates.
fn find_primes(engine: &Engine, bits: usize) -> Result<Vec<Number>, Error> {
    let sieve = Sieve::new();
    let mut candidates = Batch::zeros(bits, CANDIDATES);
    for index in 0..CANDIDATES {
        loop {
            let mut candidate = random_number(bits)?;
            candidate[0] |= 1;
            if in_range(&candidate, bits) && sieve.passes(&candidate) {
                candidates.get_mut(index).copy_from_slice(&candidate);
                break;
            }
        }
    }
    for round in 0..rounds(bits) {
        let bases = random_bases(bits, candidates.len())?;
        let passed = engine.miller_rabin(&candidates, &bases)?;
        let survivors: Vec<usize> = (0..candidates.len()).filter(|&index| passed[index]).collect();
        if survivors.is_empty() {
            return Ok(Vec::new());
        }
        if round == 0 || survivors.len() < candidates.len() {
            let mut fewer = Batch::zeros(bits, survivors.len());
            for (to, &from) in survivors.iter().enumerate() {
                fewer.get_mut(to).copy_from_slice(candidates.get(from));
            }
            candidates = fewer;
        }
    }
    Ok(candidates.iter().map(|prime| Number::new(prime.to_vec())).collect())
}

/// Whether a number of at most `bits` bits is at least `sqrt(2) 2^(bits - 1)`, so that products of two
/// have twice as many bits: its square has `2 bits` bits.
fn in_range(number: &[u64], bits: usize) -> bool {
    limbs::bit_length(&number::product(number, number)) == 2 * bits
}

/// Whether two primes differ in their upper 100 bits: `|p - q| > 2^(bits - 100)`.
fn far_apart(p: &[u64], q: &[u64]) -> bool {
    let difference = |a: &[u64], b: &[u64]| {
        let mut difference = Number::new(a.to_vec());
        (limbs::sub_assign(&mut difference, b) == 0).then_some(difference)
    };
    let difference = difference(p, q).or_else(|| difference(q, p));
    difference.is_some_and(|difference| limbs::bit_length(&difference) + 100 > limbs::bit_length(p))
}

/// The key of two primes; `None` in the rare case that the private exponent is too short.
fn assemble(p: &[u64], q: &[u64], sizes: Sizes) -> Result<Option<PrivateKey>, Error> {
    let (p, q) = if compare(p, q) { (p, q) } else { (q, p) };
    let order = least_common_multiple(&number::minus_one(p), &number::minus_one(q));
    let Some(d) = number::invert(&[EXPONENT], &order) else { return Ok(None) };
    // FIPS 186-5, appendix A.1.1: the private exponent exceeds 2^(nlen / 2).
    if limbs::bit_length(&d) <= limbs::bit_length(p) {
        return Ok(None);
    }
    let modulus = number::product(p, q);
    let [n, d, p, q] = [&modulus[..], &d, p, q].map(number::to_be_bytes);
    let parts = PrivateParts {
        modulus: &n,
        public_exponent: &EXPONENT.to_be_bytes(),
        private_exponent: &d,
        prime1: &p,
        prime2: &q,
        ..PrivateParts::default()
    };
    Ok(Some(PrivateKey::new(&parts, sizes)?))
}

/// Whether a is greater than b.
fn compare(a: &[u64], b: &[u64]) -> bool {
    let mut difference = Number::new(b.to_vec());
    limbs::sub_assign(&mut difference, a) == 1
}

fn least_common_multiple(a: &[u64], b: &[u64]) -> Number {
    let big = |limbs: &[u64]| Zeroizing::new(BoxedUint::from_words(limbs.iter().copied()));
    let divisor = Zeroizing::new(big(a).gcd(&*big(b)));
    let divisor = NonZero::new((*divisor).clone()).expect("a divisor of numbers that are not zero");
    let quotient = Zeroizing::new(big(a).wrapping_div(&divisor));
    let mut multiple = number::product(quotient.as_words(), b);
    let used = limbs::bit_length(&multiple).div_ceil(64);
    multiple.truncate(used);
    multiple
}

/// Small primes, to strike out most candidates cheaply, and the divisors of e, which must not divide
/// one less than a prime. Uses division, whose time may depend on the candidate on old processors.
struct Sieve {
    primes: Vec<u64>,
    /// Products of primes below 2^32, and how many primes each has.
    products: Vec<(u64, usize)>,
}

impl Sieve {
    fn new() -> Self {
        let is_prime = |n: &u64| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
        let primes: Vec<u64> = (3..1000).step_by(2).filter(is_prime).collect();
        let mut products = vec![(1, 0)];
        for &prime in &primes {
            match products.last_mut() {
                Some((product, count)) if *product * prime < 1 << 32 => {
                    *product *= prime;
                    *count += 1;
                }
                _ => products.push((prime, 1)),
            }
        }
        Self { primes, products }
    }

    fn passes(&self, candidate: &[u64]) -> bool {
        let mut primes = self.primes.iter();
        for &(product, count) in &self.products {
            let rest = remainder(candidate, product);
            if primes.by_ref().take(count).any(|&prime| rest.is_multiple_of(prime)) {
                return false;
            }
        }
        // e is prime: it must not divide p - 1.
        remainder(candidate, EXPONENT) != 1
    }
}

/// `number mod divisor`, for a divisor below 2^32.
fn remainder(number: &[u64], divisor: u64) -> u64 {
    number.iter().rev().fold(0, |rest, limb| {
        let rest = (rest << 32 | limb >> 32) % divisor;
        (rest << 32 | limb & 0xffff_ffff) % divisor
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_testing::oracle::number as big;
    use num_bigint::BigUint;

    #[test]
    fn generated_keys_follow_the_rules() {
        let engine = Engine::new().unwrap();
        for (bits, count) in [(512, 3), (1024, 2), (1026, 1), (2048, 1)] {
            for key in PrivateKey::generate_many(&engine, bits, count, Sizes::AllowSmall).unwrap() {
                let (p, q) = (big(key.p().prime.value()), big(key.q().prime.value()));
                let (n, e, d) = (&p * &q, BigUint::from(EXPONENT), big(key.exponent()));
                assert_eq!((key.bits(), n.bits()), (bits, bits as u64));
                assert_eq!((p.bits(), q.bits()), (bits as u64 / 2, bits as u64 / 2));
                assert!(p > q && (&p - &q).bits() > bits as u64 / 2 - 100);
                let one = BigUint::from(1u8);
                let (a, b) = (&p - &one, &q - &one);
                // d is the inverse modulo the least common multiple, and below it.
                assert_eq!((&d * &e % &a, &d * &e % &b), (one.clone(), one.clone()));
                let divisor = gcd(a.clone(), b.clone());
                assert!(d < &a * &b / divisor && d.bits() > bits as u64 / 2);
                key.check_primes(&engine).unwrap();
            }
        }
    }

    fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
        while b != BigUint::ZERO {
            (a, b) = (b.clone(), a % b);
        }
        a
    }

    #[test]
    fn the_sieve_knows_small_factors() {
        let sieve = Sieve::new();
        assert_eq!(sieve.products.iter().map(|(_, count)| count).sum::<usize>(), sieve.primes.len());
        for n in (1001u64..40_000).step_by(2) {
            let has_factor = sieve.primes.iter().any(|prime| n % prime == 0);
            assert_eq!(sieve.passes(&[n]), !has_factor, "{n}");
        }
        assert_eq!(u128::from(remainder(&[5, 1], 1000)), ((1u128 << 64) + 5) % 1000);
        // 65537 k + 1 must not pass.
        let bad = (1..).map(|k| 65_537 * 2 * k + 1).find(|&n| sieve.primes.iter().all(|p| n % p != 0));
        assert!(!sieve.passes(&[bad.unwrap()]));
    }

    #[test]
    fn ranges_and_distances() {
        // sqrt(2) 2^63 = 13043817825332782212.35
        assert!(in_range(&[13_043_817_825_332_782_213], 64) && !in_range(&[13_043_817_825_332_782_212], 64));
        let (a, b) = ([0u64, 1 << 63], [0u64, 1 << 63 | 1 << 20]);
        assert!(!far_apart(&a, &a) && far_apart(&a, &b) && far_apart(&b, &a));
        assert!(!far_apart(&[0, 1 << 63], &[1 << 27, 1 << 63]));
        assert!(compare(&b, &a) && !compare(&a, &b) && !compare(&a, &a));
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        let engine = Engine::new().unwrap();
        for bits in [0, 510, 1024, 2049, 16_386] {
            let refused = PrivateKey::generate(&engine, bits, Sizes::Standard).unwrap_err();
            assert!(matches!(refused, Error::Key(KeyError::Generate { .. })), "{bits}: {refused}");
        }
    }
}
