//! The bulk endpoint: `POST /bulk/v1/sign?key=KEY&scheme=SCHEME` signs thousands of digests in one request.
//!
//! `KEY` is a key of one of the [`Keyring`]s: a KMS key by its identifier or alias, or `transit/NAME` and
//! `transit/NAME:VERSION`. `SCHEME` is `pss-sha256`, `pkcs1v15-sha512` and so on ([`scheme`]). The token goes
//! in `Authorization: Bearer`. Its credential needs the right [`Right::Bulk`], and the permission to sign
//! with the key.
//!
//! # The request
//!
//! The body is a stream of digests, each as long as those of the scheme's hash.
//!
//! | `Content-Type` | body |
//! |---|---|
//! | `application/x-modmill-digests` | digests side by side |
//! | `application/vnd.apache.arrow.stream` | Arrow IPC with a binary column `digest` (feature `arrow`) |
//!
//! # The answer
//!
//! Answers come in the order of the digests while the request is still being sent, so that a client has to
//! read while it writes. The service holds a few thousand digests of a stream at a time, and takes more when
//! answers were read.
//!
//! Digests side by side are answered by `application/x-modmill-signatures`. The header
//! `modmill-signature-length` has the length L of a signature in bytes. The body is a sequence of frames.
//! Numbers are little-endian.
//!
//! ```text
//! u32 count >= 1 | count bytes: 0 if the item was signed, 1 if not | count * L bytes of signatures, zeros if not signed
//! u32 0 | u8 status | u16 length | length bytes of text            the last frame
//! ```
//!
//! A stream without the last frame was cut off. Its status is 0 if every digest was answered, and otherwise
//! says why the stream ends here ([`Status`]).
//!
//! Arrow is answered by Arrow: a column `signature` of binary values of fixed size, null where an item was
//! not signed. A request that is wrong before its first signature is answered by a status and a text. An
//! answer that has begun has no place for a text: it is cut off, without Arrow's end mark. A record batch has
//! at most 64 MiB, and is not compressed. Columns other than `digest` are passed over, and dictionaries are
//! refused.

mod answer;
#[cfg(feature = "arrow")]
mod arrow;
mod chunks;
mod pipeline;
#[cfg(test)]
pub(crate) mod tests;

use crate::credentials::{Principal, Right};
use crate::door::{self, Denied};
use crate::http::Peer;
use crate::service::Service;
use crate::uuid;
use answer::Format;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::future::BoxFuture;
use modmill_client::bulk::{DIGESTS, SIGNATURE_LENGTH, SIGNATURES, Status, scheme};
use modmill_rsa::{Hash, PrivateKey, SignatureScheme};
use parking_lot::Mutex;
use pipeline::{Job, Stop};
use serde::Deserialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The media type of Arrow IPC streams.
pub const ARROW: &str = "application/vnd.apache.arrow.stream";

/// A key that signs.
#[derive(Debug, Clone)]
pub struct SigningKey {
    /// The identifier for the audit log.
    pub id: Arc<str>,
    /// The key.
    pub key: Arc<PrivateKey>,
}

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// The principal may not sign with it.
    #[error("no permission to sign with this key")]
    Forbidden,
    /// It is disabled, or has another purpose.
    #[error("{0}")]
    Unusable(String),
    /// The service failed.
    #[error("{0}")]
    Failed(String),
}

/// Keys of one door, by name.
pub trait Keyring: Send + Sync {
    /// The key that `name` stands for, if it is one of this ring and `principal` may sign with it by
    /// `scheme`. `None` if the ring has no such key.
    fn signing_key<'a>(
        &'a self,
        principal: &'a Arc<Principal>,
        name: &'a str,
        scheme: &'a SignatureScheme,
    ) -> BoxFuture<'a, Result<Option<SigningKey>, KeyringError>>;
}

struct Bulk {
    service: Arc<Service>,
    rings: Vec<Arc<dyn Keyring>>,
    /// Messages of Arrow that may be decoded at a time.
    #[cfg(feature = "arrow")]
    decoders: tokio::sync::Semaphore,
}

/// The endpoint for the keys of `rings`.
pub fn router(service: Arc<Service>, rings: Vec<Arc<dyn Keyring>>) -> Router {
    let bulk = Bulk {
        service,
        rings,
        #[cfg(feature = "arrow")]
        decoders: tokio::sync::Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from)),
    };
    Router::new()
        .route("/bulk/v1/sign", post(sign))
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::new(bulk))
}

/// A request that is refused before anything is signed.
struct Refusal(StatusCode, String);

impl From<Stop> for Refusal {
    fn from(Stop { status, text }: Stop) -> Self {
        let code = match status {
            Status::Request => StatusCode::BAD_REQUEST,
            Status::Busy | Status::Draining => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(code, text)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(status, error) = self;
        let body = serde_json::json!({ "error": error }).to_string();
        (status, [(CONTENT_TYPE, "application/json")], body).into_response()
    }
}

#[derive(Debug, Deserialize)]
struct Options {
    key: String,
    scheme: String,
    salt: Option<String>,
    mask: Option<String>,
}

async fn sign(
    State(bulk): State<Arc<Bulk>>,
    headers: HeaderMap,
    extensions: Extensions,
    options: Result<Query<Options>, axum::extract::rejection::QueryRejection>,
    body: Body,
) -> Result<Response, Refusal> {
    let service = &bulk.service;
    let principal = door::authenticate(service, &headers, Right::Bulk).map_err(|denied| match denied {
        Denied::Unknown => Refusal(StatusCode::UNAUTHORIZED, "the token is missing or unknown".into()),
        Denied::Forbidden => Refusal(StatusCode::FORBIDDEN, "the credential has no right `bulk`".into()),
    })?;
    let principal = Arc::new(principal);
    Peer::of(&extensions).into_iter().for_each(Peer::prove);
    let often = |wait: Duration| {
        Refusal(StatusCode::TOO_MANY_REQUESTS, format!("too many requests: try again in {wait:?}"))
    };
    service.limits.check(&principal).map_err(often)?;
    let place = service.streams.take(principal.name.clone(), 1).ok_or_else(|| {
        Refusal(StatusCode::TOO_MANY_REQUESTS, "too many bulk requests are under way: try again".into())
    })?;
    let bad = |error: String| Refusal(StatusCode::BAD_REQUEST, error);
    let Query(options) = options.map_err(|error| bad(error.body_text()))?;
    let scheme =
        scheme::parse(&options.scheme, options.salt.as_deref(), options.mask.as_deref()).map_err(bad)?;
    if scheme.hash() == Hash::Sha1 {
        return Err(bad("no signature is made with SHA-1".into()));
    }
    let format = format(&headers)?;
    let SigningKey { id, key } = find(&bulk, &principal, &options.key, &scheme).await?;
    let length = key.public_key().size();
    let job = Job {
        service: Arc::clone(service),
        principal,
        request_id: uuid::of_request(),
        key_id: id,
        key,
        scheme,
        length,
        _place: Arc::new(place),
        bulk: Arc::clone(&bulk),
        name: options.key.as_str().into(),
        checked: Arc::new(Mutex::new((service.records.seen(), Instant::now()))),
    };
    let content_type = match format {
        Format::Digests => SIGNATURES,
        #[cfg(feature = "arrow")]
        Format::Arrow => ARROW,
    };
    let mut response = Response::new(answer::start(job, format, body).await?);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(SIGNATURE_LENGTH, HeaderValue::from(length));
    Ok(response)
}

fn format(headers: &HeaderMap) -> Result<Format, Refusal> {
    let name = headers.get(CONTENT_TYPE).and_then(|name| name.to_str().ok()).unwrap_or_default();
    match name {
        DIGESTS => Ok(Format::Digests),
        #[cfg(feature = "arrow")]
        ARROW => Ok(Format::Arrow),
        _ => {
            let arrow = if cfg!(feature = "arrow") { format!(" or {ARROW}") } else { String::new() };
            let error = format!("{name:?} is not a content type of this endpoint: send {DIGESTS}{arrow}");
            Err(Refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, error))
        }
    }
}

async fn find(
    bulk: &Bulk,
    principal: &Arc<Principal>,
    name: &str,
    scheme: &SignatureScheme,
) -> Result<SigningKey, Refusal> {
    for ring in &bulk.rings {
        match ring.signing_key(principal, name, scheme).await {
            Ok(None) => {}
            Ok(Some(key)) => return Ok(key),
            Err(error @ KeyringError::Forbidden) => {
                return Err(Refusal(StatusCode::FORBIDDEN, error.to_string()));
            }
            Err(KeyringError::Unusable(error)) => return Err(Refusal(StatusCode::CONFLICT, error)),
            Err(KeyringError::Failed(error)) => {
                return Err(Refusal(StatusCode::INTERNAL_SERVER_ERROR, error));
            }
        }
    }
    Err(Refusal(StatusCode::NOT_FOUND, format!("there is no key {name:?}")))
}
