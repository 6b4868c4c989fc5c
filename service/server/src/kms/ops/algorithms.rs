//! Algorithms as AWS names them.

use crate::kms::documents::{KeyRecord, Spec, Usage, names};
use crate::kms::{KmsError, fields};
use modmill_rsa::{Encryption, Hash, Pss, SaltLength, SignatureScheme};
use serde::{Deserialize, Serialize};

names! {
    /// How a digest is signed.
    pub(super) Signing {
        /// PSS with SHA-256.
        Pss256 = "RSASSA_PSS_SHA_256",
        /// PSS with SHA-384.
        Pss384 = "RSASSA_PSS_SHA_384",
        /// PSS with SHA-512.
        Pss512 = "RSASSA_PSS_SHA_512",
        /// PKCS #1 v1.5 with SHA-256.
        Pkcs256 = "RSASSA_PKCS1_V1_5_SHA_256",
        /// PKCS #1 v1.5 with SHA-384.
        Pkcs384 = "RSASSA_PKCS1_V1_5_SHA_384",
        /// PKCS #1 v1.5 with SHA-512.
        Pkcs512 = "RSASSA_PKCS1_V1_5_SHA_512",
    }
}

/// The algorithms of RSA signatures.
const SIGNING: [&str; 6] = [
    "RSASSA_PKCS1_V1_5_SHA_256",
    "RSASSA_PKCS1_V1_5_SHA_384",
    "RSASSA_PKCS1_V1_5_SHA_512",
    "RSASSA_PSS_SHA_256",
    "RSASSA_PSS_SHA_384",
    "RSASSA_PSS_SHA_512",
];

/// Algorithms of AWS for keys that are not RSA keys.
const OTHER_SIGNING: [&str; 7] = [
    "ECDSA_SHA_256",
    "ECDSA_SHA_384",
    "ECDSA_SHA_512",
    "SM2DSA",
    "ML_DSA_SHAKE_256",
    "ED25519_SHA_512",
    "ED25519_PH_SHA_512",
];

impl Signing {
    /// The algorithm that a request names for a key of `spec`.
    pub(super) fn read(name: Option<&str>, spec: Spec) -> Result<Self, KmsError> {
        let name = fields::needed(name, "signingAlgorithm")?;
        match Self::of(name) {
            Some(algorithm) if spec.rsa_bits().is_some() => Ok(algorithm),
            None if !OTHER_SIGNING.contains(&name) => {
                Err(fields::not_in_list(name, "signingAlgorithm", &[&SIGNING[..], &OTHER_SIGNING].concat()))
            }
            _ => Err(incompatible(name, spec)),
        }
    }

    /// The hash of the message.
    pub(super) fn hash(self) -> Hash {
        match self {
            Self::Pss256 | Self::Pkcs256 => Hash::Sha256,
            Self::Pss384 | Self::Pkcs384 => Hash::Sha384,
            Self::Pss512 | Self::Pkcs512 => Hash::Sha512,
        }
    }

    /// The scheme. Salts of PSS are as long as the digest, in signatures to be verified too.
    pub(super) fn scheme(self) -> SignatureScheme {
        match self {
            Self::Pss256 | Self::Pss384 | Self::Pss512 => {
                SignatureScheme::Pss(Pss { salt: SaltLength::Digest, ..Pss::new(self.hash()) })
            }
            Self::Pkcs256 | Self::Pkcs384 | Self::Pkcs512 => SignatureScheme::Pkcs1v15(self.hash()),
        }
    }
}

names! {
    /// How a message is encrypted.
    pub(super) Cipher {
        /// The cipher of symmetric keys.
        Symmetric = "SYMMETRIC_DEFAULT",
        /// OAEP with SHA-1.
        Oaep1 = "RSAES_OAEP_SHA_1",
        /// OAEP with SHA-256.
        Oaep256 = "RSAES_OAEP_SHA_256",
    }
}

/// The algorithms of AWS.
const CIPHERS: [&str; 4] = ["RSAES_OAEP_SHA_1", "RSAES_OAEP_SHA_256", "SM2PKE", "SYMMETRIC_DEFAULT"];

impl Cipher {
    /// The algorithm that a request names; that of symmetric keys if it names none.
    pub(super) fn read(name: Option<&str>, member: &str) -> Result<Self, KmsError> {
        let name = name.unwrap_or("SYMMETRIC_DEFAULT");
        match Self::of(name) {
            Some(cipher) => Ok(cipher),
            None if name == "SM2PKE" => {
                Err(KmsError::unsupported("SM2PKE is not supported by this service."))
            }
            None => Err(fields::not_in_list(name, member, &CIPHERS)),
        }
    }

    /// Refuses an algorithm that is not for a key of `spec`.
    pub(super) fn check(self, spec: Spec) -> Result<(), KmsError> {
        match (self == Self::Symmetric) == (spec == Spec::Symmetric) {
            true => Ok(()),
            false => Err(incompatible(self.name(), spec)),
        }
    }

    /// The RSA scheme.
    pub(super) fn rsa(self) -> Option<Encryption> {
        let hash = match self {
            Self::Symmetric => return None,
            Self::Oaep1 => Hash::Sha1,
            Self::Oaep256 => Hash::Sha256,
        };
        Some(Encryption::oaep(hash))
    }
}

fn incompatible(name: &str, spec: Spec) -> KmsError {
    let message = format!("Algorithm {name} is incompatible with key spec {}.", spec.name());
    KmsError::new("InvalidKeyUsageException", message)
}

/// The signing and the encryption algorithms that a key is for.
pub(super) fn of_key(key: &KeyRecord) -> (Option<&'static [&'static str]>, Option<&'static [&'static str]>) {
    match (key.usage, key.spec) {
        (Usage::Sign, _) => (Some(&SIGNING), None),
        (Usage::Encrypt, Spec::Symmetric) => (None, Some(&["SYMMETRIC_DEFAULT"])),
        (Usage::Encrypt, _) => (None, Some(&["RSAES_OAEP_SHA_1", "RSAES_OAEP_SHA_256"])),
    }
}
