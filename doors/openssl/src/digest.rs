//! Digests, by OpenSSL's names.

use crate::failure::Failure;
use md5::{Digest as _, Md5};
use modmill_rsa::{Hash, Hasher};
use std::ffi::CStr;

/// A hash function that signatures of OpenSSL's programs use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digest {
    /// One of those that the RSA library has.
    Known(Hash),
    /// MD5, for signatures that old programs check.
    Md5,
    /// MD5 and SHA-1 side by side, as TLS 1.0 and 1.1 sign them without a `DigestInfo`.
    Md5Sha1,
    /// MDC2 (ISO/IEC 10118-2), whose digests are signed, checked and recovered. No message is hashed here.
    Mdc2,
}

impl Digest {
    /// The digest that OpenSSL calls `name`.
    pub(crate) fn named(name: &str) -> Result<Self, Failure> {
        let lower = name.to_ascii_lowercase();
        // A signature's name stands for its hash in some programs.
        match lower.strip_prefix("rsa-").unwrap_or(&lower) {
            "md5" | "ssl3-md5" => Ok(Self::Md5),
            "md5-sha1" => Ok(Self::Md5Sha1),
            "mdc2" => Ok(Self::Mdc2),
            "ssl3-sha1" => Ok(Self::Known(Hash::Sha1)),
            known => known.parse().map(Self::Known).map_err(Failure::Unsupported),
        }
    }

    /// The digest of a signature that OpenSSL calls `name`. Extendable-output functions are none, as in
    /// OpenSSL.
    pub(crate) fn of_signature(name: &str) -> Result<Self, Failure> {
        match Self::named(name)? {
            Self::Known(Hash::Shake128 | Hash::Shake256) => {
                Err(Failure::Unsupported(format!("signatures with the extendable-output function {name}")))
            }
            digest => Ok(digest),
        }
    }

    /// The hash of the RSA library. MD5 and MDC2 are none.
    pub(crate) fn hash(self) -> Result<Hash, Failure> {
        match self {
            Self::Known(hash) => Ok(hash),
            Self::Md5 | Self::Md5Sha1 | Self::Mdc2 => {
                let name = self.name().to_string_lossy();
                Err(Failure::Unsupported(format!("{name} is used with PKCS #1 v1.5 signatures only")))
            }
        }
    }

    /// OpenSSL's name, as programs write it.
    pub(crate) fn name(self) -> &'static CStr {
        match self {
            Self::Md5 => c"MD5",
            Self::Md5Sha1 => c"MD5-SHA1",
            Self::Mdc2 => c"MDC2",
            Self::Known(hash) => match hash {
                Hash::Sha1 => c"SHA1",
                Hash::Sha224 => c"SHA224",
                Hash::Sha256 => c"SHA256",
                Hash::Sha384 => c"SHA384",
                Hash::Sha512 => c"SHA512",
                Hash::Sha512_224 => c"SHA512-224",
                Hash::Sha512_256 => c"SHA512-256",
                Hash::Sha3_224 => c"SHA3-224",
                Hash::Sha3_256 => c"SHA3-256",
                Hash::Sha3_384 => c"SHA3-384",
                Hash::Sha3_512 => c"SHA3-512",
                Hash::Shake128 => c"SHAKE128",
                Hash::Shake256 => c"SHAKE256",
                _ => c"",
            },
        }
    }

    /// The first of OpenSSL's names, which it tells of a digest that it has fetched.
    pub(crate) fn first_name(self) -> &'static CStr {
        match self {
            Self::Known(Hash::Sha224) => c"SHA2-224",
            Self::Known(Hash::Sha256) => c"SHA2-256",
            Self::Known(Hash::Sha384) => c"SHA2-384",
            Self::Known(Hash::Sha512) => c"SHA2-512",
            Self::Known(Hash::Sha512_224) => c"SHA2-512/224",
            Self::Known(Hash::Sha512_256) => c"SHA2-512/256",
            Self::Known(Hash::Shake128) => c"SHAKE-128",
            Self::Known(Hash::Shake256) => c"SHAKE-256",
            digest => digest.name(),
        }
    }

    /// The length of a digest, in bytes.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Known(hash) => hash.len(),
            Self::Md5 | Self::Mdc2 => 16,
            Self::Md5Sha1 => 36,
        }
    }

    /// The bytes before the digest in a PKCS #1 v1.5 signature (RFC 8017, section 9.2). Signatures with MDC2
    /// have the head of an `OCTET STRING` there, as OpenSSL makes them.
    pub(crate) fn prefix(self) -> Result<Vec<u8>, Failure> {
        const MD5: [u8; 18] = [
            0x30, 0x20, 0x30, 0x0c, 0x06, 0x08, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x05, 0x05, 0x00,
            0x04, 0x10,
        ];
        match self {
            Self::Known(hash) => hash.digest_info_prefix().ok_or_else(|| {
                Failure::Unsupported(format!("PKCS #1 v1.5 is not defined with {}", hash.name()))
            }),
            Self::Md5 => Ok(MD5.to_vec()),
            Self::Md5Sha1 => Ok(Vec::new()),
            Self::Mdc2 => Ok(vec![0x04, 0x10]),
        }
    }

    /// The bytes that may stand before the digest in a signature that is checked: [`prefix`](Self::prefix),
    /// and the head of a `DigestInfo` before digests of MDC2.
    pub(crate) fn prefixes(self) -> Result<Vec<Vec<u8>>, Failure> {
        const MDC2: [u8; 14] =
            [0x30, 0x1c, 0x30, 0x08, 0x06, 0x04, 0x55, 0x08, 0x03, 0x65, 0x05, 0x00, 0x04, 0x10];
        let mut prefixes = vec![self.prefix()?];
        if self == Self::Mdc2 {
            prefixes.push(MDC2.to_vec());
        }
        Ok(prefixes)
    }

    /// Whether SSL 3.0 signs with this digest, and the hash of a handshake takes the master secret.
    pub(crate) fn takes_master_secret(self) -> bool {
        matches!(self, Self::Known(Hash::Sha1) | Self::Md5Sha1)
    }

    /// Starts hashing.
    pub(crate) fn hashing(self) -> Result<Hashing, Failure> {
        Ok(Hashing(match self {
            Self::Known(hash) => vec![Part::Known(hash.hasher())],
            Self::Md5 => vec![Part::Md5(Md5::new())],
            Self::Md5Sha1 => vec![Part::Md5(Md5::new()), Part::Known(Hash::Sha1.hasher())],
            Self::Mdc2 => {
                let why = "messages are not hashed with MDC2, and its digests are signed and verified";
                return Err(Failure::Unsupported(why.into()));
            }
        }))
    }
}

/// A hash of data that comes in pieces: the digests of all parts, one after the other.
#[derive(Clone)]
pub(crate) struct Hashing(Vec<Part>);

#[derive(Clone)]
enum Part {
    Known(Hasher),
    Md5(Md5),
}

impl Part {
    fn update(&mut self, data: &[u8]) {
        match self {
            Self::Known(hasher) => hasher.update(data),
            Self::Md5(md5) => md5.update(data),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Known(hasher) => hasher.finish().as_ref().to_vec(),
            Self::Md5(md5) => md5.finalize().to_vec(),
        }
    }
}

impl Hashing {
    pub(crate) fn update(&mut self, data: &[u8]) {
        self.0.iter_mut().for_each(|part| part.update(data));
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.into_iter().flat_map(Part::finish).collect()
    }

    /// The hash that SSL 3.0 signs: of a handshake, which was hashed with `digest`, and of its master secret
    /// (RFC 6101, section 5.6.8).
    pub(crate) fn with_master_secret(self, digest: Digest, secret: &[u8]) -> Result<Self, Failure> {
        let around = |(mut inner, mut outer): (Part, Part)| {
            let len = if matches!(inner, Part::Md5(_)) { 48 } else { 40 };
            inner.update(secret);
            inner.update(&[0x36; 48][..len]);
            outer.update(secret);
            outer.update(&[0x5c; 48][..len]);
            outer.update(&inner.finish());
            outer
        };
        Ok(Self(self.0.into_iter().zip(digest.hashing()?.0).map(around).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_not_hashed_with_mdc2() {
        for name in ["MDC2", "RSA-MDC2"] {
            assert_eq!(Digest::of_signature(name).unwrap(), Digest::Mdc2);
        }
        let refusal = Digest::Mdc2.hashing().err().unwrap();
        assert!(matches!(refusal, Failure::Unsupported(why) if why.contains("not hashed with MDC2")));
    }
}
