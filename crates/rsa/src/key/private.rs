//! Private keys with two primes.

use super::{PublicKey, Sizes};
use crate::KeyError;
use crate::number::{self, Number};
use crate::padding::pkcs1v15::RejectionKey;
use modmill::Modulus;
use modmill_core::limbs;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A private key. Clones are cheap and share what was computed for the moduli. Zeroized when the last
/// clone is dropped.
#[derive(Clone)]
pub struct PrivateKey(Arc<Parts>);

struct Parts {
    public: PublicKey,
    exponent: Number,
    p: Factor,
    q: Factor,
    /// `q^-1 mod p`.
    coefficient: Number,
    /// `p 2^s`, not below q: what makes a difference modulo p positive.
    lift: Number,
    rejection: RejectionKey,
}

/// A prime and the private exponent modulo one less.
pub(crate) struct Factor {
    pub(crate) prime: Modulus,
    pub(crate) exponent: Number,
}

/// The numbers of a private key, big-endian. What can be derived may be left out.
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
    /// A key from its parts. They must belong together; that the factors are prime is left to
    /// [`PrivateKey::check_primes`].
    pub fn new(parts: &PrivateParts<'_>, sizes: Sizes) -> Result<Self, KeyError> {
        let public = PublicKey::new(parts.modulus, parts.public_exponent, sizes)?;
        let exponent = number::from_be_bytes(parts.private_exponent);
        let [p, q] = [parts.prime1, parts.prime2].map(number::from_be_bytes);
        if p.is_empty() || q.is_empty() {
            return Err(KeyError::Missing("prime factors"));
        }
        // Two is no factor of an odd modulus, and a factor of one is none.
        if [&p, &q].iter().any(|prime| prime[0] & 1 == 0 || ***prime == [1]) {
            return Err(KeyError::Inconsistent("a factor is even or one"));
        }
        // A product has as many bits as its factors together, or one less. Seen to first, because whoever made the
        // key may have made its factors so long that multiplying them takes forever.
        let factor_bits = limbs::bit_length(&p) + limbs::bit_length(&q);
        if !(public.bits()..=public.bits() + 1).contains(&factor_bits)
            || !number::equal(&number::product(&p, &q), public.modulus().value())
        {
            return Err(KeyError::Inconsistent("the modulus is not the product of the factors"));
        }
        if limbs::bit_length(&exponent) > public.bits() {
            return Err(KeyError::Inconsistent("the private exponent is longer than the modulus"));
        }
        let coefficient =
            number::invert(&q, &p).ok_or(KeyError::Inconsistent("the factors share a factor"))?;
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
        let shift = limbs::bit_length(&q).saturating_sub(limbs::bit_length(&p)) + 1;
        let mut lift = Number::new(vec![0; (limbs::bit_length(&p) + shift).div_ceil(64)]);
        limbs::shift_left(&p, shift, &mut lift);
        let mut octets = Zeroizing::new(vec![0; public.size()]);
        limbs::write_be_bytes(&exponent, &mut octets);
        let rejection = RejectionKey::new(&octets);
        Ok(Self(Arc::new(Parts { public, exponent, p: first, q: second, coefficient, lift, rejection })))
    }

    /// The public half.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.0.public
    }

    /// Length of the modulus in bits.
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

/// Whether a part that is given is what it must be.
fn check(given: Option<&[u8]>, expected: &[u64], wrong: &'static str) -> Result<(), KeyError> {
    match given {
        Some(bytes) if !number::equal(&number::from_be_bytes(bytes), expected) => {
            Err(KeyError::Inconsistent(wrong))
        }
        _ => Ok(()),
    }
}

impl fmt::Debug for PrivateKey {
    /// Shows the length, and nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({} bits)", self.bits())
    }
}
