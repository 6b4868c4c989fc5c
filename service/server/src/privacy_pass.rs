//! A Privacy Pass issuer (RFC 9578) of tokens of type 0x0002: blind RSA signatures of 2048 bits
//! (RFC 9474, RSABSSA-SHA384-PSS-Deterministic).
//!
//! | request | answer |
//! |---|---|
//! | `GET /.well-known/private-token-issuer-directory` | the public keys |
//! | `POST /token-request` with `application/private-token-request` | one blind signature |
//! | the same with `application/private-token-generic-batch-request` | many, as draft-ietf-privacypass-batched-tokens says |
//!
//! A batch is a length as a variable-length integer of QUIC and the token requests, one after the other. The
//! answer is a length and, for each request, the byte 0, or the byte 1, the token type and the blind
//! signature. A batch holds at most [`IssuerSettings::max_batch`] requests, and may be for several keys.
//!
//! A request needs a bearer token whose credential has the right [`Right::Issue`], unless issuance is open.
//! Tokens are limited by principal. What the issuer signs is blinded: it learns nothing about the tokens, so
//! that whom it signs for is the only thing that it can limit.

pub mod issuer;
#[cfg(test)]
mod tests;
mod wire;

pub use issuer::{IssuerError, IssuerKey};

use crate::batch::Refused;
use crate::body::{Holder, Unread};
use crate::credentials::{Principal, Right};
use crate::door::{self, Denied};
use crate::limits::RateLimits;
use crate::records::Kinds;
use crate::service::Service;
use crate::uuid;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use futures_util::future::try_join_all;
use modmill_rsa::PrivateTask;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use wire::{TokenRequest, Wrong};

const DIRECTORY: &str = "application/private-token-issuer-directory";
const REQUEST: &str = "application/private-token-request";
const RESPONSE: &str = "application/private-token-response";
const BATCH_REQUEST: &str = "application/private-token-generic-batch-request";
const BATCH_RESPONSE: &str = "application/private-token-generic-batch-response";

/// The documents of this door.
#[must_use]
pub fn kinds(kinds: Kinds) -> Kinds {
    kinds.with::<IssuerKey>()
}

/// The operator's settings of the issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerSettings {
    /// Whether anybody may ask for tokens. Then somebody in front of the service has to decide who gets how
    /// many.
    pub open_issuance: bool,
    /// Tokens that a principal gets in a second; 0 is no limit. If issuance is open, all who ask without a
    /// token of their own are one principal.
    pub tokens_per_second: u32,
    /// Tokens that a principal gets at once after it asked for none.
    pub burst: u32,
    /// The largest batch.
    pub max_batch: usize,
    /// How long clients may keep the directory.
    pub directory_max_age: Duration,
}

impl Default for IssuerSettings {
    fn default() -> Self {
        Self {
            open_issuance: false,
            tokens_per_second: 0,
            burst: 0,
            max_batch: 10_000,
            directory_max_age: Duration::from_secs(3600),
        }
    }
}

struct Issuer {
    service: Arc<Service>,
    settings: IssuerSettings,
    limits: RateLimits,
}

/// The issuer's paths.
pub fn router(service: Arc<Service>, settings: IssuerSettings) -> Router {
    let limits =
        RateLimits::new(settings.tokens_per_second, settings.burst).counted_by(Arc::clone(&service.metrics));
    let issuer = Arc::new(Issuer { service, settings, limits });
    Router::new()
        .route("/.well-known/private-token-issuer-directory", get(directory))
        .route("/token-request", post(token_request))
        .with_state(issuer)
}

/// A request without tokens.
#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    reason: String,
    retry_after: Option<Duration>,
}

impl Refusal {
    fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), retry_after: None }
    }

    fn later(status: StatusCode, reason: impl Into<String>, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..Self::new(status, reason) }
    }

    fn limited(wait: Duration) -> Self {
        Self::later(StatusCode::TOO_MANY_REQUESTS, "too many tokens", wait)
    }
}

impl From<Wrong> for Refusal {
    fn from(wrong: Wrong) -> Self {
        let status = match wrong {
            Wrong::Form(_) => StatusCode::BAD_REQUEST,
            Wrong::Content(_) => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(status, wrong.to_string())
    }
}

impl From<Unread> for Refusal {
    fn from(unread: Unread) -> Self {
        let reason = unread.to_string();
        match unread {
            Unread::TooLong => Self::new(StatusCode::PAYLOAD_TOO_LARGE, reason),
            Unread::Full => Self::later(StatusCode::SERVICE_UNAVAILABLE, reason, Duration::from_secs(1)),
            Unread::Slow => Self::new(StatusCode::REQUEST_TIMEOUT, reason),
            Unread::Incomplete => Self::new(StatusCode::BAD_REQUEST, reason),
        }
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        let reason = refused.to_string();
        match refused {
            Refused::Overloaded(wait) => Self::later(StatusCode::SERVICE_UNAVAILABLE, reason, wait),
            Refused::Late | Refused::Draining => {
                Self::later(StatusCode::SERVICE_UNAVAILABLE, reason, Duration::from_secs(1))
            }
            Refused::Item(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, reason),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, reason),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.reason).into_response();
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

async fn directory(State(issuer): State<Arc<Issuer>>) -> Response {
    let now = issuer.service.clock.now_ms() / 1000;
    let keys: Vec<_> = issuer::in_order(&issuer.service.records, now)
        .iter()
        .map(|key| {
            json!({ "token-type": wire::TYPE, "token-key": URL_SAFE.encode(&key.public_key), "not-before": key.not_before_s })
        })
        .collect();
    let body = json!({ "issuer-request-uri": "/token-request", "token-keys": keys }).to_string();
    let age = format!("public, max-age={}", issuer.settings.directory_max_age.as_secs());
    ([(CONTENT_TYPE, DIRECTORY.to_owned()), (CACHE_CONTROL, age)], body).into_response()
}

impl Issuer {
    /// The principal that asks. The empty name stands for all who ask without a token if issuance is open.
    fn principal(&self, headers: &HeaderMap) -> Result<Principal, Refusal> {
        match door::authenticate(&self.service, headers, Right::Issue) {
            Ok(principal) => Ok(principal),
            Err(Denied::Unknown) if self.settings.open_issuance && door::bearer(headers).is_none() => {
                Ok(Principal {
                    name: String::new(),
                    access_key_id: String::new(),
                    rights: [Right::Issue].into(),
                })
            }
            Err(Denied::Unknown) => {
                Err(Refusal::new(StatusCode::UNAUTHORIZED, "the token is missing or unknown"))
            }
            Err(Denied::Forbidden) => {
                Err(Refusal::new(StatusCode::FORBIDDEN, "the credential has no right `issue`"))
            }
        }
    }

    /// The principal that asks, and whether it asks for a batch.
    fn admit(&self, headers: &HeaderMap) -> Result<(Arc<Principal>, bool), Refusal> {
        let principal = self.principal(headers)?;
        self.service.limits.check(&principal).map_err(Refusal::limited)?;
        let is_batch = match headers.get(CONTENT_TYPE).and_then(|name| name.to_str().ok()) {
            Some(REQUEST) => false,
            Some(BATCH_REQUEST) => true,
            _ => {
                let reason = format!("send {REQUEST} or {BATCH_REQUEST}");
                return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
            }
        };
        Ok((Arc::new(principal), is_batch))
    }

    /// The key whose identifier ends with `truncated`, if it signs at this time.
    fn key(&self, truncated: u8) -> Option<Arc<IssuerKey>> {
        let now = self.service.clock.now_ms() / 1000;
        let keys = self.service.records.all::<IssuerKey>();
        keys.into_iter().find(|key| key.truncated_id() == truncated && key.not_before_s <= now)
    }

    /// The blind signatures of `requests`, in their order. A request without one has `None`.
    async fn sign(
        &self,
        principal: &Arc<Principal>,
        requests: &[TokenRequest<'_>],
    ) -> Result<Vec<Option<Vec<u8>>>, Refusal> {
        let request_id = uuid::of_request();
        let mut groups: BTreeMap<u8, (Vec<usize>, Vec<PrivateTask>)> = BTreeMap::new();
        for (place, request) in requests.iter().enumerate() {
            let (places, tasks) = groups.entry(request.truncated_key_id).or_default();
            places.push(place);
            tasks.push(PrivateTask::Raw { number: request.blinded.to_vec().into() });
        }
        let calls = groups.into_iter().filter_map(|(truncated, (places, tasks))| {
            let key = self.key(truncated)?;
            let request_id = &request_id;
            Some(async move {
                let failed = |error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error);
                let private =
                    door::private_key(&self.service, &key.id, &key.material).await.map_err(failed)?;
                let names = ("privacy_pass", "issue");
                let deadline = door::deadline(&self.service);
                let origin = door::origin(principal, names, &key.id, request_id, deadline);
                let answers = self.service.batcher.private_many(origin, private, tasks).await?;
                Ok::<_, Refusal>((places, answers))
            })
        });
        let mut signatures: Vec<Option<Vec<u8>>> = vec![None; requests.len()];
        for (places, answers) in try_join_all(calls).await? {
            for (place, answer) in places.into_iter().zip(answers) {
                if let (Some(signature), Ok(answer)) = (signatures.get_mut(place), answer) {
                    // A blind signature is no secret: it goes to the client as it is.
                    *signature = Some(answer.to_vec());
                }
            }
        }
        Ok(signatures)
    }
}

async fn token_request(State(issuer): State<Arc<Issuer>>, request: Request) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let admitted = issuer.admit(&parts.headers);
    // One request more than the limit, so that it is the batch that is refused, and the length before it.
    let longest = (issuer.settings.max_batch + 1) * TokenRequest::LEN + 8;
    let holder = |(principal, _): &(Arc<Principal>, bool)| Holder::of(principal, &parts);
    let ((principal, is_batch), body) =
        issuer.service.bodies.read_if(admitted, holder, &parts, body, longest).await?;
    let requests =
        if is_batch { wire::batch(&body, issuer.settings.max_batch)? } else { vec![wire::single(&body)?] };
    if !is_batch && requests.iter().any(|request| issuer.key(request.truncated_key_id).is_none()) {
        return Err(Wrong::Content("the issuer has no key with this identifier").into());
    }
    issuer.limits.take(&principal, requests.len()).map_err(Refusal::limited)?;
    let signatures = issuer.sign(&principal, &requests).await?;
    let (content_type, body) = if is_batch {
        (BATCH_RESPONSE, wire::batch_response(&signatures))
    } else {
        let signature = signatures.into_iter().next().flatten();
        let out_of_range = Wrong::Content("the blinded message is not below the modulus");
        (RESPONSE, signature.ok_or(out_of_range)?)
    };
    Ok(([(CONTENT_TYPE, content_type)], body).into_response())
}
