//! Private keys: two primes and the constants of decryption.

use super::PublicKey;
use super::base::ShortBase;
use crate::crt::Garner;
use crate::rows::{exponent, halved, is_one, shared};
use crate::{Error, KeyError, MAX_BITS};
use modmill::number::{self, Number};
use modmill::{Backend, Engine, FixedBase, Modulus};
use modmill_primes::is_probable_prime;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The rounds of Miller-Rabin of [`PrivateKey::check`]: whoever made the key may have chosen its factors.
const ROUNDS: usize = 32;

/// The rounds for a key that is read: the lanes of one vector. A composite number that nobody chose passes a
/// single round with negligible probability, and one that somebody chose passes all of them with a
/// probability of at most 2^-16.
const READING_ROUNDS: usize = 8;

/// A private key. A clone is cheap, and shares the constants that were computed for the moduli. The secrets
/// are zeroized when the last clone is dropped.
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

/// A prime p with the constants of decryption. The other prime is called q here.
pub(crate) struct Factor {
    pub(crate) prime: Modulus,
    pub(crate) square: Modulus,
    /// `p^-1 mod q^2`: a product by it modulo `q^2` divides a multiple of p by p.
    pub(crate) inverse: Number,
    /// The removal of every mask, with the exponent `p - 1`.
    pub(crate) full: Unmasking,
    /// The removal of the masks of a small subgroup, with the exponent `2 u`, if the key has one.
    pub(crate) short: Option<Unmasking>,
    /// The powers of the base of short exponents modulo p^2, made by the owner's first encryption.
    pub(crate) fixed: OnceLock<FixedBase>,
}

/// An exponent o that takes masks to 1 modulo `p^2`, with the constants of what it leaves of a ciphertext:
/// `(1 + n)^(m o) = 1 + o m n mod p^2`.
pub(crate) struct Unmasking {
    pub(crate) exponent: Number,
    /// The length of the exponent in bits, which is public.
    pub(crate) bits: usize,
    /// `(o q)^-1 mod p`.
    pub(crate) scale: Number,
    /// `-o n mod p^2`.
    pub(crate) check: Number,
}

impl PrivateKey {
    /// A key from the big-endian bytes of its primes. Keys that are read are checked as by
    /// [`PrivateKey::check`], with fewer tests of their primes.
    ///
    /// ```
    /// use modmill_paillier::{KeyError, PrivateKey};
    ///
    /// let wrong = PrivateKey::new(&[0xff; 128], &[0xff; 128]).unwrap_err();
    /// assert_eq!(wrong, KeyError::Inconsistent("p and q share a factor"));
    /// // 2^512 - 569 is prime, and 2^512 - 5 is not.
    /// let (mut p, mut q) = ([0xff; 64], [0xff; 64]);
    /// (p[62], p[63], q[63]) = (0xfd, 0xc7, 0xfb);
    /// assert_eq!(PrivateKey::new(&p, &q).unwrap_err(), KeyError::NotPrime("q"));
    /// ```
    pub fn new(p: &[u8], q: &[u8]) -> Result<Self, KeyError> {
        Self::of_stranger(&number::from_be_bytes(p), &number::from_be_bytes(q), None, None)
    }

    /// A key from its primes and from `hs`, the base for short exponents.
    pub fn with_short_base(p: &[u8], q: &[u8], hs: &[u8]) -> Result<Self, KeyError> {
        let base = ShortBase { hs: number::from_be_bytes(hs), exponent_bits: None };
        Self::of_stranger(&number::from_be_bytes(p), &number::from_be_bytes(q), Some(base), None)
    }

    /// A key with a base of a small subgroup: `u` divides `p - 1`, `v` divides `q - 1`, and both have half
    /// the length of the exponents, which is `exponent_bits`.
    pub fn with_subgroup(
        [p, q]: [&[u8]; 2],
        [u, v]: [&[u8]; 2],
        hs: &[u8],
        exponent_bits: usize,
    ) -> Result<Self, KeyError> {
        let base = ShortBase { hs: number::from_be_bytes(hs), exponent_bits: Some(exponent_bits) };
        let orders = [u, v].map(number::from_be_bytes);
        Self::of_stranger(&number::from_be_bytes(p), &number::from_be_bytes(q), Some(base), Some(orders))
    }

    /// A key from numbers of which p and q may be composite, and the base any number.
    pub(crate) fn of_stranger(
        p: &[u64],
        q: &[u64],
        base: Option<ShortBase>,
        orders: Option<[Number; 2]>,
    ) -> Result<Self, KeyError> {
        let key = Self::of_numbers(p, q, base, orders)?;
        // An engine of the process would not survive a fork.
        let engine = Engine::builder().backend(Backend::Cpu).threads(1).build();
        let checked = engine.map_err(Error::from).and_then(|engine| key.check_with(&engine, READING_ROUNDS));
        match checked {
            Ok(()) => Ok(key),
            Err(Error::Key(error)) => Err(error),
            Err(error) => Err(KeyError::Unchecked(error.to_string())),
        }
    }

    /// A key from primes and a base that were made for it.
    pub(crate) fn of_numbers(
        p: &[u64],
        q: &[u64],
        base: Option<ShortBase>,
        orders: Option<[Number; 2]>,
    ) -> Result<Self, KeyError> {
        if [p, q].iter().any(|prime| prime.first().is_none_or(|low| low & 1 == 0) || is_one(prime)) {
            return Err(KeyError::Inconsistent("p or q is even or one"));
        }
        // Lengths are checked first, because the product of factors that a sender chose could take minutes.
        let bits = number::bit_length(p) + number::bit_length(q);
        if bits > MAX_BITS + 1 {
            return Err(KeyError::Length { bits });
        }
        let public = PublicKey::of_number(&number::mul(p, q), base)?;
        let (mut p, mut q) = (Factor::new(p, q)?, Factor::new(q, p)?);
        if let Some([u, v]) = orders {
            // Half of the exponents, and the factor 2.
            let bits = public.short_exponent_bits().div_ceil(2) + 1;
            (p.short, q.short) = (Some(p.subgroup(&q, &u, bits)?), Some(q.subgroup(&p, &v, bits)?));
        }
        let coprime = KeyError::Inconsistent("p and q share a factor");
        let plain = Garner::new(&p.prime, &q.prime).ok_or_else(|| coprime.clone())?;
        let squares = Garner::new(&p.square, &q.square).ok_or(coprime)?;
        Ok(Self(Arc::new(Parts { public, p, q, plain, squares })))
    }

    /// Checks that both factors are prime, by Miller-Rabin tests to random bases, and that the base for short
    /// exponents is an n-th power of the subgroup that it should be in. A key that is read passed the same
    /// check with fewer tests.
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
        self.check_with(engine, ROUNDS)
    }

    fn check_with(&self, engine: &Engine, rounds: usize) -> Result<(), Error> {
        for (name, factor) in [("p", self.p()), ("q", self.q())] {
            if !is_probable_prime(engine, &factor.prime, rounds)? {
                return Err(KeyError::NotPrime(name).into());
            }
            let Some(base) = self.public_key().short_base() else { continue };
            let unmasking = factor.short.as_ref().unwrap_or(&factor.full);
            let power =
                engine.pow(shared(base), exponent(&unmasking.exponent, unmasking.bits), &factor.square)?;
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

    /// The primes u and v of the subgroup, least significant limb first, if the key has one.
    #[must_use]
    pub fn subgroup(&self) -> Option<[Number; 2]> {
        let order = |factor: &Factor| factor.short.as_ref().map(|short| halved(&short.exponent));
        Some([order(self.p())?, order(self.q())?])
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
        // Decryption needs gcd(n, (p - 1)(q - 1)) = 1. Primes of one length always have it.
        if number::inv(&number::remainder(&number::minus_one(q), p), p).is_none() {
            return Err(KeyError::Inconsistent("a prime divides the other minus one"));
        }
        let other = number::mul(q, q);
        if number::bit_length(&other) <= prime.bits() {
            return Err(KeyError::Inconsistent("a prime is longer than the square of the other"));
        }
        let inverse = number::inv(&number::remainder(p, &other), &other)
            .ok_or(KeyError::Inconsistent("p and q share a factor"))?;
        let full = Unmasking::new(&prime, &square, q, number::minus_one(p), prime.bits())?;
        Ok(Self { square, inverse, full, short: None, prime, fixed: OnceLock::new() })
    }

    /// The exponent `2 u` of the subgroup of order u, in `bits` bits. The other factor is `q`.
    fn subgroup(&self, q: &Self, u: &[u64], bits: usize) -> Result<Unmasking, KeyError> {
        let is_odd = u.first().is_some_and(|low| low & 1 == 1);
        if !is_odd || number::bit_length(u) + 1 != bits {
            return Err(KeyError::Inconsistent("u or v is even, or not half as long as the exponents"));
        }
        let mut u = Number::new(u.to_vec());
        number::truncate(&mut u);
        if number::bit_length(&number::remainder(&number::minus_one(self.prime.value()), &u)) > 0 {
            return Err(KeyError::Inconsistent("u does not divide p - 1, or v does not divide q - 1"));
        }
        let mut exponent = Number::new(vec![0; bits.div_ceil(64)]);
        number::shift_left(&u, 1, &mut exponent);
        Unmasking::new(&self.prime, &self.square, q.prime.value(), exponent, bits)
    }
}

impl Unmasking {
    /// The constants of an exponent of `bits` bits, for the prime p with the square `p^2` and for the other
    /// prime q.
    fn new(
        p: &Modulus,
        square: &Modulus,
        q: &[u64],
        exponent: Number,
        bits: usize,
    ) -> Result<Self, KeyError> {
        let product = number::mul(&exponent, q);
        let scale = number::inv(&number::remainder(&product, p.value()), p.value())
            .ok_or(KeyError::Inconsistent("p and q share a factor"))?;
        let mut check = Number::new(square.value().to_vec());
        number::sub_assign(&mut check, &number::mul_mod(&product, p.value(), square.value()));
        Ok(Self { exponent, bits, scale, check })
    }
}

impl fmt::Debug for PrivateKey {
    /// Shows the public key, and nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({} bits, {})", self.bits(), self.public_key().short_name())
    }
}
