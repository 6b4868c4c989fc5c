//! Keys from files: PEM, DER or a JSON Web Key, told apart by looking.

use super::{PrivateKey, PrivateParts, PublicKey, Sizes, jwk, password};
use crate::KeyError;
use pkcs1::{ObjectIdentifier, RsaPrivateKeyRef, RsaPublicKeyRef};
use pkcs8::der::asn1::AnyRef;
use pkcs8::der::{Decode, SecretDocument};
use pkcs8::pkcs5;
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef};

/// A key of either kind.
#[derive(Debug, Clone)]
pub enum AnyKey {
    /// A public key.
    Public(PublicKey),
    /// A private key.
    Private(PrivateKey),
}

impl AnyKey {
    /// Reads a key: PEM or DER, PKCS #8 (encrypted or not), PKCS #1, a public key's
    /// `SubjectPublicKeyInfo`, or a JSON Web Key.
    pub fn read(bytes: &[u8], password: Option<&[u8]>, sizes: Sizes) -> Result<Self, KeyError> {
        let text = bytes.trim_ascii_start();
        if text.starts_with(b"{") {
            return jwk::read(bytes, sizes);
        }
        // DER starts with a sequence; anything else has to be text.
        if bytes.first() == Some(&0x30) {
            return read_der(bytes, password, sizes);
        }
        let text = std::str::from_utf8(text).map_err(|_| format_error("neither PEM nor DER nor JSON"))?;
        let start = text.find("-----BEGIN ").ok_or_else(|| format_error("neither PEM nor DER nor JSON"))?;
        let text = text[start..].trim_ascii_end();
        if text.contains("Proc-Type: 4,ENCRYPTED") {
            return Err(format_error("the old encryption of PEM; convert the key to PKCS #8"));
        }
        let (label, document) = SecretDocument::from_pem(text).map_err(format_error)?;
        let der = document.as_bytes();
        match label {
            "PRIVATE KEY" => read_pkcs8(der, sizes),
            "ENCRYPTED PRIVATE KEY" => read_encrypted(der, password, sizes),
            "RSA PRIVATE KEY" => read_pkcs1(der, sizes),
            "PUBLIC KEY" => read_spki(der, sizes).map(Self::Public),
            "RSA PUBLIC KEY" => read_public_pkcs1(der, sizes).map(Self::Public),
            _ => Err(KeyError::Format(format!("PEM of a {label:?}"))),
        }
    }

    /// The public key, or the public half of a private one.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        match self {
            Self::Public(key) => key,
            Self::Private(key) => key.public_key(),
        }
    }
}

impl PublicKey {
    /// Reads a public key as [`AnyKey::read`]; of a private one, its public half.
    pub fn read(bytes: &[u8], sizes: Sizes) -> Result<Self, KeyError> {
        AnyKey::read(bytes, None, sizes).map(|key| key.public_key().clone())
    }
}

impl PrivateKey {
    /// Reads a private key as [`AnyKey::read`].
    pub fn read(bytes: &[u8], password: Option<&[u8]>, sizes: Sizes) -> Result<Self, KeyError> {
        match AnyKey::read(bytes, password, sizes)? {
            AnyKey::Private(key) => Ok(key),
            AnyKey::Public(_) => Err(KeyError::NotPrivate),
        }
    }
}

fn format_error(reason: impl ToString) -> KeyError {
    KeyError::Format(reason.to_string())
}

/// DER of any kind: the kinds differ in their second field.
fn read_der(der: &[u8], password: Option<&[u8]>, sizes: Sizes) -> Result<AnyKey, KeyError> {
    if EncryptedPrivateKeyInfoRef::from_der(der).is_ok() {
        return read_encrypted(der, password, sizes);
    }
    if PrivateKeyInfoRef::from_der(der).is_ok() {
        return read_pkcs8(der, sizes);
    }
    if SubjectPublicKeyInfoRef::from_der(der).is_ok() {
        return read_spki(der, sizes).map(AnyKey::Public);
    }
    if RsaPublicKeyRef::from_der(der).is_ok() {
        return read_public_pkcs1(der, sizes).map(AnyKey::Public);
    }
    read_pkcs1(der, sizes)
}

fn read_encrypted(der: &[u8], password: Option<&[u8]>, sizes: Sizes) -> Result<AnyKey, KeyError> {
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(format_error)?;
    let password = password.ok_or(KeyError::PasswordNeeded)?;
    password::check_cost(&info.encryption_algorithm)?;
    let document = info.decrypt(password).map_err(|error| match error {
        pkcs8::Error::EncryptedPrivateKey(pkcs5::Error::DecryptFailed) => KeyError::WrongPassword,
        error => format_error(error),
    })?;
    // A wrong password may leave something that looks padded and is no key.
    if PrivateKeyInfoRef::from_der(document.as_bytes()).is_err() {
        return Err(KeyError::WrongPassword);
    }
    read_pkcs8(document.as_bytes(), sizes)
}

fn read_pkcs8(der: &[u8], sizes: Sizes) -> Result<AnyKey, KeyError> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(format_error)?;
    check_algorithm(info.algorithm)?;
    read_pkcs1(info.private_key.as_bytes(), sizes)
}

fn read_spki(der: &[u8], sizes: Sizes) -> Result<PublicKey, KeyError> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(format_error)?;
    check_algorithm(info.algorithm)?;
    let bits = info.subject_public_key.as_bytes().ok_or_else(|| format_error("an odd number of bits"))?;
    read_public_pkcs1(bits, sizes)
}

fn check_algorithm(algorithm: AlgorithmIdentifierRef<'_>) -> Result<(), KeyError> {
    const NAMES: [(ObjectIdentifier, &str); 4] = [
        (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10"), "RSASSA-PSS only"),
        (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.7"), "RSAES-OAEP only"),
        (ObjectIdentifier::new_unwrap("1.2.840.10045.2.1"), "elliptic curves"),
        (ObjectIdentifier::new_unwrap("1.3.101.112"), "Ed25519"),
    ];
    if algorithm.oid != pkcs1::ALGORITHM_OID {
        let known = NAMES.iter().find(|(oid, _)| *oid == algorithm.oid);
        let name = known.map_or(algorithm.oid.to_string(), |(_, name)| (*name).to_owned());
        return Err(KeyError::Algorithm(name));
    }
    if algorithm.parameters.is_some_and(|parameters| parameters != AnyRef::NULL) {
        return Err(format_error("RSA with parameters"));
    }
    Ok(())
}

fn read_public_pkcs1(der: &[u8], sizes: Sizes) -> Result<PublicKey, KeyError> {
    let key = RsaPublicKeyRef::from_der(der).map_err(format_error)?;
    PublicKey::new(key.modulus.as_bytes(), key.public_exponent.as_bytes(), sizes)
}

fn read_pkcs1(der: &[u8], sizes: Sizes) -> Result<AnyKey, KeyError> {
    let key = RsaPrivateKeyRef::from_der(der).map_err(format_error)?;
    if key.other_prime_infos.is_some() {
        return Err(KeyError::MultiPrime);
    }
    let parts = PrivateParts {
        modulus: key.modulus.as_bytes(),
        public_exponent: key.public_exponent.as_bytes(),
        private_exponent: key.private_exponent.as_bytes(),
        prime1: key.prime1.as_bytes(),
        prime2: key.prime2.as_bytes(),
        exponent1: Some(key.exponent1.as_bytes()),
        exponent2: Some(key.exponent2.as_bytes()),
        coefficient: Some(key.coefficient.as_bytes()),
    };
    PrivateKey::new(&parts, sizes).map(AnyKey::Private)
}
