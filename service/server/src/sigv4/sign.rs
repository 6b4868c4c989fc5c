//! The client's side.

use super::canonical::{Canonical, canonical_request};
use super::keys::{Key, derive};
use super::{ALGORITHM, SigV4Error, TERMINATOR, string_to_sign, time};
use crate::hex;
use crate::secret::SecretBytes;
use crate::sha256::sha256;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue, InvalidHeaderValue};
use http::request::Parts;
use parking_lot::Mutex;

/// Why a request cannot be signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The request has no canonical form.
    #[error(transparent)]
    Canonical(#[from] SigV4Error),
    /// The access key's identifier, the region or the service cannot stand in a header.
    #[error("the access key, the region or the service cannot be written in a header")]
    Header(#[from] InvalidHeaderValue),
    /// The address has no host.
    #[error("the request's address has no host, and there is no header 'host'")]
    Host,
}

/// Signs requests with one credential. It keeps the signing key of the day.
pub struct Signer {
    access_key_id: String,
    secret_access_key: SecretBytes,
    region: String,
    service: String,
    day: Mutex<Option<(String, Key)>>,
}

impl Signer {
    /// A signer for requests to `service` in `region`.
    #[must_use]
    pub fn new(access_key_id: &str, secret_access_key: SecretBytes, region: &str, service: &str) -> Self {
        Self {
            access_key_id: access_key_id.to_owned(),
            secret_access_key,
            region: region.to_owned(),
            service: service.to_owned(),
            day: Mutex::new(None),
        }
    }

    /// Signs the request with the head `parts` and the body `body` at `now_s` seconds since 1970. It sets the
    /// headers `host`, `x-amz-date` and `authorization`, and signs every header that is there by then but
    /// `user-agent`.
    pub fn sign(&self, parts: &mut Parts, body: &[u8], now_s: u64) -> Result<(), SignError> {
        let time = time::timestamp(now_s);
        parts.headers.insert(HeaderName::from_static("x-amz-date"), HeaderValue::from_str(&time)?);
        parts.headers.remove(AUTHORIZATION);
        if !parts.headers.contains_key("host") {
            let host = parts.uri.authority().ok_or(SignError::Host)?;
            parts.headers.insert(http::header::HOST, HeaderValue::from_str(host.as_str())?);
        }
        let mut names: Vec<&str> = parts.headers.keys().map(HeaderName::as_str).collect();
        names.retain(|name| *name != "user-agent");
        names.sort_unstable();
        let signed_headers = names.join(";");
        let canonical = canonical_request(&Canonical {
            method: parts.method.as_str(),
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or_default(),
            headers: &parts.headers,
            host: None,
            signed_headers: &signed_headers,
            payload_hash: &hex::encode(&sha256(&[body])),
        })?;
        let Self { access_key_id, region, service, .. } = self;
        let text = string_to_sign(&time, region, service, &canonical);
        let date = time.get(..8).unwrap_or_default();
        let signature = hex::encode(&self.key(date).sign(text.as_bytes()));
        let header = format!(
            "{ALGORITHM} Credential={access_key_id}/{date}/{region}/{service}/{TERMINATOR}, \
             SignedHeaders={signed_headers}, Signature={signature}"
        );
        parts.headers.insert(AUTHORIZATION, HeaderValue::from_str(&header)?);
        Ok(())
    }

    fn key(&self, date: &str) -> Key {
        let mut day = self.day.lock();
        match &*day {
            Some((kept, key)) if kept == date => key.clone(),
            _ => {
                let key = derive(self.secret_access_key.expose(), date, &self.region, &self.service);
                *day = Some((date.to_owned(), key.clone()));
                key
            }
        }
    }
}

/// Signs one request: [`Signer::sign`] with a signer of its own. `credentials` are the access key's
/// identifier and secret.
pub fn sign(
    parts: &mut Parts,
    body: &[u8],
    credentials: (&str, &SecretBytes),
    region: &str,
    service: &str,
    now_s: u64,
) -> Result<(), SignError> {
    Signer::new(credentials.0, credentials.1.clone(), region, service).sign(parts, body, now_s)
}
