//! Writing keys as DER and PEM.

use super::{PrivateKey, PublicKey};
use crate::{Curve, KeyError};
use pkcs8::der::asn1::{AnyRef, BitStringRef, OctetStringRef};
use pkcs8::der::pem::LineEnding;
use pkcs8::der::{Encode, SecretDocument};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use pkcs8::{ObjectIdentifier, PrivateKeyInfoRef};
use sec1::{EcParameters, EcPrivateKey};
use zeroize::Zeroizing;

/// `id-ecPublicKey`, the algorithm of keys for ECDSA and ECDH (RFC 5480).
pub(super) const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

fn failed(error: impl ToString) -> KeyError {
    KeyError::Format(error.to_string())
}

fn pem(der: Vec<u8>, label: &'static str) -> Result<Zeroizing<String>, KeyError> {
    SecretDocument::try_from(der).and_then(|document| document.to_pem(label, LineEnding::LF)).map_err(failed)
}

/// Calls `write` with the algorithm of keys of a curve.
fn with_algorithm<T>(curve: Curve, write: impl FnOnce(AlgorithmIdentifierRef<'_>) -> T) -> T {
    let oid = curve.oid();
    match curve.is_weierstrass() {
        true => write(AlgorithmIdentifierRef { oid: EC_PUBLIC_KEY, parameters: Some(AnyRef::from(&oid)) }),
        false => write(AlgorithmIdentifierRef { oid, parameters: None }),
    }
}

impl PublicKey {
    /// Writes the DER of a `SubjectPublicKeyInfo`.
    pub fn to_der(&self) -> Result<Vec<u8>, KeyError> {
        let subject_public_key = BitStringRef::from_bytes(self.as_ref()).map_err(failed)?;
        with_algorithm(self.curve(), |algorithm| {
            SubjectPublicKeyInfoRef { algorithm, subject_public_key }.to_der().map_err(failed)
        })
    }

    /// Writes the PEM of a `SubjectPublicKeyInfo`, which most programs read.
    ///
    /// ```
    /// use modmill_ec::{Curve, PrivateKey, PublicKey};
    ///
    /// let key = PrivateKey::generate(Curve::P256)?;
    /// let pem = key.public_key().to_pem()?;
    /// assert_eq!(&PublicKey::read(pem.as_bytes())?, key.public_key());
    /// # Ok::<(), modmill_ec::Error>(())
    /// ```
    pub fn to_pem(&self) -> Result<String, KeyError> {
        Ok(pem(self.to_der()?, "PUBLIC KEY")?.to_string())
    }
}

impl PrivateKey {
    /// Writes the DER of SEC 1 (RFC 5915), which keys of Ed25519 and X25519 do not have.
    pub fn to_sec1_der(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        self.sec1(Some(EcParameters::NamedCurve(self.curve().oid())))
    }

    fn sec1(&self, parameters: Option<EcParameters>) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        if !self.curve().is_weierstrass() {
            return Err(KeyError::NoSec1(self.curve()));
        }
        let key = EcPrivateKey {
            private_key: self.secret(),
            parameters,
            public_key: Some(self.public_key().as_ref()),
        };
        key.to_der().map(Zeroizing::new).map_err(failed)
    }

    /// Writes the PEM of SEC 1.
    pub fn to_sec1_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        pem(self.to_sec1_der()?.to_vec(), "EC PRIVATE KEY")
    }

    /// Writes the DER of PKCS #8.
    pub fn to_der(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let inner = match self.curve().is_weierstrass() {
            true => self.sec1(None)?,
            false => {
                let octets = OctetStringRef::new(self.secret()).map_err(failed)?;
                Zeroizing::new(octets.to_der().map_err(failed)?)
            }
        };
        let octets = OctetStringRef::new(&inner).map_err(failed)?;
        with_algorithm(self.curve(), |algorithm| {
            PrivateKeyInfoRef::new(algorithm, octets).to_der().map(Zeroizing::new).map_err(failed)
        })
    }

    /// Writes the PEM of PKCS #8, which most programs read.
    ///
    /// ```
    /// use modmill_ec::{Curve, PrivateKey};
    ///
    /// let key = PrivateKey::generate(Curve::Secp256k1)?;
    /// assert!(key.to_pem()?.starts_with("-----BEGIN PRIVATE KEY-----"));
    /// assert!(key.to_sec1_pem()?.starts_with("-----BEGIN EC PRIVATE KEY-----"));
    /// # Ok::<(), modmill_ec::Error>(())
    /// ```
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        pem(self.to_der()?.to_vec(), "PRIVATE KEY")
    }
}
