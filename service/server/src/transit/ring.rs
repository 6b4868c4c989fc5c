//! The keys of this interface for the bulk endpoint.

use super::key::{TransitKey, Use};
use crate::bulk::{Keyring, KeyringError, SigningKey};
use crate::credentials::{Principal, Right};
use crate::door;
use crate::service::Service;
use futures_util::future::BoxFuture;
use modmill_rsa::SignatureScheme;
use std::sync::Arc;

/// Keys named `transit/NAME` or `transit/NAME:VERSION`. Using them needs the right [`Right::Transit`].
pub struct TransitRing {
    service: Arc<Service>,
}

impl TransitRing {
    /// The keys of `service`.
    #[must_use]
    pub fn new(service: Arc<Service>) -> Self {
        Self { service }
    }
}

impl Keyring for TransitRing {
    fn signing_key<'a>(
        &'a self,
        principal: &'a Arc<Principal>,
        name: &'a str,
        _: &'a SignatureScheme,
    ) -> BoxFuture<'a, Result<Option<SigningKey>, KeyringError>> {
        Box::pin(async move {
            let Some(name) = name.strip_prefix("transit/") else { return Ok(None) };
            if !principal.may(Right::Transit) {
                return Err(KeyringError::Forbidden);
            }
            let (name, asked) = match name.rsplit_once(':') {
                None => (name, 0),
                Some((name, version)) => {
                    let wrong = |_| KeyringError::Unusable(format!("{version:?} is not a version of a key"));
                    (name, version.parse::<u32>().map_err(wrong)?.into())
                }
            };
            let Some(key) = self.service.records.get::<TransitKey>(name) else { return Ok(None) };
            let number = key.forward(asked, Use::Signing).map_err(KeyringError::Unusable)?;
            let Some(version) = key.versions.get(&number) else { return Ok(None) };
            let private = door::private_key(&self.service, &version.material_id, &version.material).await;
            let private = private.map_err(KeyringError::Failed)?;
            Ok(Some(SigningKey { id: format!("transit/{name}:{number}").into(), key: private }))
        })
    }
}
