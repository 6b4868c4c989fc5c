//! Keys: their halves, generation, and raw bytes.

mod encode;
mod jwk;
mod read;

use crate::curve::with_weierstrass;
use crate::ec::{HasCurve, in_blocks};
use crate::field::{Field, N25519, P25519, invert_all};
use crate::group::{Decoded, Ed25519, Group, Points, Weierstrass};
use crate::scalar25519::{Expanded, clamped, read_scalar};
use crate::{Curve, Error, KeyError, PointError, point};
use modmill::Engine;
use std::fmt;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A public key: a point. Its bytes (`as_ref`) are those of the uncompressed point, or the 32 bytes of
/// Ed25519 and X25519.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    curve: Curve,
    bytes: Box<[u8]>,
}

impl PublicKey {
    /// Reads a point: 32 bytes, or an uncompressed or compressed point that is checked to be on the curve.
    ///
    /// A point of Ed25519 need not be in canonical form, and may be of small order: [`Rules`](crate::Rules)
    /// say which signatures verify under it. X25519 takes any 32 bytes.
    ///
    /// ```
    /// use modmill_ec::{Curve, KeyError, PointError, PublicKey};
    ///
    /// let refused = PublicKey::from_raw(Curve::P256, &[0]).unwrap_err();
    /// assert_eq!(refused, KeyError::Point(PointError::Infinity));
    /// ```
    pub fn from_raw(curve: Curve, bytes: &[u8]) -> Result<Self, KeyError> {
        let bytes = with_weierstrass!(curve, |C| point::encode::<C>(point::decode::<C>(bytes)?), {
            let wrong = PointError::WrongLength { expected: 32, found: bytes.len() };
            let bytes: &[u8; 32] = bytes.try_into().map_err(|_| wrong)?;
            if curve == Curve::Ed25519 && Ed25519::decode(bytes).is_none() {
                return Err(PointError::OffCurve.into());
            }
            Box::from(&bytes[..])
        });
        Ok(Self { curve, bytes })
    }

    /// The curve of the key.
    #[must_use]
    pub fn curve(&self) -> Curve {
        self.curve
    }

    /// The point of an Ed25519 key.
    pub(crate) fn ed25519_point(&self) -> Option<Decoded> {
        let bytes = self.bytes[..].try_into().ok().filter(|_| self.curve == Curve::Ed25519);
        bytes.and_then(Ed25519::decode)
    }
}

impl AsRef<[u8]> for PublicKey {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({} ", self.curve)?;
        self.bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, ")")
    }
}

impl HasCurve for PublicKey {
    fn curve(&self) -> Curve {
        self.curve
    }
}

/// A private key with its public half. Clones share one memory, which is cleared when the last one is
/// dropped.
#[derive(Clone)]
pub struct PrivateKey(Arc<Parts>);

struct Parts {
    secret: Zeroizing<Box<[u8]>>,
    public: PublicKey,
}

impl PrivateKey {
    /// Generates a key.
    ///
    /// ```
    /// use modmill_ec::{Curve, PrivateKey};
    ///
    /// let key = PrivateKey::generate(Curve::P521)?;
    /// assert_eq!((key.curve(), key.to_raw().len()), (Curve::P521, 66));
    /// # Ok::<(), modmill_ec::Error>(())
    /// ```
    pub fn generate(curve: Curve) -> Result<Self, Error> {
        let secret = [random(curve)?];
        let public = publics(curve, &secret);
        let [secret] = secret;
        public
            .into_iter()
            .next()
            .map(|public| Self::join(secret, public))
            .ok_or(KeyError::Missing("point").into())
    }

    /// Generates `count` keys on the threads of an engine.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_ec::{Curve, PrivateKey};
    ///
    /// let keys = PrivateKey::generate_many(&Engine::new()?, Curve::P256, 3)?;
    /// assert_eq!(keys.len(), 3);
    /// # Ok::<(), modmill_ec::Error>(())
    /// ```
    pub fn generate_many(engine: &Engine, curve: Curve, count: usize) -> Result<Vec<Self>, Error> {
        let secrets = (0..count).map(|_| random(curve)).collect::<Result<Vec<_>, _>>()?;
        let publics = in_blocks(engine, count, |block| publics(curve, &secrets[block]));
        Ok(secrets.into_iter().zip(publics).map(|(secret, public)| Self::join(secret, public)).collect())
    }

    /// Reads a private number: big-endian and as long as the order, or the 32 bytes of Ed25519 and X25519.
    ///
    /// ```
    /// use modmill_ec::{Curve, KeyError, PrivateKey};
    ///
    /// let refused = PrivateKey::from_raw(Curve::P256, &[0; 32]).unwrap_err();
    /// assert_eq!(refused, KeyError::ScalarRange);
    /// ```
    pub fn from_raw(curve: Curve, bytes: &[u8]) -> Result<Self, KeyError> {
        let (expected, found) = (curve.size(), bytes.len());
        if expected != found {
            return Err(KeyError::WrongLength { expected, found });
        }
        if !is_in_range(curve, bytes) {
            return Err(KeyError::ScalarRange);
        }
        let secret = [Zeroizing::new(Box::from(bytes))];
        let public = publics(curve, &secret);
        let [secret] = secret;
        public.into_iter().next().map(|public| Self::join(secret, public)).ok_or(KeyError::Missing("point"))
    }

    fn join(secret: Zeroizing<Box<[u8]>>, public: PublicKey) -> Self {
        Self(Arc::new(Parts { secret, public }))
    }

    /// A key whose halves need not belong together.
    #[cfg(test)]
    pub(crate) fn mismatched(secret: &Self, public: &Self) -> Self {
        Self::join(secret.0.secret.clone(), public.0.public.clone())
    }

    /// The curve of the key.
    #[must_use]
    pub fn curve(&self) -> Curve {
        self.0.public.curve
    }

    /// The public half of the key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.0.public
    }

    /// The private number, as [`PrivateKey::from_raw`] reads it.
    #[must_use]
    pub fn to_raw(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.secret.to_vec())
    }

    pub(crate) fn secret(&self) -> &[u8] {
        &self.0.secret
    }

    /// Refuses a public half that is given and is not that of the key.
    fn check_public(self, given: Option<&PublicKey>) -> Result<Self, KeyError> {
        match given {
            Some(public) if public != self.public_key() => Err(KeyError::Inconsistent),
            _ => Ok(self),
        }
    }
}

impl fmt::Debug for PrivateKey {
    /// Shows the curve, and nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.curve())
    }
}

impl HasCurve for PrivateKey {
    fn curve(&self) -> Curve {
        self.curve()
    }
}

/// A public or a private key.
#[derive(Debug, Clone)]
pub enum AnyKey {
    /// A public key.
    Public(PublicKey),
    /// A private key.
    Private(PrivateKey),
}

impl AnyKey {
    /// The public key, or the public half of the private key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        match self {
            Self::Public(key) => key,
            Self::Private(key) => key.public_key(),
        }
    }
}

/// Whether a private number is from 1 to the order less one. Every 32 bytes are keys of Ed25519 and X25519.
fn is_in_range(curve: Curve, bytes: &[u8]) -> bool {
    fn check<F: Field>(bytes: &[u8]) -> bool {
        let (number, in_range) = F::read(bytes);
        let number = Zeroizing::new(number);
        in_range & !number.is_zero() != 0
    }
    with_weierstrass!(curve, |C| check::<<C as Weierstrass>::Scalar>(bytes), true)
}

/// A random private number, each with the same probability. The time tells how many were out of range, and
/// nothing about the one that is taken.
fn random(curve: Curve) -> Result<Zeroizing<Box<[u8]>>, Error> {
    let mut bytes = Zeroizing::new(vec![0; curve.size()].into_boxed_slice());
    loop {
        modmill_primes::random::fill(&mut bytes)?;
        if curve == Curve::P521 {
            // The order has 521 bits.
            bytes[0] &= 1;
        }
        if is_in_range(curve, &bytes) {
            return Ok(bytes);
        }
    }
}

/// The public halves of private numbers, which share inversions.
fn publics(curve: Curve, secrets: &[Zeroizing<Box<[u8]>>]) -> Vec<PublicKey> {
    fn points<C: Weierstrass>(secrets: &[Zeroizing<Box<[u8]>>]) -> Vec<Box<[u8]>> {
        let table = Points::<C>::generator_table();
        let products = secrets.iter().map(|secret| table.multiple(C::Scalar::read(secret).0));
        let products: Zeroizing<Vec<_>> = Zeroizing::new(products.collect());
        Points::<C>::entries(&products).into_iter().map(point::encode::<C>).collect()
    }
    let bytes = with_weierstrass!(curve, |C| points::<C>(secrets), {
        let scalar = |secret: &Zeroizing<Box<[u8]>>| match curve {
            Curve::Ed25519 => Expanded::new(secret).scalar,
            _ => read_scalar(&*clamped(secret)),
        };
        points_of_edwards25519(curve, secrets.iter().map(scalar))
    });
    bytes.into_iter().map(|bytes| PublicKey { curve, bytes }).collect()
}

/// Multiples of the generator as Ed25519 or as X25519 writes them. The map to Curve25519 is `u = (1 + y) / (1
/// - y)`.
fn points_of_edwards25519(curve: Curve, scalars: impl Iterator<Item = N25519>) -> Vec<Box<[u8]>> {
    let table = Ed25519::generator_table();
    let products: Zeroizing<Vec<_>> = Zeroizing::new(scalars.map(|scalar| table.multiple(scalar)).collect());
    let denominator = |&[_, y, z, _]: &[P25519; 4]| if curve == Curve::Ed25519 { z } else { z - y };
    let mut inverses: Zeroizing<Vec<P25519>> = Zeroizing::new(products.iter().map(denominator).collect());
    invert_all(&mut inverses);
    let write = |(point, &inverse): (&[P25519; 4], &P25519)| {
        let [_, y, z, _] = *point;
        let mut bytes = [0; 32];
        if curve == Curve::Ed25519 {
            bytes = Ed25519::encode(point, inverse);
        } else {
            ((z + y) * inverse).write(&mut bytes);
            bytes.reverse();
        }
        Box::from(&bytes[..])
    };
    products.iter().zip(inverses.iter()).map(write).collect()
}
