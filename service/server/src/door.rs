//! The parts that the doors have in common.

use crate::batch::Origin;
use crate::credentials::{Principal, Right};
use crate::secret::SecretBytes;
use crate::service::Service;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use modmill_rsa::PrivateKey;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of input from which work is handed to a thread that may block. Decoding and hashing less takes well
/// under a millisecond.
const INLINE: usize = 64 << 10;

/// The token of a request: `Authorization: Bearer TOKEN`.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    authorization(headers, "bearer")
}

/// The text behind `scheme` in the header `Authorization`, if that is its scheme.
pub(crate) fn authorization<'a>(headers: &'a HeaderMap, scheme: &str) -> Option<&'a str> {
    let (given, rest) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}

/// The principal whose credential has `token`.
pub(crate) fn principal(service: &Service, token: &str) -> Option<Principal> {
    service.credentials.by_token(&service.records, token).map(|credential| Principal::of(&credential))
}

/// Why a request with a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// There is no token, or nobody has it.
    Unknown,
    /// The credential lacks the right.
    Forbidden,
}

/// The principal of a request with a bearer token that has `right`.
pub(crate) fn authenticate(
    service: &Service,
    headers: &HeaderMap,
    right: Right,
) -> Result<Principal, Denied> {
    let principal = bearer(headers).and_then(|token| principal(service, token)).ok_or(Denied::Unknown)?;
    if principal.may(right) { Ok(principal) } else { Err(Denied::Forbidden) }
}

/// The time at which a request that comes now is late.
pub(crate) fn deadline(service: &Service) -> Instant {
    Instant::now() + Duration::from_millis(service.settings.deadline_ms)
}

/// The origin of an operation: `door` and `operation` are names, `key_id` is the key's.
pub(crate) fn origin(
    principal: &Arc<Principal>,
    (door, operation): (&'static str, &'static str),
    key_id: &str,
    request_id: &Arc<str>,
    deadline: Instant,
) -> Origin {
    Origin {
        principal: Arc::clone(principal),
        door,
        operation,
        key_id: key_id.into(),
        request_id: Arc::clone(request_id),
        deadline,
    }
}

/// The private key of `material`. The error says why it cannot be used.
pub(crate) async fn private_key(
    service: &Service,
    material_id: &str,
    material: &SecretBytes,
) -> Result<Arc<PrivateKey>, String> {
    service.keys.load(material_id, material).await.map_err(|error| error.to_string())
}

/// Runs `work` on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())
}

/// Runs `work` here if it handles few bytes, otherwise on a thread that may block.
pub(crate) async fn sized<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    if bytes < INLINE { Ok(work()) } else { blocking(work).await }
}

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_tokens_are_read_in_any_case() {
        let mut headers = HeaderMap::new();
        assert_eq!(bearer(&headers), None);
        for (text, token) in [("Bearer abc", Some("abc")), ("bearer  abc ", Some("abc")), ("Basic abc", None)]
        {
            headers.insert(AUTHORIZATION, text.parse().expect("a header"));
            assert_eq!(bearer(&headers), token, "{text}");
        }
    }
}
