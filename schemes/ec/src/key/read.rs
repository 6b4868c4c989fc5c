//! Reading keys. The format is recognised by the contents: PEM, DER or a JSON Web Key.

use super::encode::EC_PUBLIC_KEY;
use super::{AnyKey, PrivateKey, PublicKey, jwk};
use crate::{Curve, KeyError};
use modmill_rsa::pem;
use pkcs8::der::Decode;
use pkcs8::der::asn1::OctetStringRef;
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use pkcs8::{EncryptedPrivateKeyInfoRef, ObjectIdentifier, PrivateKeyInfoRef};
use sec1::{EcParameters, EcPrivateKey};

impl AnyKey {
    /// Reads a key from PEM or DER (PKCS #8 without a password, SEC 1, `SubjectPublicKeyInfo`), or from a
    /// JSON Web Key.
    ///
    /// PEM may have other text and other blocks around the key. Of several keys the first private key is
    /// read, or the first public key if none is private.
    ///
    /// ```
    /// use modmill_ec::{AnyKey, Curve, PrivateKey};
    ///
    /// let key = PrivateKey::generate(Curve::Ed25519)?;
    /// let read = AnyKey::read(key.to_pem()?.as_bytes())?;
    /// assert!(matches!(&read, AnyKey::Private(_)));
    /// assert_eq!(read.public_key(), key.public_key());
    /// # Ok::<(), modmill_ec::Error>(())
    /// ```
    pub fn read(bytes: &[u8]) -> Result<Self, KeyError> {
        let text = bytes.trim_ascii_start();
        if text.starts_with(b"{") {
            return jwk::read(text);
        }
        let blocks = pem::blocks(text);
        let first = |labels: &[&str]| blocks.iter().find(|block| labels.contains(&block.label()));
        let private = first(&["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY"]);
        match private.or_else(|| first(&["PUBLIC KEY"])).or(blocks.first()) {
            Some(block) => read_block(block),
            None if bytes.first() == Some(&0x30) => read_der(bytes),
            None => Err(format_error("neither PEM nor DER nor JSON")),
        }
    }
}

impl PublicKey {
    /// Reads a public key, or the public half of a private key, as [`AnyKey::read`] does.
    pub fn read(bytes: &[u8]) -> Result<Self, KeyError> {
        AnyKey::read(bytes).map(|key| key.public_key().clone())
    }
}

impl PrivateKey {
    /// Reads a private key as [`AnyKey::read`] does.
    pub fn read(bytes: &[u8]) -> Result<Self, KeyError> {
        match AnyKey::read(bytes)? {
            AnyKey::Private(key) => Ok(key),
            AnyKey::Public(_) => Err(KeyError::NotPrivate),
        }
    }
}

fn format_error(reason: impl ToString) -> KeyError {
    KeyError::Format(reason.to_string())
}

fn read_block(block: &pem::Block<'_>) -> Result<AnyKey, KeyError> {
    let convert = |format, command| Err(KeyError::Convert { format, command });
    let der = || block.decode().map_err(format_error);
    match block.label() {
        "PRIVATE KEY" => read_pkcs8(&der()?).map(AnyKey::Private),
        "EC PRIVATE KEY" => read_sec1(&der()?, None).map(AnyKey::Private),
        "PUBLIC KEY" => read_spki(&der()?).map(AnyKey::Public),
        "ENCRYPTED PRIVATE KEY" => Err(encrypted()),
        "CERTIFICATE" => convert("a certificate", "openssl x509 -in FILE -noout -pubkey > public.pem"),
        "OPENSSH PRIVATE KEY" => convert(
            "a private key of OpenSSH",
            "ssh-keygen -p -m PKCS8 -f FILE (this rewrites FILE: make a copy first)",
        ),
        label => Err(format_error(format!("it is the PEM of a {label:?}"))),
    }
}

fn encrypted() -> KeyError {
    KeyError::Convert { format: "a key under a password", command: "openssl pkey -in FILE -out key.pem" }
}

/// Reads DER of any kind.
fn read_der(der: &[u8]) -> Result<AnyKey, KeyError> {
    if EncryptedPrivateKeyInfoRef::from_der(der).is_ok() {
        return Err(encrypted());
    }
    if PrivateKeyInfoRef::from_der(der).is_ok() {
        return read_pkcs8(der).map(AnyKey::Private);
    }
    if EcPrivateKey::from_der(der).is_ok() {
        return read_sec1(der, None).map(AnyKey::Private);
    }
    read_spki(der).map(AnyKey::Public)
}

/// The curve of an algorithm with its parameters.
fn curve(algorithm: AlgorithmIdentifierRef<'_>) -> Result<Curve, KeyError> {
    let unknown = |oid: ObjectIdentifier| KeyError::Algorithm(oid.to_string());
    if algorithm.oid == EC_PUBLIC_KEY {
        let parameters = algorithm.parameters.ok_or(KeyError::Missing("curve"))?;
        let oid = parameters
            .decode_as::<ObjectIdentifier>()
            .map_err(|_| KeyError::Algorithm("a curve with explicit parameters".to_owned()))?;
        return Curve::of_oid(oid).filter(|curve| curve.is_weierstrass()).ok_or_else(|| unknown(oid));
    }
    let curve = Curve::of_oid(algorithm.oid).filter(|curve| !curve.is_weierstrass());
    match algorithm.parameters {
        Some(_) if curve.is_some() => Err(format_error("an algorithm with parameters that it does not have")),
        _ => curve.ok_or_else(|| unknown(algorithm.oid)),
    }
}

fn read_pkcs8(der: &[u8]) -> Result<PrivateKey, KeyError> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(format_error)?;
    let curve = curve(info.algorithm)?;
    let inner = info.private_key.as_bytes();
    let key = match curve.is_weierstrass() {
        true => read_sec1(inner, Some(curve))?,
        false => {
            let octets = <&OctetStringRef>::from_der(inner).map_err(format_error)?;
            PrivateKey::from_raw(curve, octets.as_bytes())?
        }
    };
    let public = info.public_key.as_ref().map(|bits| {
        let bytes = bits.as_bytes().ok_or_else(|| format_error("an odd number of bits"))?;
        PublicKey::from_raw(curve, bytes)
    });
    key.check_public(public.transpose()?.as_ref())
}

/// Reads a key of SEC 1. The curve may be known from around it.
fn read_sec1(der: &[u8], curve: Option<Curve>) -> Result<PrivateKey, KeyError> {
    let key = EcPrivateKey::from_der(der).map_err(format_error)?;
    let named = match key.parameters {
        Some(EcParameters::NamedCurve(oid)) => {
            let named = Curve::of_oid(oid).filter(|curve| curve.is_weierstrass());
            Some(named.ok_or_else(|| KeyError::Algorithm(oid.to_string()))?)
        }
        None => None,
    };
    let curve = match (curve, named) {
        (Some(curve), Some(named)) if curve != named => return Err(format_error("it names two curves")),
        (curve, named) => curve.or(named).ok_or(KeyError::Missing("curve"))?,
    };
    let public = key.public_key.map(|bytes| PublicKey::from_raw(curve, bytes)).transpose()?;
    PrivateKey::from_raw(curve, key.private_key)?.check_public(public.as_ref())
}

fn read_spki(der: &[u8]) -> Result<PublicKey, KeyError> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(format_error)?;
    let bytes = info.subject_public_key.as_bytes().ok_or_else(|| format_error("an odd number of bits"))?;
    PublicKey::from_raw(curve(info.algorithm)?, bytes)
}
