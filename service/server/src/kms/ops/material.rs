//! The secrets of keys.

use crate::hex;
use crate::kms::KmsError;
use crate::kms::call::Call;
use crate::kms::codec::Blob;
use crate::kms::documents::{Material, Spec};
use crate::secret::SecretBytes;
use crate::sha256::sha256;
use hmac::{Hmac, KeyInit, Mac};
use modmill_rsa::PrivateKey;
use sha2::Sha256;

impl Material {
    /// New material for a key of `spec`.
    pub(super) async fn generate(call: &Call, spec: Spec) -> Result<Self, KmsError> {
        match spec.rsa_bits() {
            Some(bits) => Self::of_rsa(
                &call
                    .service
                    .generator
                    .rsa(call.service.batcher.cpu(), &call.principal, bits, call.deadline)
                    .await?,
            ),
            None => Self::of_symmetric(SecretBytes::random(32)?),
        }
    }

    /// The material of an RSA key. Its identifier is derived from the public key, so that the same key has
    /// the same one.
    pub(super) fn of_rsa(key: &PrivateKey) -> Result<Self, KmsError> {
        let unwritable = |error| KmsError::internal(&error);
        let public = key.public_key().to_der().map_err(unwritable)?;
        Ok(Self {
            id: hex::encode(&sha256(&[&public])),
            secret: SecretBytes::new(key.to_der().map_err(unwritable)?),
            public: public.into(),
            expires_ms: None,
        })
    }

    /// The material of a symmetric key. Its identifier is derived one way.
    pub(super) fn of_symmetric(secret: SecretBytes) -> Result<Self, KmsError> {
        let mac = Hmac::<Sha256>::new_from_slice(secret.expose());
        let mut mac = mac.map_err(|error| KmsError::internal(&error))?;
        mac.update(b"modmill: identifier of key material");
        let id = hex::encode(&mac.finalize().into_bytes());
        Ok(Self { id, secret, public: Blob::default(), expires_ms: None })
    }
}
