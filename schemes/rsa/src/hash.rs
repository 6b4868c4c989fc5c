//! Hash functions that are chosen at run time.

mod hasher;

pub use hasher::Hasher;

use hasher::{Absorb, Extendable, with_state};
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroize;

/// A hash function.
///
/// Names are read in any case, with or without separators: `sha256`, `SHA-256` and `Sha2_256` are one hash.
///
/// ```
/// use modmill_rsa::Hash;
///
/// assert_eq!("SHA-512/256".parse(), Ok(Hash::Sha512_256));
/// assert_eq!(Hash::Sha256.digest(&[b"two ", b"parts"]), Hash::Sha256.digest(&[b"two parts"]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Hash {
    /// Verifies old signatures and serves OAEP. No signature is made with it.
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Sha512_224,
    Sha512_256,
    Sha3_224,
    Sha3_256,
    Sha3_384,
    Sha3_512,
    /// SHAKE128 with 32 bytes of output, for PSS (RFC 8702).
    Shake128,
    /// SHAKE256 with 64 bytes of output, for PSS (RFC 8702).
    Shake256,
}

/// One row per hash: its name, its output length in bytes, and the last arc of its object identifier
/// (2.16.840.1.101.3.4.2.x). Rows stand in the order of the enum.
const TABLE: [(Hash, &str, usize, u8); 13] = [
    (Hash::Sha1, "sha1", 20, 0),
    (Hash::Sha224, "sha224", 28, 4),
    (Hash::Sha256, "sha256", 32, 1),
    (Hash::Sha384, "sha384", 48, 2),
    (Hash::Sha512, "sha512", 64, 3),
    (Hash::Sha512_224, "sha512-224", 28, 5),
    (Hash::Sha512_256, "sha512-256", 32, 6),
    (Hash::Sha3_224, "sha3-224", 28, 7),
    (Hash::Sha3_256, "sha3-256", 32, 8),
    (Hash::Sha3_384, "sha3-384", 48, 9),
    (Hash::Sha3_512, "sha3-512", 64, 10),
    (Hash::Shake128, "shake128", 32, 11),
    (Hash::Shake256, "shake256", 64, 12),
];

/// The output of a hash function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    bytes: [u8; Hash::MAX_LEN],
    len: usize,
}

impl Digest {
    /// Wraps a digest that was computed elsewhere. Returns `None` if it has more than [`Hash::MAX_LEN`]
    /// bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut digest = Self { bytes: [0; Hash::MAX_LEN], len: bytes.len() };
        digest.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(digest)
    }
}

impl AsRef<[u8]> for Digest {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Clears the bytes: a digest may be a secret, as those of HMAC are.
impl Zeroize for Digest {
    fn zeroize(&mut self) {
        self.bytes.zeroize();
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Hash {
    /// The length of the longest digest, in bytes.
    pub const MAX_LEN: usize = 64;

    /// Iterates over every hash function.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.into_iter().map(|(hash, ..)| hash)
    }

    fn row(self) -> (Self, &'static str, usize, u8) {
        TABLE[self as usize]
    }

    /// The name of the hash, as `openssl dgst` spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The length of a digest, in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.row().2
    }

    /// Always false: every hash has an output.
    #[must_use]
    pub fn is_empty(self) -> bool {
        false
    }

    /// Whether the hash is an extendable-output function.
    pub(crate) fn is_extendable(self) -> bool {
        matches!(self, Self::Shake128 | Self::Shake256)
    }

    /// Hashes the concatenation of `parts`.
    #[must_use]
    pub fn digest(self, parts: &[&[u8]]) -> Digest {
        with_state!(self, |State| {
            let mut state = State::default();
            parts.iter().for_each(|part| state.absorb(part));
            self.finish(|out| state.squeeze(out))
        })
    }

    /// Starts a digest of data that comes in pieces.
    #[must_use]
    pub fn hasher(self) -> Hasher {
        Hasher::new(self)
    }

    /// A digest of this hash's length, written by `squeeze`.
    fn finish(self, squeeze: impl FnOnce(&mut [u8])) -> Digest {
        let mut digest = Digest { bytes: [0; Self::MAX_LEN], len: self.len() };
        squeeze(&mut digest.bytes[..digest.len]);
        digest
    }

    /// Fills `out` with the output of SHAKE128, or of SHAKE256 for every other hash.
    pub(crate) fn extend(self, input: &[u8], out: &mut [u8]) {
        fn fill<State: Absorb + Default>(input: &[u8], out: &mut [u8]) {
            let mut state = State::default();
            state.absorb(input);
            state.squeeze(out);
        }
        match self {
            Self::Shake128 => fill::<Extendable<shake::Shake128>>(input, out),
            _ => fill::<Extendable<shake::Shake256>>(input, out),
        }
    }

    /// The bytes that precede the digest in a PKCS #1 v1.5 signature: the DER encoding of `DigestInfo`
    /// without its last field (RFC 8017, section 9.2). SHAKE128 and SHAKE256 have none.
    #[must_use]
    pub fn digest_info_prefix(self) -> Option<Vec<u8>> {
        const SHA1: &[u8] = &[0x2b, 0x0e, 0x03, 0x02, 0x1a];
        let (_, _, len, arc) = self.row();
        let nist = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, arc];
        let oid = if self == Self::Sha1 { SHA1 } else { &nist };
        let (oid_len, len) = (oid.len() as u8, len as u8);
        let start = [0x30, 8 + oid_len + len, 0x30, 4 + oid_len, 0x06, oid_len];
        (!self.is_extendable()).then(|| [&start, oid, &[0x05, 0x00, 0x04, len]].concat())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = plain_name(text);
        Self::all().find(|hash| plain_name(hash.name()) == wanted).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            format!("unknown hash {text:?}; known: {}", names.join(", "))
        })
    }
}

/// The letters and digits of a hash's name in lower case, with `sha2-256` shortened to `sha256`.
fn plain_name(text: &str) -> String {
    let is_separator = |character: &char| matches!(character, '-' | '_' | '/' | ' ');
    let plain: String = text.chars().filter(|c| !is_separator(c)).collect::<String>().to_lowercase();
    match plain.strip_prefix("sha2") {
        // The names of SHA-2 have at least three digits, so that "sha256" is not taken for a "56" of SHA-2.
        Some(digits) if digits.len() >= 3 => format!("sha{digits}"),
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_rows_belong_together() {
        for (index, hash) in Hash::all().enumerate() {
            assert_eq!((hash as usize, hash.name().parse()), (index, Ok(hash)));
            assert_eq!(hash.digest(&[b"a", b"bc"]), hash.digest(&[b"abc"]));
            assert_eq!(hash.digest(&[]).as_ref().len(), hash.len());
        }
        assert!("md5".parse::<Hash>().unwrap_err().contains("sha3-256"));
    }

    #[test]
    fn names_are_read_in_every_spelling() {
        for (text, hash) in [
            ("SHA256", Hash::Sha256),
            ("sha-256", Hash::Sha256),
            ("Sha2-256", Hash::Sha256),
            ("SHA2_224", Hash::Sha224),
            ("sha224", Hash::Sha224),
            ("SHA-1", Hash::Sha1),
            ("SHA-512/224", Hash::Sha512_224),
            ("sha2-512/256", Hash::Sha512_256),
            ("SHA3_512", Hash::Sha3_512),
            ("SHAKE-128", Hash::Shake128),
        ] {
            assert_eq!(text.parse(), Ok(hash), "{text}");
        }
        for text in ["", "-", "sha", "sha2", "sha3", "sha25", "sha56", "sha512-25", "md5"] {
            assert!(text.parse::<Hash>().is_err(), "{text}");
        }
    }

    #[test]
    fn known_digests_and_prefixes() {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        // FIPS 180-4 and 202 examples: the digest of "abc".
        for (hash, start) in [
            (Hash::Sha1, "a9993e364706816a"),
            (Hash::Sha256, "ba7816bf8f01cfea"),
            (Hash::Sha512_256, "53048e2681941ef9"),
            (Hash::Sha3_256, "3a985da74fe225b2"),
            (Hash::Shake128, "5881092dd818bf5c"),
        ] {
            assert!(hex(hash.digest(&[b"abc"]).as_ref()).starts_with(start), "{hash}");
        }
        // RFC 8017, section 9.2, note 1.
        for (hash, prefix) in [
            (Hash::Sha1, "3021300906052b0e03021a05000414"),
            (Hash::Sha256, "3031300d060960864801650304020105000420"),
            (Hash::Sha512_224, "302d300d06096086480165030402050500041c"),
        ] {
            assert_eq!(hex(&hash.digest_info_prefix().unwrap()), prefix);
        }
        assert_eq!(Hash::Shake128.digest_info_prefix(), None);
    }
}
