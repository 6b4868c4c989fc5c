//! Key generation.

use super::{MAX_BITS, MIN_BITS, PrivateKey, ShortBase, subgroup};
use crate::rows::shared;
use crate::{Error, KeyError};
use modmill::number::{self, Number};
use modmill::{Engine, Public};
use modmill_primes::{far_apart, find, random};

/// The randomness that a key's ciphertexts are masked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Randomness {
    /// `r^n mod n^2` for a random r below n, as Paillier wrote it. Its security rests on the decisional
    /// composite residuosity assumption alone.
    #[default]
    Full,
    /// `hs^a mod n^2` for a random a of half the length of n, with `hs = h^n mod n^2` and `h = -y^2 mod n`
    /// (Damgård, Jurik, Nielsen 2010). Encryption is much faster. Its security also rests on the assumption
    /// that such powers of h cannot be told from random elements of the group that h generates.
    Short,
    /// `hs^a mod n^2` for a random a of 320 to 832 bits, four times the strength of n in bits, with an h of
    /// the order `2 u v` for primes u of `p - 1` and v of `q - 1` that are half as long as a (Ma, Han,
    /// Lei 2021). Encryption is faster again, and so is decryption of what was encrypted in this way, by
    /// exponents of half that length. Its security also rests on the assumption that elements of this
    /// subgroup cannot be told from others.
    Subgroup,
}

impl PrivateKey {
    /// Generates a key with an n of `bits` bits, which is even. Both primes have half the length and are 3
    /// modulo 4.
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
        if randomness == Randomness::Subgroup {
            return subgroup::generate(engine, bits);
        }
        let primes = || find(engine, bits / 2, |candidate| candidate[0] & 3 == 3);
        let [p, q] = pair(primes, |prime| prime)?;
        let base = match randomness {
            Randomness::Short => {
                Some(ShortBase { hs: random_base(engine, &number::mul(&p, &q))?, exponent_bits: None })
            }
            Randomness::Full | Randomness::Subgroup => None,
        };
        Ok(Self::of_numbers(&p, &q, base, None)?)
    }
}

/// Two of the primes that `find` finds, which are fit for a key together. `prime` is the prime of what is
/// found.
pub(super) fn pair<T>(
    mut find: impl FnMut() -> Result<Vec<T>, modmill::Error>,
    prime: impl Fn(&T) -> &Number,
) -> Result<[T; 2], modmill::Error> {
    let mut waiting: Option<T> = None;
    loop {
        for found in find()? {
            match waiting.take() {
                Some(other)
                    if far_apart(prime(&other), prime(&found))
                        && halves_coprime(prime(&other), prime(&found)) =>
                {
                    return Ok([other, found]);
                }
                // The pair does not serve, so that one of them is dropped.
                Some(_) | None => waiting = Some(found),
            }
        }
    }
}

/// Whether `(p - 1) / 2` and `(q - 1) / 2` are coprime, for primes that are 3 modulo 4. Then the squares
/// modulo n are a cyclic group, as short exponents need it.
fn halves_coprime(p: &[u64], q: &[u64]) -> bool {
    let (p, q) = (half(p), half(q));
    number::inv(&number::remainder(&p, &q), &q).is_some()
}

/// Half of a number, rounded down, without leading zero limbs.
pub(crate) fn half(number: &[u64]) -> Number {
    let mut half = Number::new(vec![0; number.len()]);
    number::shift_right(number, 1, &mut half);
    number::truncate(&mut half);
    half
}

/// `hs = h^n mod n^2` for `h = -y^2 mod n` and a random y.
pub(super) fn random_base(engine: &Engine, n: &[u64]) -> Result<Number, Error> {
    let mut n = Number::new(n.to_vec());
    number::truncate(&mut n);
    let y = random_below(&n)?;
    base_of(engine, &n, &number::mul_mod(&y, &y, &n))
}

/// A random number below n.
pub(super) fn random_below(n: &[u64]) -> Result<Number, modmill::Error> {
    // The remainder of a number that is 64 bits longer than n is within 2^-64 of uniform.
    let number = random::number(number::bit_length(n) + 64)?;
    Ok(number::remainder(&number, n))
}

/// `hs = (-x)^n mod n^2` for an x below n, whose last limb is not zero.
pub(super) fn base_of(engine: &Engine, n: &[u64], x: &[u64]) -> Result<Number, Error> {
    let mut h = Number::new(n.to_vec());
    number::sub_assign(&mut h, x);
    let modulus = modmill::Modulus::new(&number::mul(n, n))?;
    let power = engine.pow(shared(&h), Public(shared(n)), &modulus)?;
    Ok(Number::new(power.get(0).to_vec()))
}
