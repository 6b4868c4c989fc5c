//! Key generation.

use super::{MAX_BITS, MIN_BITS, PrivateKey};
use crate::rows::shared;
use crate::{Error, KeyError};
use modmill::Engine;
use modmill::number::{self, Number};
use modmill_primes::{far_apart, find, random};

/// The randomness that a key's ciphertexts are masked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Randomness {
    /// `r^n mod n^2` for a random r below n, as Paillier wrote it. Its security rests on the decisional composite residuosity
    /// assumption alone.
    #[default]
    Full,
    /// `hs^a mod n^2` for a random a of half the length of n, with `hs = h^n mod n^2` and `h = -y^2 mod n` (Damgård, Jurik,
    /// Nielsen 2010). Encryption is much faster. Its security also rests on the assumption that such powers of h cannot be told from
    /// random elements of the group that h generates.
    Short,
}

impl PrivateKey {
    /// Generates a key with an n of `bits` bits, which is even. Both primes have half the length and are 3 modulo 4.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_paillier::{PrivateKey, Randomness};
    ///
    /// let key = PrivateKey::generate(&Engine::new()?, 2048, Randomness::Full)?;
    /// assert_eq!(key.bits(), 2048);
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn generate(engine: &Engine, bits: usize, randomness: Randomness) -> Result<Self, Error> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(KeyError::Length { bits }.into());
        }
        if bits % 2 == 1 {
            return Err(KeyError::OddLength(bits).into());
        }
        let mut waiting: Option<Number> = None;
        loop {
            for prime in find(engine, bits / 2, |candidate| candidate[0] & 3 == 3)? {
                match waiting.take() {
                    Some(other) if far_apart(&other, &prime) && halves_coprime(&other, &prime) => {
                        return match randomness {
                            Randomness::Full => Ok(Self::of_numbers(&other, &prime, None)?),
                            Randomness::Short => {
                                let base = short_base(engine, &number::mul(&other, &prime))?;
                                Ok(Self::of_numbers(&other, &prime, Some(base))?)
                            }
                        };
                    }
                    // The pair does not serve, so that one of them is dropped.
                    Some(_) | None => waiting = Some(prime),
                }
            }
        }
    }
}

/// Whether `(p - 1) / 2` and `(q - 1) / 2` are coprime, for primes that are 3 modulo 4. Then the squares modulo n are a cyclic group,
/// as short exponents need it.
fn halves_coprime(p: &[u64], q: &[u64]) -> bool {
    let half = |prime: &[u64]| {
        let mut half = Number::new(vec![0; prime.len()]);
        number::shift_right(prime, 1, &mut half);
        number::truncate(&mut half);
        half
    };
    let (p, q) = (half(p), half(q));
    number::inv(&number::remainder(&p, &q), &q).is_some()
}

/// `h^n mod n^2` for `h = -y^2 mod n` and a random y.
fn short_base(engine: &Engine, n: &[u64]) -> Result<Number, Error> {
    let mut n = Number::new(n.to_vec());
    number::truncate(&mut n);
    // The remainder of a number that is 64 bits longer than n is within 2^-64 of uniform.
    let y = random::number(number::bit_length(&n) + 64)?;
    let y = number::remainder(&y, &n);
    let square = number::mul_mod(&y, &y, &n);
    let mut h = n.clone();
    number::sub_assign(&mut h, &square);
    let modulus = modmill::Modulus::new(&number::mul(&n, &n))?;
    let power = engine.pow_vartime(shared(&h), shared(&n), &modulus)?;
    Ok(Number::new(power.get(0).to_vec()))
}
