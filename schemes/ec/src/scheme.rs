//! Signature schemes and their options.

use crate::{Digest, Error, Hash, ItemError};

/// A signature scheme: of ECDSA's curves, or of Ed25519.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureScheme<'a> {
    /// ECDSA (FIPS 186-5, section 6).
    Ecdsa(Ecdsa),
    /// Ed25519 (RFC 8032).
    Ed25519(Ed25519<'a>),
}

impl From<Ecdsa> for SignatureScheme<'_> {
    fn from(scheme: Ecdsa) -> Self {
        Self::Ecdsa(scheme)
    }
}

impl<'a> From<Ed25519<'a>> for SignatureScheme<'a> {
    fn from(scheme: Ed25519<'a>) -> Self {
        Self::Ed25519(scheme)
    }
}

/// The options of ECDSA.
///
/// ```
/// use modmill_ec::{Ecdsa, Format, Hash, Nonce};
///
/// let scheme = Ecdsa { format: Format::Raw, low_s: true, ..Ecdsa::new(Hash::Sha256) };
/// assert_eq!(scheme.nonce, Nonce::Hedged);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ecdsa {
    /// The hash of messages. SHA-1 is refused.
    pub hash: Hash,
    /// The source of nonces, for signing alone.
    pub nonce: Nonce,
    /// The form of signatures.
    pub format: Format,
    /// Whether signatures have the smaller one of `s` and `n - s`. Verification then refuses the other one.
    pub low_s: bool,
}

impl Ecdsa {
    /// ECDSA with `hash`, hedged nonces, DER and any `s`.
    #[must_use]
    pub fn new(hash: Hash) -> Self {
        Self { hash, nonce: Nonce::default(), format: Format::default(), low_s: false }
    }

    fn check(self) -> Result<(), Error> {
        match self.hash {
            Hash::Sha1 => Err(Error::UnsupportedHash { scheme: "ECDSA", hash: self.hash }),
            _ => Ok(()),
        }
    }

    fn check_nonce(self) -> Result<(), Error> {
        match (self.hash, self.nonce) {
            // HMAC is not defined with an extendable-output function.
            (Hash::Shake128 | Hash::Shake256, Nonce::Rfc6979) => {
                Err(Error::UnsupportedHash { scheme: "RFC 6979", hash: self.hash })
            }
            _ => Ok(()),
        }
    }
}

/// The source of the secret number of each ECDSA signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Nonce {
    /// A hash of random bytes, the private key and the digest. Two signatures of one digest have different
    /// nonces, so that a faulty one cannot be compared with a right one. With random bytes that are not
    /// random, nonces still differ for different digests.
    #[default]
    Hedged,
    /// The nonce follows from the private key and the digest (RFC 6979): the same signature every time.
    Rfc6979,
}

/// The form of ECDSA signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Format {
    /// The DER of a sequence of two integers, as in certificates and TLS.
    #[default]
    Der,
    /// `r || s`, both as long as the order: JSON Web Signatures, PKCS #11, IEEE P1363.
    Raw,
}

/// The options of Ed25519.
///
/// ```
/// use modmill_ec::{Ed25519, Rules, Variant};
///
/// let scheme = Ed25519 { rules: Rules::Strict, ..Ed25519::default() };
/// assert_eq!(scheme.variant, Variant::Pure);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ed25519<'a> {
    /// The form of the scheme.
    pub variant: Variant<'a>,
    /// The rules of verification. Signatures made here pass all of them.
    pub rules: Rules,
}

/// A form of Ed25519 (RFC 8032, section 5.1). A context has at most 255 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Variant<'a> {
    /// Ed25519, of messages.
    #[default]
    Pure,
    /// Ed25519ctx, of messages with a context.
    Context(&'a [u8]),
    /// Ed25519ph, of SHA-512 digests of messages, with a context that may be empty.
    Prehashed(&'a [u8]),
}

/// The rules by which Ed25519 signatures verify. All of them demand `s` below the order. They differ on
/// points that no honest signer makes, so that all programs that have to agree need the same rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rules {
    /// `[s] B - [k] A` has the bytes `R`: the rules of OpenSSL, of Go and of dalek's `verify`.
    #[default]
    Common,
    /// The equation of [`Rules::Common`], with `A` in canonical form, and neither `A` nor `R` of small order.
    Strict,
    /// `8 ([s] B - [k] A - R) = 0`; `A` and `R` need not be canonical (ZIP 215). Only these rules give the
    /// same answers for signatures that are verified alone and in combinations.
    Zip215,
}

impl Ed25519<'_> {
    fn check(self, signed: Signed<'_>) -> Result<(), Error> {
        match self.variant {
            Variant::Pure | Variant::Context(_) if matches!(signed, Signed::Digests(_)) => {
                Err(Error::NotPrehashed)
            }
            Variant::Context(context) | Variant::Prehashed(context) if context.len() > 255 => {
                Err(Error::ContextTooLong(context.len()))
            }
            _ => Ok(()),
        }
    }
}

impl SignatureScheme<'_> {
    /// Refuses options that cannot be.
    pub(crate) fn check(&self, signed: Signed<'_>) -> Result<(), Error> {
        match self {
            Self::Ecdsa(scheme) => scheme.check(),
            Self::Ed25519(scheme) => scheme.check(signed),
        }
    }

    /// Refuses options that cannot be for signing.
    pub(crate) fn check_signing(&self, signed: Signed<'_>) -> Result<(), Error> {
        self.check(signed)?;
        match self {
            Self::Ecdsa(scheme) => scheme.check_nonce(),
            Self::Ed25519(_) => Ok(()),
        }
    }
}

/// The messages of signatures, or their digests.
#[derive(Clone, Copy)]
pub(crate) enum Signed<'a> {
    Messages(&'a [&'a [u8]]),
    Digests(&'a [&'a [u8]]),
}

impl Signed<'_> {
    pub(crate) fn len(&self) -> usize {
        let (Self::Messages(strings) | Self::Digests(strings)) = self;
        strings.len()
    }

    /// The digest of an item by `hash`. A digest of another length is refused.
    pub(crate) fn digest(&self, hash: Hash, item: usize) -> Result<Digest, ItemError> {
        match self {
            Self::Messages(messages) => Ok(hash.digest(&[messages[item]])),
            Self::Digests(digests) => {
                let (expected, found) = (hash.len(), digests[item].len());
                let digest = Digest::from_bytes(digests[item]).filter(|_| expected == found);
                digest.ok_or(ItemError::WrongLength { expected, found })
            }
        }
    }
}
