//! RustCrypto's `signature` traits, which sign and verify one message at a time. [`Rsa::sign`] and
//! [`Rsa::verify`] are several times faster per message, because they take many messages at once.
//!
//! ```
//! use modmill::Engine;
//! use modmill_rsa::traits::{Signature, SigningKey};
//! use modmill_rsa::{Hash, PrivateKey, SignatureScheme, Sizes};
//! use signature::{Keypair, Signer, Verifier};
//! use std::sync::Arc;
//!
//! let engine = Arc::new(Engine::new()?);
//! let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall)?;
//! let signer = SigningKey::new(engine, key, SignatureScheme::pss(Hash::Sha256));
//! let signature: Signature = signer.try_sign(b"message")?;
//! signer.verifying_key().verify(b"message", &signature)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{PrivateKey, PublicKey, Rsa, SignatureScheme};
use modmill::Engine;
use signature::{Keypair, SignatureEncoding, Signer, Verifier};
use std::sync::Arc;

/// A signature of any length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature(Box<[u8]>);

impl TryFrom<&[u8]> for Signature {
    type Error = signature::Error;

    fn try_from(bytes: &[u8]) -> Result<Self, signature::Error> {
        Ok(Self(bytes.into()))
    }
}

impl From<Signature> for Box<[u8]> {
    fn from(signature: Signature) -> Self {
        signature.0
    }
}

impl AsRef<[u8]> for Signature {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl SignatureEncoding for Signature {
    type Repr = Box<[u8]>;
}

/// A private key with the engine and the scheme that it signs with.
#[derive(Clone)]
pub struct SigningKey {
    engine: Arc<Engine>,
    key: PrivateKey,
    scheme: SignatureScheme,
}

impl SigningKey {
    /// Signs with `key` by `scheme` on `engine`.
    #[must_use]
    pub fn new(engine: Arc<Engine>, key: PrivateKey, scheme: SignatureScheme) -> Self {
        Self { engine, key, scheme }
    }
}

impl Signer<Signature> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, signature::Error> {
        let mut signatures = Rsa::new(&self.engine)
            .sign(&self.key, self.scheme, &[message])
            .map_err(signature::Error::from_source)?;
        let signature = signatures.pop().ok_or_else(signature::Error::new)?;
        signature.map(|bytes| Signature(bytes.into())).map_err(signature::Error::from_source)
    }
}

impl Keypair for SigningKey {
    type VerifyingKey = VerifyingKey;

    fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey::new(self.engine.clone(), self.key.public_key().clone(), self.scheme)
    }
}

/// A public key with the engine and the scheme that it verifies with.
#[derive(Clone)]
pub struct VerifyingKey {
    engine: Arc<Engine>,
    key: PublicKey,
    scheme: SignatureScheme,
}

impl VerifyingKey {
    /// Verifies with `key` by `scheme` on `engine`.
    #[must_use]
    pub fn new(engine: Arc<Engine>, key: PublicKey, scheme: SignatureScheme) -> Self {
        Self { engine, key, scheme }
    }
}

impl Verifier<Signature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), signature::Error> {
        let mut verdicts = Rsa::new(&self.engine)
            .verify(&self.key, self.scheme, &[message], &[signature])
            .map_err(signature::Error::from_source)?;
        let verdict = verdicts.pop().ok_or_else(signature::Error::new)?;
        verdict.map_err(signature::Error::from_source)
    }
}
