//! The documents of the transit interface.

use super::answer::Fault;
use super::base64_text::decode_as;
use crate::records::Document;
use crate::secret::SecretBytes;
use crate::sigv4::since_1970;
use crate::uuid;
use base64::engine::general_purpose::GeneralPurpose;
use modmill_rsa::PrivateKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// One version of a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Version {
    /// The private key in PKCS #8.
    pub material: SecretBytes,
    /// The identifier of the material. It never changes.
    pub material_id: String,
    /// The public key in PEM.
    pub public_key: String,
    /// The time at which the version was created, in milliseconds since 1970.
    pub created_ms: u64,
}

impl Version {
    /// A version with `key` as its material.
    pub(super) fn of(key: &PrivateKey, created_ms: u64) -> Result<Self, Fault> {
        let failed = |error: modmill_rsa::KeyError| Fault::internal(error.to_string());
        let random = uuid::random().map_err(|error| Fault::internal(error.to_string()))?;
        Ok(Self {
            material: SecretBytes::new(key.to_der().map_err(failed)?),
            material_id: format!("transit-{random}"),
            public_key: key.public_key().to_pem().map_err(failed)?,
            created_ms,
        })
    }
}

/// A named key with its versions.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TransitKey {
    /// The name.
    pub name: String,
    /// The length of the modulus in bits: 2048, 3072 or 4096.
    pub bits: usize,
    /// The versions that were not trimmed, by their numbers from 1 on.
    pub versions: BTreeMap<u32, Version>,
    /// The number of the newest version.
    pub latest_version: u32,
    /// The oldest version that verifies and decrypts.
    pub min_decryption_version: u32,
    /// The oldest version that signs and encrypts; 0 is the newest only if no version is asked for.
    pub min_encryption_version: u32,
    /// The oldest version that was not trimmed; 0 if none was.
    pub min_available_version: u32,
    /// Whether the key may be deleted.
    pub deletion_allowed: bool,
    /// Whether the private key may be read.
    pub exportable: bool,
    /// Whether the first version was imported.
    pub imported: bool,
    /// Whether a key that was imported may be rotated.
    pub allow_rotation: bool,
}

impl Document for TransitKey {
    const KIND: &'static str = "transit_key";

    fn id(&self) -> &str {
        &self.name
    }
}

/// The use that a version is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Signing,
    Encryption,
}

impl TransitKey {
    /// A key with one version.
    pub(super) fn new(name: &str, bits: usize, version: Version) -> Self {
        Self {
            name: name.to_owned(),
            bits,
            versions: BTreeMap::from([(1, version)]),
            latest_version: 1,
            min_decryption_version: 1,
            min_encryption_version: 0,
            min_available_version: 0,
            deletion_allowed: false,
            exportable: false,
            imported: false,
            allow_rotation: true,
        }
    }

    /// The name of the type.
    pub(super) fn type_name(&self) -> String {
        format!("rsa-{}", self.bits)
    }

    /// The number of the version that signs or encrypts if `asked` was asked for. 0 asks for the newest.
    pub(super) fn forward(&self, asked: i64, purpose: Use) -> Result<u32, String> {
        let what = match purpose {
            Use::Signing => "signing",
            Use::Encryption => "encryption",
        };
        let version = match asked {
            0 => self.latest_version,
            ..0 => return Err(format!("requested version for {what} is negative")),
            _ => u32::try_from(asked).unwrap_or(u32::MAX),
        };
        if version > self.latest_version {
            return Err(format!("requested version for {what} is higher than the latest key version"));
        }
        if version < self.min_encryption_version || !self.versions.contains_key(&version) {
            return Err(format!(
                "requested version for {what} is less than the minimum encryption key version"
            ));
        }
        Ok(version)
    }

    /// The version and the bytes of `text`, a signature or ciphertext such as `vault:v1:BASE64`. `what` names
    /// it in errors.
    pub(super) fn backward(
        &self,
        text: &str,
        what: &str,
        encoding: &GeneralPurpose,
    ) -> Result<(u32, Vec<u8>), String> {
        let rest = text.strip_prefix("vault:v").ok_or_else(|| format!("invalid {what}: no prefix"))?;
        let (version, encoded) =
            rest.split_once(':').ok_or_else(|| format!("invalid {what}: wrong number of fields"))?;
        let version: u32 =
            version.parse().map_err(|_| format!("invalid {what}: version number could not be decoded"))?;
        // Vault's first ciphertexts had no version, and 0 stands for 1 since then.
        let version = version.max(1);
        if version > self.latest_version {
            return Err(format!("invalid {what}: version is too new"));
        }
        if version < self.min_decryption_version || !self.versions.contains_key(&version) {
            return Err("ciphertext or signature version is disallowed by policy (too old)".into());
        }
        let bytes = decode_as(encoded, encoding)
            .map_err(|error| format!("invalid {what}: could not decode base64: {error}"))?;
        Ok((version, bytes))
    }
}

/// The key that wraps imported keys. There is one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WrappingKey {
    /// The identifier: always [`WrappingKey::ID`].
    pub id: String,
    /// The key of 4096 bits.
    pub version: Version,
}

impl WrappingKey {
    /// The identifier of the only wrapping key.
    pub const ID: &'static str = "wrapping";
}

impl Document for WrappingKey {
    const KIND: &'static str = "transit_wrapping_key";

    fn id(&self) -> &str {
        &self.id
    }
}

/// `ms` milliseconds since 1970 as RFC 3339 writes them.
pub(super) fn timestamp(ms: u64) -> String {
    humantime::format_rfc3339_millis(since_1970(Duration::from_millis(ms))).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn timestamps_are_dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (1_709_251_199, "2024-02-29T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
        ] {
            assert_eq!(timestamp(seconds * 1000 + 7), text);
        }
    }

    fn key() -> TransitKey {
        let version = |id: &str| Version {
            material: SecretBytes::new(zeroize::Zeroizing::new(Vec::new())),
            material_id: id.into(),
            public_key: String::new(),
            created_ms: 0,
        };
        let mut key = TransitKey::new("k", 2048, version("1"));
        key.versions.extend([(2, version("2")), (3, version("3"))]);
        key.latest_version = 3;
        key
    }

    #[test]
    fn the_newest_version_signs_unless_another_is_asked_for() {
        let mut key = key();
        assert_eq!(key.forward(0, Use::Signing), Ok(3));
        assert_eq!(key.forward(1, Use::Signing), Ok(1));
        key.min_encryption_version = 2;
        for (asked, error) in [
            (1, "requested version for signing is less than the minimum encryption key version"),
            (4, "requested version for signing is higher than the latest key version"),
            (i64::MAX, "requested version for signing is higher than the latest key version"),
            (-1, "requested version for signing is negative"),
        ] {
            assert_eq!(key.forward(asked, Use::Signing), Err(error.to_owned()));
        }
    }

    #[test]
    fn signatures_name_their_version() {
        let mut key = key();
        key.min_decryption_version = 2;
        assert_eq!(key.backward("vault:v2:AQI=", "signature", &STANDARD), Ok((2, vec![1, 2])));
        for (text, error) in [
            ("v2:AQI=", "invalid signature: no prefix"),
            ("vault:v2AQI=", "invalid signature: wrong number of fields"),
            ("vault:vx:AQI=", "invalid signature: version number could not be decoded"),
            ("vault:v-1:AQI=", "invalid signature: version number could not be decoded"),
            ("vault:v4:AQI=", "invalid signature: version is too new"),
            ("vault:v1:AQI=", "ciphertext or signature version is disallowed by policy (too old)"),
        ] {
            assert_eq!(key.backward(text, "signature", &STANDARD), Err(error.to_owned()));
        }
        let error = key.backward("vault:v2:A*I=", "signature", &STANDARD).expect_err("not Base64");
        assert_eq!(error, "invalid signature: could not decode base64: illegal base64 data at input byte 1");
    }
}
