//! Key generation by the rules of FIPS 186-5, appendix A.1.3: random probable primes.

use super::{PrivateKey, PrivateParts, Sizes};
use crate::number::{self, Number};
use crate::{Error, KeyError};
use crypto_bigint::{BoxedUint, Gcd, NonZero};
use modmill::Engine;
use modmill_primes::{far_apart, find_many, remainder};
use zeroize::Zeroizing;

/// The public exponent of generated keys. It is prime.
const EXPONENT: u64 = 65_537;

impl PrivateKey {
    /// Generates a key of `bits` bits, which is even, with the public exponent 65537.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{PrivateKey, Sizes};
    ///
    /// let key = PrivateKey::generate(&Engine::new()?, 2048, Sizes::Standard)?;
    /// assert_eq!(key.bits(), 2048);
    /// # Ok::<(), modmill_rsa::Error>(())
    /// ```
    pub fn generate(engine: &Engine, bits: usize, sizes: Sizes) -> Result<Self, Error> {
        let mut keys = Self::generate_many(engine, bits, 1, sizes)?;
        Ok(keys.remove(0))
    }

    /// Generates `count` keys. Their primes are searched for together, which takes less time per key.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{PrivateKey, Sizes};
    ///
    /// let keys = PrivateKey::generate_many(&Engine::new()?, 512, 3, Sizes::AllowSmall)?;
    /// assert_eq!(keys.len(), 3);
    /// # Ok::<(), modmill_rsa::Error>(())
    /// ```
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
            // Two primes for each key that is left, less the one that waits for another.
            let wanted = 2 * (count - keys.len()) - usize::from(waiting.is_some());
            for prime in find_many(engine, bits / 2, wanted, has_inverse)? {
                waiting = match waiting.take() {
                    Some(other) if far_apart(&other, &prime) => {
                        keys.extend(assemble(&other, &prime, sizes)?);
                        None
                    }
                    // The primes are too close to each other, so that one of them is dropped.
                    Some(other) => Some(other),
                    None => Some(prime),
                };
            }
        }
        keys.truncate(count);
        Ok(keys)
    }
}

/// Whether the public exponent is coprime to the candidate minus one.
fn has_inverse(candidate: &[u64]) -> bool {
    remainder(candidate, EXPONENT) != 1
}

/// Makes the key of two primes, or `None` in the rare case that its private exponent is too short.
fn assemble(p: &[u64], q: &[u64], sizes: Sizes) -> Result<Option<PrivateKey>, Error> {
    let (p, q) = if is_greater(p, q) { (p, q) } else { (q, p) };
    let order = least_common_multiple(&number::minus_one(p), &number::minus_one(q));
    let Some(d) = number::inv(&[EXPONENT], &order) else { return Ok(None) };
    // FIPS 186-5, appendix A.1.1: the private exponent exceeds 2^(nlen / 2).
    if number::bit_length(&d) <= number::bit_length(p) {
        return Ok(None);
    }
    let modulus = number::mul(p, q);
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

/// Whether `a > b`, for numbers with the same number of limbs.
fn is_greater(a: &[u64], b: &[u64]) -> bool {
    let mut difference = Number::new(b.to_vec());
    number::sub_assign(&mut difference, a) == 1
}

fn least_common_multiple(a: &[u64], b: &[u64]) -> Number {
    let big = |limbs: &[u64]| Zeroizing::new(BoxedUint::from_words(limbs.iter().copied()));
    let divisor = Zeroizing::new(big(a).gcd(&*big(b)));
    let divisor = NonZero::new((*divisor).clone()).expect("a divisor of numbers that are not zero");
    let quotient = Zeroizing::new(big(a).wrapping_div(&divisor));
    let mut multiple = number::mul(quotient.as_words(), b);
    number::truncate(&mut multiple);
    multiple
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_testing::oracle::{gcd, number as big};
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
                let divisor = gcd(&a, &b);
                assert!(d < &a * &b / divisor && d.bits() > bits as u64 / 2);
                key.check_primes(&engine).unwrap();
            }
        }
    }

    #[test]
    fn exponents_have_an_inverse() {
        assert!(has_inverse(&[65_537]) && has_inverse(&[65_539]));
        // 65537 divides one less than this number.
        assert!(!has_inverse(&[65_537 * 6 + 1]));
    }

    #[test]
    fn greater_and_smaller() {
        let (a, b) = ([0u64, 1 << 63], [0u64, 1 << 63 | 1 << 20]);
        assert!(is_greater(&b, &a) && !is_greater(&a, &b) && !is_greater(&a, &a));
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
