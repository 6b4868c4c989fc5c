//! Private keys: two primes and the constants of decryption.

use super::PublicKey;
use crate::crt::Garner;
use crate::rows::{exponent, is_one, shared};
use crate::{Error, KeyError};
use modmill::number::{self, Number};
use modmill::{Engine, FixedBase, Modulus};
use modmill_primes::is_probable_prime;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The rounds of Miller-Rabin of [`PrivateKey::check`]: whoever made the key may have chosen its factors.
const ROUNDS: usize = 32;

/// A private key. A clone is cheap, and shares the constants that were computed for the moduli. The secrets are zeroized
/// when the last clone is dropped.
#[derive(Clone)]
pub struct PrivateKey(Arc<Parts>);

struct Parts {
    public: PublicKey,
    p: Factor,
    q: Factor,
    /// Joins residues modulo p and q.
    plain: Garner,
    /// Joins residues modulo p^2 and q^2.
    squares: Garner,
}

/// A prime p with what decryption needs of it. The other prime is called q here.
pub(crate) struct Factor {
    pub(crate) prime: Modulus,
    pub(crate) square: Modulus,
    /// `p - 1`.
    pub(crate) order: Number,
    /// `p^-1 mod 2^(64 l)` for the l limbs of p: a product by it divides a multiple of p.
    pub(crate) inverse: Number,
    /// `(-q)^-1 mod p`, because `(1 + n)^(p - 1) = 1 - q p mod p^2`.
    pub(crate) scale: Number,
    /// The powers of the base of short exponents modulo p^2, made by the owner's first encryption.
    pub(crate) fixed: OnceLock<FixedBase>,
}

impl PrivateKey {
    /// A key from the big-endian bytes of its primes. It does not check that they are prime: [`PrivateKey::check`] does.
    ///
    /// ```
    /// use modmill_paillier::{KeyError, PrivateKey};
    ///
    /// let wrong = PrivateKey::new(&[0xff; 128], &[0xff; 128]).unwrap_err();
    /// assert_eq!(wrong, KeyError::Inconsistent("p and q share a factor"));
    /// ```
    pub fn new(p: &[u8], q: &[u8]) -> Result<Self, KeyError> {
        Self::of_numbers(&number::from_be_bytes(p), &number::from_be_bytes(q), None)
    }

    /// The same with `hs`, the base for short exponents.
    pub fn with_short_base(p: &[u8], q: &[u8], hs: &[u8]) -> Result<Self, KeyError> {
        let base = number::from_be_bytes(hs);
        Self::of_numbers(&number::from_be_bytes(p), &number::from_be_bytes(q), Some(base))
    }

    pub(crate) fn of_numbers(p: &[u64], q: &[u64], short_base: Option<Number>) -> Result<Self, KeyError> {
        if [p, q].iter().any(|prime| prime.first().is_none_or(|low| low & 1 == 0) || is_one(prime)) {
            return Err(KeyError::Inconsistent("p or q is even or one"));
        }
        // Lengths are checked first, because the product of factors that a sender chose could take minutes.
        let bits = number::bit_length(p) + number::bit_length(q);
        if bits > super::MAX_BITS + 1 {
            return Err(KeyError::Length { bits });
        }
        let public = PublicKey::of_number(&number::mul(p, q), short_base)?;
        let (p, q) = (Factor::new(p, q)?, Factor::new(q, p)?);
        let coprime = KeyError::Inconsistent("p and q share a factor");
        let plain = Garner::new(&p.prime, &q.prime).ok_or_else(|| coprime.clone())?;
        let squares = Garner::new(&p.square, &q.square).ok_or(coprime)?;
        Ok(Self(Arc::new(Parts { public, p, q, plain, squares })))
    }

    /// Checks that both factors are prime, by Miller-Rabin tests to random bases, and that the base for short exponents is
    /// an n-th power. Reading a key does not check this.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_paillier::{PrivateKey, Randomness};
    ///
    /// let engine = Engine::new()?;
    /// PrivateKey::generate(&engine, 1024, Randomness::Short)?.check(&engine)?;
    /// # Ok::<(), modmill_paillier::Error>(())
    /// ```
    pub fn check(&self, engine: &Engine) -> Result<(), Error> {
        for (name, factor) in [("p", self.p()), ("q", self.q())] {
            if !is_probable_prime(engine, &factor.prime, ROUNDS)? {
                return Err(KeyError::NotPrime(name).into());
            }
            let Some(base) = self.public_key().short_base() else { continue };
            let power =
                engine.pow(shared(base), exponent(&factor.order, factor.prime.bits()), &factor.square)?;
            if !is_one(power.get(0)) {
                return Err(KeyError::Inconsistent("hs is no n-th power").into());
            }
        }
        Ok(())
    }

    /// The public half of the key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.0.public
    }

    /// The length of n in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.0.public.bits()
    }

    /// The primes, least significant limb first.
    #[must_use]
    pub fn primes(&self) -> [&[u64]; 2] {
        [self.p(), self.q()].map(|factor| factor.prime.value())
    }

    pub(crate) fn p(&self) -> &Factor {
        &self.0.p
    }

    pub(crate) fn q(&self) -> &Factor {
        &self.0.q
    }

    pub(crate) fn plain(&self) -> &Garner {
        &self.0.plain
    }

    pub(crate) fn squares(&self) -> &Garner {
        &self.0.squares
    }
}

impl Factor {
    /// The constants of the prime `p` of a key whose other prime is `q`.
    fn new(p: &[u64], q: &[u64]) -> Result<Self, KeyError> {
        let wrong = |_| KeyError::Inconsistent("a factor is too long");
        let prime = Modulus::new(p).map_err(wrong)?;
        let p = prime.value();
        let square = Modulus::new(&number::mul(p, p)).map_err(wrong)?;
        let negative = {
            let mut negative = Number::new(p.to_vec());
            number::sub_assign(&mut negative, &number::remainder(q, p));
            negative
        };
        let scale = number::inv(&negative, p).ok_or(KeyError::Inconsistent("p and q share a factor"))?;
        // Decryption needs gcd(n, (p - 1)(q - 1)) = 1. Primes of one length always have it.
        if number::inv(&number::remainder(&number::minus_one(q), p), p).is_none() {
            return Err(KeyError::Inconsistent("a prime divides the other minus one"));
        }
        let mut power_of_two = vec![0; p.len() + 1];
        power_of_two[p.len()] = 1;
        let mut inverse = number::inv(p, &power_of_two).ok_or(KeyError::Inconsistent("a factor is even"))?;
        inverse.truncate(p.len());
        let order = number::minus_one(p);
        Ok(Self { square, order, inverse, scale, prime, fixed: OnceLock::new() })
    }
}

impl fmt::Debug for PrivateKey {
    /// Shows the public key, and nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({} bits, {})", self.bits(), self.public_key().short_name())
    }
}
