//! The keys of this interface for the bulk endpoint.

use super::KmsError;
use super::call::Call;
use super::documents::Usage;
use super::names::Names;
use super::policy::Facts;
use crate::bulk::{Keyring, KeyringError, SigningKey};
use crate::credentials::Principal;
use crate::door;
use crate::service::Service;
use crate::uuid;
use futures_util::future::BoxFuture;
use modmill_rsa::{Hash, Pss, SaltLength, SignatureScheme};
use std::sync::Arc;
use std::time::Instant;

/// KMS keys by identifier, ARN, alias or alias ARN. Using them needs the permission for `kms:Sign`.
pub struct KmsRing {
    service: Arc<Service>,
}

impl KmsRing {
    /// The keys of `service`.
    #[must_use]
    pub fn new(service: Arc<Service>) -> Self {
        Self { service }
    }
}

/// The name that AWS has for a scheme.
fn algorithm(scheme: &SignatureScheme) -> Option<String> {
    let number = match scheme.hash() {
        Hash::Sha256 => 256,
        Hash::Sha384 => 384,
        Hash::Sha512 => 512,
        _ => return None,
    };
    match scheme {
        SignatureScheme::Pkcs1v15(_) => Some(format!("RSASSA_PKCS1_V1_5_SHA_{number}")),
        SignatureScheme::Pss(Pss { hash, mask_hash, salt: SaltLength::Digest | SaltLength::Any })
            if hash == mask_hash =>
        {
            Some(format!("RSASSA_PSS_SHA_{number}"))
        }
        _ => None,
    }
}

impl From<KmsError> for KeyringError {
    fn from(error: KmsError) -> Self {
        match error.name {
            "AccessDeniedException" => Self::Forbidden,
            _ if error.status.is_server_error() => Self::Failed(error.message),
            name => Self::Unusable(format!("{name}: {}", error.message)),
        }
    }
}

impl Keyring for KmsRing {
    fn signing_key<'a>(
        &'a self,
        principal: &'a Arc<Principal>,
        name: &'a str,
        scheme: &'a SignatureScheme,
    ) -> BoxFuture<'a, Result<Option<SigningKey>, KeyringError>> {
        Box::pin(async move {
            let now_ms = self.service.clock.now_ms();
            let (service, principal) = (Arc::clone(&self.service), Arc::clone(principal));
            let call = Call::new(service, principal, "Sign", uuid::of_request(), now_ms, Instant::now());
            let key = match call.key(Some(name), Names::All) {
                Err(error) if error.name == "NotFoundException" => return Ok(None),
                key => key?,
            };
            let algorithm = algorithm(scheme)
                .ok_or_else(|| KeyringError::Unusable("KMS keys do not sign by this scheme".into()))?;
            let facts = Facts {
                signing_algorithm: Some(&algorithm),
                message_type: Some("DIGEST"),
                ..Facts::default()
            };
            call.allow(&key, call.operation, facts)?;
            let material = call.material(&key, Usage::Sign)?;
            let private = door::private_key(&self.service, &material.id, &material.secret).await;
            call.used(&key);
            Ok(Some(SigningKey {
                id: key.record.id.as_str().into(),
                key: private.map_err(KeyringError::Failed)?,
            }))
        })
    }
}
