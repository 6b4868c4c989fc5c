//! Keys as OpenSSL holds them.

use crate::core_handle::Core;
use crate::failure::Failure;
use crate::names::param;
use crate::params::{Built, Given};
use modmill_client::Key;
use modmill_rsa::hazmat;
use modmill_rsa::{PrivateKey, PrivateParts, PublicKey, Sizes};

/// A key that OpenSSL holds a pointer to.
#[derive(Clone)]
pub(crate) struct ProviderKey {
    pub(crate) core: Core,
    pub(crate) content: Content,
}

/// What a key has.
#[derive(Clone)]
pub(crate) enum Content {
    /// Nothing yet.
    Empty,
    /// The public half.
    Public(PublicKey),
    /// Both halves.
    Pair(Key),
}

impl Content {
    pub(crate) fn public(&self) -> Option<&PublicKey> {
        match self {
            Self::Empty => None,
            Self::Public(key) => Some(key),
            Self::Pair(key) => Some(key.public_key()),
        }
    }

    /// The numbers of the private key, if this process holds them.
    pub(crate) fn numbers(&self) -> Option<hazmat::PrivateNumbers> {
        match self {
            Self::Pair(key) => key.private_key().map(hazmat::numbers),
            Self::Empty | Self::Public(_) => None,
        }
    }

    /// Reads a key from its numbers. A key with more than two primes is refused, so that OpenSSL computes with it itself.
    pub(crate) fn read(given: Given<'_>, with_private: bool) -> Result<Self, Failure> {
        let missing = |what| Failure::Key(format!("the key has no {what}"));
        let modulus = given.number(param::N)?.ok_or_else(|| missing("modulus"))?;
        let exponent = given.number(param::E)?.ok_or_else(|| missing("public exponent"))?;
        let private = if with_private { given.number(param::D)? } else { None };
        let Some(private) = private else {
            return Ok(Self::Public(PublicKey::new(&modulus, &exponent, Sizes::AllowSmall)?));
        };
        if given.has(param::FACTOR3) {
            return Err(Failure::Unsupported("keys with more than two primes".into()));
        }
        let [prime1, prime2, exponent1, exponent2, coefficient] = [
            given.number(param::FACTOR1)?,
            given.number(param::FACTOR2)?,
            given.number(param::EXPONENT1)?,
            given.number(param::EXPONENT2)?,
            given.number(param::COEFFICIENT1)?,
        ];
        let parts = PrivateParts {
            modulus: &modulus,
            public_exponent: &exponent,
            private_exponent: &private,
            prime1: prime1.as_deref().map_or(&[], |prime| prime),
            prime2: prime2.as_deref().map_or(&[], |prime| prime),
            exponent1: exponent1.as_deref().map(|number| &number[..]),
            exponent2: exponent2.as_deref().map(|number| &number[..]),
            coefficient: coefficient.as_deref().map(|number| &number[..]),
        };
        Ok(Self::Pair(Key::local(PrivateKey::new(&parts, Sizes::AllowSmall)?)))
    }

    /// The numbers of a key, those of the private key too if `with_private`.
    pub(crate) fn write(&self, with_private: bool) -> Result<Built, Failure> {
        let public = self.public().ok_or_else(|| Failure::Key("the key is empty".into()))?;
        let mut built = Built::default();
        built.number(param::N, public.modulus_bytes());
        built.number(param::E, &public.exponent_bytes());
        match (self, with_private) {
            (Self::Pair(_), true) => {
                let numbers = self.numbers().ok_or_else(|| {
                    Failure::Key("the private key is held by the service and does not leave it".into())
                })?;
                built.number(param::D, &numbers.exponent);
                built.number(param::FACTOR1, &numbers.prime1);
                built.number(param::FACTOR2, &numbers.prime2);
                built.number(param::EXPONENT1, &numbers.exponent1);
                built.number(param::EXPONENT2, &numbers.exponent2);
                built.number(param::COEFFICIENT1, &numbers.coefficient);
            }
            _ => {}
        }
        Ok(built)
    }
}

/// The strength of a key in bits (NIST SP 800-56B, appendix D), rounded as OpenSSL rounds it.
pub(crate) fn security_bits(bits: usize) -> i64 {
    match bits {
        2048 => 112,
        3072 => 128,
        4096 => 152,
        6144 => 176,
        7680 => 192,
        8192 => 200,
        15360 => 256,
        bits => {
            let length = bits as f64 * std::f64::consts::LN_2;
            let strength = (1.923 * (length * length.ln().powi(2)).cbrt() - 4.69) / std::f64::consts::LN_2;
            let limit = if bits <= 7680 {
                192.0
            } else if bits <= 15360 {
                256.0
            } else {
                1200.0
            };
            8 * ((strength.min(limit) / 8.0 + 0.5) as i64)
        }
    }
}
