//! Hash functions, chosen at run time.

use digest::{ExtendableOutput, XofReader};
use std::fmt;
use std::str::FromStr;

/// A hash function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Hash {
    /// For verifying old signatures and for OAEP; nothing is signed with it.
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
    /// With 32 bytes of output, for PSS (RFC 8702).
    Shake128,
    /// With 64 bytes of output, for PSS (RFC 8702).
    Shake256,
}

/// Names, output lengths and the last arc of the object identifier (2.16.840.1.101.3.4.2.x).
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
    /// A digest computed elsewhere, of at most [`Hash::MAX_LEN`] bytes.
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

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Hash {
    /// The longest output.
    pub const MAX_LEN: usize = 64;

    /// Every hash function.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.into_iter().map(|(hash, ..)| hash)
    }

    fn row(self) -> (Self, &'static str, usize, u8) {
        TABLE[self as usize]
    }

    /// The name users write and read.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Bytes of output.
    #[must_use]
    pub fn len(self) -> usize {
        self.row().2
    }

    /// Never: every hash has an output.
    #[must_use]
    pub fn is_empty(self) -> bool {
        false
    }

    /// Whether its output may be as long as one likes.
    pub(crate) fn is_extendable(self) -> bool {
        matches!(self, Self::Shake128 | Self::Shake256)
    }

    /// The digest of some parts, one after the other.
    #[must_use]
    pub fn digest(self, parts: &[&[u8]]) -> Digest {
        let mut digest = Digest { bytes: [0; Self::MAX_LEN], len: self.len() };
        let out = &mut digest.bytes[..digest.len];
        match self {
            Self::Sha1 => fixed::<sha1::Sha1>(parts, out),
            Self::Sha224 => fixed::<sha2::Sha224>(parts, out),
            Self::Sha256 => fixed::<sha2::Sha256>(parts, out),
            Self::Sha384 => fixed::<sha2::Sha384>(parts, out),
            Self::Sha512 => fixed::<sha2::Sha512>(parts, out),
            Self::Sha512_224 => fixed::<sha2::Sha512_224>(parts, out),
            Self::Sha512_256 => fixed::<sha2::Sha512_256>(parts, out),
            Self::Sha3_224 => fixed::<sha3::Sha3_224>(parts, out),
            Self::Sha3_256 => fixed::<sha3::Sha3_256>(parts, out),
            Self::Sha3_384 => fixed::<sha3::Sha3_384>(parts, out),
            Self::Sha3_512 => fixed::<sha3::Sha3_512>(parts, out),
            Self::Shake128 | Self::Shake256 => self.extend(parts, out),
        }
        digest
    }

    /// As much output as there is room for, of a function that is extendable.
    pub(crate) fn extend(self, parts: &[&[u8]], out: &mut [u8]) {
        match self {
            Self::Shake128 => extended(shake::Shake128::default(), parts, out),
            _ => extended(shake::Shake256::default(), parts, out),
        }
    }

    /// What stands before the digest in a PKCS #1 v1.5 signature: the DER encoding of `DigestInfo` up
    /// to there (RFC 8017, section 9.2). Extendable functions have none.
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

fn fixed<D: digest::Digest>(parts: &[&[u8]], out: &mut [u8]) {
    let mut hasher = D::new();
    for part in parts {
        digest::Digest::update(&mut hasher, part);
    }
    out.copy_from_slice(&hasher.finalize());
}

fn extended(mut hasher: impl ExtendableOutput, parts: &[&[u8]], out: &mut [u8]) {
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize_xof().read(out);
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Hash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all().find(|hash| hash.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            format!("unknown hash {text:?}; known: {}", names.join(", "))
        })
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
