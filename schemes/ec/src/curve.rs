//! The curves.

use pkcs8::ObjectIdentifier;
use std::fmt;
use std::str::FromStr;

/// A curve, with the purpose that its keys have.
///
/// ```
/// use modmill_ec::Curve;
///
/// assert_eq!("P-256".parse(), Ok(Curve::P256));
/// assert_eq!(Curve::Secp256k1.to_string(), "secp256k1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Curve {
    /// NIST's curve of 256 bits (secp256r1), for ECDSA and ECDH.
    P256,
    /// NIST's curve of 384 bits (secp384r1), for ECDSA and ECDH.
    P384,
    /// NIST's curve of 521 bits (secp521r1), for ECDSA and ECDH.
    P521,
    /// The curve of Bitcoin, for ECDSA and ECDH.
    Secp256k1,
    /// Edwards25519, for Ed25519.
    Ed25519,
    /// Curve25519, for X25519.
    X25519,
}

/// One row per curve: its name, its names elsewhere, the bytes of a scalar, and its object identifier.
const TABLE: [(Curve, &str, [&str; 3], usize, &str); 6] = [
    (Curve::P256, "p256", ["p-256", "prime256v1", "secp256r1"], 32, "1.2.840.10045.3.1.7"),
    (Curve::P384, "p384", ["p-384", "secp384r1", "secp384r1"], 48, "1.3.132.0.34"),
    (Curve::P521, "p521", ["p-521", "secp521r1", "secp521r1"], 66, "1.3.132.0.35"),
    (Curve::Secp256k1, "secp256k1", ["p-256k", "k256", "secp256k1"], 32, "1.3.132.0.10"),
    (Curve::Ed25519, "ed25519", ["ed25519"; 3], 32, "1.3.101.112"),
    (Curve::X25519, "x25519", ["x25519"; 3], 32, "1.3.101.110"),
];

impl Curve {
    /// Iterates over all curves.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.into_iter().map(|(curve, ..)| curve)
    }

    /// The name of the curve in commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The length of a private key, and of a coordinate, in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        TABLE[self as usize].3
    }

    /// The length of a signature `r || s` or of Ed25519, or `None` for X25519, which has no signatures.
    #[must_use]
    pub fn signature_size(self) -> Option<usize> {
        (self != Self::X25519).then_some(2 * self.size())
    }

    /// Whether keys of the curve sign by ECDSA and agree by ECDH.
    #[must_use]
    pub fn is_weierstrass(self) -> bool {
        !matches!(self, Self::Ed25519 | Self::X25519)
    }

    /// The name in a JSON Web Key (RFC 7518, RFC 8037, RFC 8812).
    pub(crate) fn jwk_name(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
            Self::Secp256k1 => "secp256k1",
            Self::Ed25519 => "Ed25519",
            Self::X25519 => "X25519",
        }
    }

    /// The object identifier of the curve, or of the algorithm for Ed25519 and X25519.
    pub(crate) fn oid(self) -> ObjectIdentifier {
        ObjectIdentifier::new_unwrap(TABLE[self as usize].4)
    }

    pub(crate) fn of_oid(oid: ObjectIdentifier) -> Option<Self> {
        Self::all().find(|curve| curve.oid() == oid)
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Curve {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = text.to_ascii_lowercase();
        let is_wanted = |(_, name, others, ..): &&(Self, &str, [&str; 3], usize, &str)| {
            *name == wanted || others.contains(&wanted.as_str())
        };
        TABLE.iter().find(is_wanted).map(|row| row.0).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            format!("unknown curve {text:?}; known: {}", names.join(", "))
        })
    }
}

/// Evaluates `$body` with `$C` as the constants of a curve in Weierstrass's form, or `$other` for the others.
macro_rules! with_weierstrass {
    ($curve:expr, |$C:ident| $body:expr, $other:expr) => {{
        use $crate::group::{Nist256, Nist384, Nist521, Secp256k1};
        macro_rules! with {
            ($type:ty) => {{
                type $C = $type;
                $body
            }};
        }
        match $curve {
            $crate::Curve::P256 => with!(Nist256),
            $crate::Curve::P384 => with!(Nist384),
            $crate::Curve::P521 => with!(Nist521),
            $crate::Curve::Secp256k1 => with!(Secp256k1),
            $crate::Curve::Ed25519 | $crate::Curve::X25519 => $other,
        }
    }};
}

pub(crate) use with_weierstrass;
