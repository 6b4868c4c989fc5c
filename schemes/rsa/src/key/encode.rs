//! Writing keys.

use super::stack::with_clean_stack;
use super::{PrivateKey, PublicKey, password};
use crate::KeyError;
use crate::number;
use pkcs1::{RsaPrivateKeyRef, RsaPublicKeyRef};
use pkcs8::PrivateKeyInfoRef;
use pkcs8::der::asn1::{BitStringRef, OctetStringRef, UintRef};
use pkcs8::der::pem::LineEnding;
use pkcs8::der::{Encode, SecretDocument};
use pkcs8::spki::SubjectPublicKeyInfoRef;
use zeroize::Zeroizing;

/// Labels of PEM.
const PRIVATE: &str = "PRIVATE KEY";
const ENCRYPTED: &str = "ENCRYPTED PRIVATE KEY";
const PKCS1_PRIVATE: &str = "RSA PRIVATE KEY";
const PUBLIC: &str = "PUBLIC KEY";
const PKCS1_PUBLIC: &str = "RSA PUBLIC KEY";

fn failed(error: impl ToString) -> KeyError {
    KeyError::Format(error.to_string())
}

fn pem(document: &SecretDocument, label: &'static str) -> Result<Zeroizing<String>, KeyError> {
    document.to_pem(label, LineEnding::LF).map_err(failed)
}

fn document(der: Vec<u8>) -> Result<SecretDocument, KeyError> {
    SecretDocument::try_from(der).map_err(failed)
}

impl PublicKey {
    /// Writes the DER of PKCS #1.
    pub fn to_pkcs1_der(&self) -> Result<Vec<u8>, KeyError> {
        let exponent = self.exponent_bytes();
        let key = RsaPublicKeyRef {
            modulus: UintRef::new(self.modulus_bytes()).map_err(failed)?,
            public_exponent: UintRef::new(&exponent).map_err(failed)?,
        };
        key.to_der().map_err(failed)
    }

    /// Writes the DER of a `SubjectPublicKeyInfo`.
    pub fn to_der(&self) -> Result<Vec<u8>, KeyError> {
        let key = self.to_pkcs1_der()?;
        let subject_public_key = BitStringRef::from_bytes(&key).map_err(failed)?;
        let info = SubjectPublicKeyInfoRef { algorithm: pkcs1::ALGORITHM_ID, subject_public_key };
        info.to_der().map_err(failed)
    }

    /// Writes the PEM of a `SubjectPublicKeyInfo`, which most programs read.
    ///
    /// ```
    /// use modmill_rsa::{PublicKey, Sizes};
    ///
    /// let key = PublicKey::new(&[0xff; 256], &[1, 0, 1], Sizes::Standard)?;
    /// let pem = key.to_pem()?;
    /// assert!(pem.starts_with("-----BEGIN PUBLIC KEY-----"));
    /// assert_eq!(PublicKey::read(pem.as_bytes(), Sizes::Standard)?, key);
    /// # Ok::<(), modmill_rsa::KeyError>(())
    /// ```
    pub fn to_pem(&self) -> Result<String, KeyError> {
        Ok(pem(&document(self.to_der()?)?, PUBLIC)?.to_string())
    }

    /// Writes the PEM of PKCS #1.
    pub fn to_pkcs1_pem(&self) -> Result<String, KeyError> {
        Ok(pem(&document(self.to_pkcs1_der()?)?, PKCS1_PUBLIC)?.to_string())
    }
}

impl PrivateKey {
    /// Writes the DER of PKCS #1.
    pub fn to_pkcs1_der(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let public = self.public_key();
        let exponent = public.exponent_bytes();
        let (p, q) = (self.p(), self.q());
        let secrets = [self.exponent(), p.prime.value(), q.prime.value(), &p.exponent, &q.exponent];
        let secrets = secrets.map(number::to_be_bytes);
        let coefficient = number::to_be_bytes(self.coefficient());
        let uint = |bytes| UintRef::new(bytes).map_err(failed);
        let key = RsaPrivateKeyRef {
            modulus: uint(public.modulus_bytes())?,
            public_exponent: uint(&exponent)?,
            private_exponent: uint(&secrets[0])?,
            prime1: uint(&secrets[1])?,
            prime2: uint(&secrets[2])?,
            exponent1: uint(&secrets[3])?,
            exponent2: uint(&secrets[4])?,
            coefficient: uint(&coefficient)?,
            other_prime_infos: None,
        };
        key.to_der().map(Zeroizing::new).map_err(failed)
    }

    /// Writes the PEM of PKCS #1.
    pub fn to_pkcs1_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        pem(&document(self.to_pkcs1_der()?.to_vec())?, PKCS1_PRIVATE)
    }

    /// Writes the DER of PKCS #8.
    pub fn to_der(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        self.with_pkcs8(|info| info.to_der().map(Zeroizing::new).map_err(failed))
    }

    /// Writes the PEM of PKCS #8, which most programs read.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{PrivateKey, Sizes};
    ///
    /// let key = PrivateKey::generate(&Engine::new()?, 512, Sizes::AllowSmall)?;
    /// assert!(key.to_pem()?.starts_with("-----BEGIN PRIVATE KEY-----"));
    /// assert!(key.to_pkcs1_pem()?.starts_with("-----BEGIN RSA PRIVATE KEY-----"));
    /// assert!(key.to_encrypted_pem(b"password")?.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
    /// # Ok::<(), modmill_rsa::Error>(())
    /// ```
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyError> {
        pem(&document(self.to_der()?.to_vec())?, PRIVATE)
    }

    /// Writes the DER of PKCS #8, encrypted under `password` with scrypt and AES-256 in CBC mode.
    pub fn to_encrypted_der(&self, password: &[u8]) -> Result<Vec<u8>, KeyError> {
        self.with_pkcs8(|info| password::encrypt(&info, password))
    }

    /// Writes the PEM of [`PrivateKey::to_encrypted_der`].
    pub fn to_encrypted_pem(&self, password: &[u8]) -> Result<String, KeyError> {
        Ok(pem(&document(self.to_encrypted_der(password)?)?, ENCRYPTED)?.to_string())
    }

    fn with_pkcs8<T>(
        &self,
        write: impl FnOnce(PrivateKeyInfoRef<'_>) -> Result<T, KeyError>,
    ) -> Result<T, KeyError> {
        with_clean_stack(|| {
            let key = self.to_pkcs1_der()?;
            let octets = OctetStringRef::new(&key).map_err(failed)?;
            write(PrivateKeyInfoRef::new(pkcs1::ALGORITHM_ID, octets))
        })
    }
}
