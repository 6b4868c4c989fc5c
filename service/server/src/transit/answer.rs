//! Answers as Vault gives them.

use crate::batch::Refused;
use crate::body::Unread;
use crate::records::RecordsError;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::Config as _;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD};
use bytes::Bytes;
use serde::Serialize;
use std::time::Duration;
use zeroize::Zeroizing;

/// A request without an answer: the status, and what `errors` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) status: StatusCode,
    pub(super) errors: Vec<String>,
    /// Seconds after which the same request may succeed.
    pub(super) retry_after: Option<u64>,
}

impl Fault {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, errors: vec![error.into()], retry_after: None }
    }

    /// The request is wrong.
    pub(super) fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    /// There is nothing of that name.
    pub(super) fn missing() -> Self {
        Self { status: StatusCode::NOT_FOUND, errors: Vec::new(), retry_after: None }
    }

    pub(super) fn denied() -> Self {
        Self::new(StatusCode::FORBIDDEN, "permission denied")
    }

    /// The principal asks too often.
    pub(super) fn too_many(wait: Duration) -> Self {
        let retry_after = Some(wait.as_secs() + 1);
        Self { retry_after, ..Self::new(StatusCode::TOO_MANY_REQUESTS, "request rate limit exceeded") }
    }

    /// The service failed.
    pub(super) fn internal(error: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }
}

impl From<Unread> for Fault {
    fn from(unread: Unread) -> Self {
        let text = format!("failed to read the request: {unread}");
        match unread {
            Unread::TooLong => Self::new(StatusCode::PAYLOAD_TOO_LARGE, text),
            Unread::Full => Self { retry_after: Some(1), ..Self::new(StatusCode::TOO_MANY_REQUESTS, text) },
            Unread::Slow => Self::new(StatusCode::REQUEST_TIMEOUT, text),
            Unread::Incomplete => Self::bad(text),
        }
    }
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        let text = refused.to_string();
        match refused {
            Refused::Overloaded(wait) => {
                let retry_after = Some(wait.as_secs() + 1);
                Self { retry_after, ..Self::new(StatusCode::TOO_MANY_REQUESTS, text) }
            }
            Refused::Late | Refused::Draining => Self::new(StatusCode::SERVICE_UNAVAILABLE, text),
            Refused::Item(_) => Self::bad(text),
            _ => Self::internal(text),
        }
    }
}

impl From<RecordsError> for Fault {
    fn from(error: RecordsError) -> Self {
        Self::internal(error.to_string())
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "errors": self.errors }).to_string();
        let mut response = (self.status, json(Bytes::from(body))).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

fn json(body: Bytes) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], body)
}

/// An answer under construction: the part of Vault's envelope before the data, then the data. It is cleared
/// when it is dropped, because some answers hold secrets.
pub(super) struct Answer(Zeroizing<Vec<u8>>);

impl Answer {
    /// An answer to the request `request_id`, whose data takes about `room` bytes.
    pub(super) fn new(request_id: &str, room: usize) -> Self {
        let mut answer = Self(Zeroizing::new(Vec::with_capacity(room + 256)));
        answer.raw("{\"request_id\":\"").raw(request_id);
        answer.raw("\",\"lease_id\":\"\",\"renewable\":false,\"lease_duration\":0,\"data\":");
        answer
    }

    /// Adds JSON as it is.
    pub(super) fn raw(&mut self, json: &str) -> &mut Self {
        self.0.extend_from_slice(json.as_bytes());
        self
    }

    /// Adds a value in JSON.
    pub(super) fn value(&mut self, value: &(impl Serialize + ?Sized)) -> &mut Self {
        // Writing to memory does not fail, and neither does serialising text, numbers and maps of them.
        let _ = serde_json::to_writer(&mut *self.0, value);
        self
    }

    /// Adds `bytes` in Base64.
    pub(super) fn base64(&mut self, bytes: &[u8]) -> &mut Self {
        self.encoded(bytes, &STANDARD)
    }

    /// Adds `bytes` in `encoding`.
    pub(super) fn encoded(&mut self, bytes: &[u8], encoding: &GeneralPurpose) -> &mut Self {
        let start = self.0.len();
        let room = base64::encoded_len(bytes.len(), encoding.config().encode_padding()).unwrap_or_default();
        self.0.resize(start + room, b'=');
        // The room is exactly what the encoding takes, so that there is no error.
        let _ = encoding.encode_slice(bytes, self.0.get_mut(start..).unwrap_or_default());
        self
    }

    /// The response with `status` and Vault's `warnings`.
    pub(super) fn finish(self, status: StatusCode, warnings: &[String]) -> Response {
        self.finish_with(status, warnings, &())
    }

    /// The response with `status`, Vault's `warnings`, and what is said of a token.
    pub(super) fn finish_with(
        mut self,
        status: StatusCode,
        warnings: &[String],
        auth: &impl Serialize,
    ) -> Response {
        self.raw(",\"wrap_info\":null,\"warnings\":");
        if warnings.is_empty() {
            self.raw("null");
        } else {
            self.value(warnings);
        }
        self.raw(",\"auth\":").value(auth).raw(",\"mount_type\":\"transit\"}\n");
        (status, json(Bytes::from_owner(self.0))).into_response()
    }
}

/// The response whose data is `data`.
pub(super) fn respond(request_id: &str, data: &impl Serialize, warnings: &[String]) -> Response {
    let mut answer = Answer::new(request_id, 1 << 10);
    answer.value(data);
    answer.finish(StatusCode::OK, warnings)
}

/// The response without contents.
pub(super) fn nothing() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// A response that is `body` without an envelope.
pub(super) fn bare(body: &impl Serialize) -> Response {
    json(Bytes::from(serde_json::to_vec(body).unwrap_or_default())).into_response()
}
