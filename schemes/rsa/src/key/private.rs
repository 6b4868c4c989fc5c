//! Private keys with two primes.

use super::{PublicKey, Sizes, recover};
use crate::KeyError;
use crate::number::{self, Number};
use crate::padding::pkcs1v15::RejectionKey;
use modmill::Modulus;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A private key with two primes. A clone is cheap, and shares the constants that were computed for the
/// moduli. The secrets are zeroized when the last clone is dropped.
#[derive(Clone)]
pub struct PrivateKey(Arc<Parts>);

struct Parts {
    public: PublicKey,
    exponent: Number,
    p: Factor,
    q: Factor,
    /// `q^-1 mod p`.
    coefficient: Number,
    /// `p 2^s` for the least s >= 1 with `p 2^s >= q`: Garner's step adds it, so that a difference is
    /// positive.
    lift: Number,
    rejection: RejectionKey,
}

/// A prime p with the private exponent modulo p - 1.
pub(crate) struct Factor {
    pub(crate) prime: Modulus,
    pub(crate) exponent: Number,
}

/// The numbers of a private key, as big-endian bytes.
///
/// Both primes may be empty: they are then computed from the exponents, if the public exponent is short. The
/// last three numbers may be left out.
#[derive(Default)]
#[allow(missing_docs)]
pub struct PrivateParts<'a> {
    pub modulus: &'a [u8],
    pub public_exponent: &'a [u8],
    pub private_exponent: &'a [u8],
    pub prime1: &'a [u8],
    pub prime2: &'a [u8],
    /// `d mod (p - 1)`.
    pub exponent1: Option<&'a [u8]>,
    /// `d mod (q - 1)`.
    pub exponent2: Option<&'a [u8]>,
    /// `q^-1 mod p`.
    pub coefficient: Option<&'a [u8]>,
}

impl PrivateKey {
    /// Makes a key from its numbers, and checks that they belong together. It does not check that the factors
    /// are prime: [`PrivateKey::check_primes`] does.
    ///
    /// ```
    /// use modmill_rsa::{KeyError, PrivateKey, PrivateParts, Sizes};
    ///
    /// let parts = PrivateParts { modulus: &[0xff; 256], public_exponent: &[3], ..PrivateParts::default() };
    /// assert_eq!(PrivateKey::new(&parts, Sizes::Standard).unwrap_err(), KeyError::NoFactors);
    /// ```
    pub fn new(parts: &PrivateParts<'_>, sizes: Sizes) -> Result<Self, KeyError> {
        let public = PublicKey::new(parts.modulus, parts.public_exponent, sizes)?;
        let exponent = number::from_be_bytes(parts.private_exponent);
        if number::bit_length(&exponent) > public.bits() {
            return Err(KeyError::Inconsistent("the private exponent is longer than the modulus"));
        }
        let [p, q] = match [parts.prime1, parts.prime2].map(number::from_be_bytes) {
            [p, q] if p.is_empty() && q.is_empty() => {
                let factors = recover::factors(public.modulus().value(), public.exponent(), &exponent);
                factors.ok_or(KeyError::NoFactors)?
            }
            [p, q] if p.is_empty() || q.is_empty() => return Err(KeyError::Missing("second prime factor")),
            factors => factors,
        };
        if [&p, &q].iter().any(|prime| prime[0] & 1 == 0 || ***prime == [1]) {
            return Err(KeyError::Inconsistent("a factor is even or one"));
        }
        // A product has as many bits as its factors together, or one less. This is checked first, because the
        // sender of a key may have sent factors so long that their product takes minutes.
        let factor_bits = number::bit_length(&p) + number::bit_length(&q);
        if !(public.bits()..=public.bits() + 1).contains(&factor_bits)
            || !number::equal(&number::mul(&p, &q), public.modulus().value())
        {
            return Err(KeyError::Inconsistent("the modulus is not the product of the factors"));
        }
        let coefficient = number::inv(&q, &p).ok_or(KeyError::Inconsistent("the factors share a factor"))?;
        check(parts.coefficient, &coefficient, "the coefficient is not the inverse of the second factor")?;
        let factor = |prime: &Number, given: Option<&[u8]>, names: [&'static str; 2]| {
            let order = number::minus_one(prime);
            if !number::equal(&number::mul_mod(&exponent, public.exponent(), &order), &[1]) {
                return Err(KeyError::Inconsistent(names[0]));
            }
            let exponent = number::remainder(&exponent, &order);
            check(given, &exponent, names[1])?;
            let prime = Modulus::new(prime).map_err(|_| KeyError::Missing("prime factors"))?;
            Ok(Factor { prime, exponent })
        };
        let inverse = "the private exponent is not the inverse of the public one";
        let first = factor(&p, parts.exponent1, [inverse, "the first exponent is wrong"])?;
        let second = factor(&q, parts.exponent2, [inverse, "the second exponent is wrong"])?;
        let shift = number::bit_length(&q).saturating_sub(number::bit_length(&p)) + 1;
        let mut lift = Number::new(vec![0; (number::bit_length(&p) + shift).div_ceil(64)]);
        number::shift_left(&p, shift, &mut lift);
        let mut octets = Zeroizing::new(vec![0; public.size()]);
        number::write_be_bytes(&exponent, &mut octets);
        let rejection = RejectionKey::new(&octets);
        Ok(Self(Arc::new(Parts { public, exponent, p: first, q: second, coefficient, lift, rejection })))
    }

    /// The public half of the key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.0.public
    }

    /// The length of the modulus in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.0.public.bits()
    }

    /// The private exponent.
    pub(crate) fn exponent(&self) -> &[u64] {
        &self.0.exponent
    }

    pub(crate) fn p(&self) -> &Factor {
        &self.0.p
    }

    pub(crate) fn q(&self) -> &Factor {
        &self.0.q
    }

    pub(crate) fn coefficient(&self) -> &[u64] {
        &self.0.coefficient
    }

    pub(crate) fn lift(&self) -> &[u64] {
        &self.0.lift
    }

    pub(crate) fn rejection_key(&self) -> &RejectionKey {
        &self.0.rejection
    }
}

/// Refuses a number that is given and differs from the expected one.
fn check(given: Option<&[u8]>, expected: &[u64], wrong: &'static str) -> Result<(), KeyError> {
    match given {
        Some(bytes) if !number::equal(&number::from_be_bytes(bytes), expected) => {
            Err(KeyError::Inconsistent(wrong))
        }
        _ => Ok(()),
    }
}

impl fmt::Debug for PrivateKey {
    /// Shows the length of the key, and nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({} bits)", self.bits())
    }
}
