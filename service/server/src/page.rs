//! The live page at `/`: what the service does now and did in the last minutes, for people with the right to
//! watch.
//!
//! The page is one document without anything from elsewhere. Its script asks `/page/data` for figures each
//! second.

mod access;
mod data;
mod of_service;

pub use data::{Replica, Watched};

use crate::door::Denied;
use axum::Router;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, VARY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use data::Data;
use serde::Deserialize;
use std::sync::Arc;

const DOCUMENT: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// The routes of the page, with the figures of `watched`.
pub fn router<W: Watched>(watched: W) -> Router {
    Router::new()
        .route("/", get(document::<W>))
        .route("/page/data", get(figures::<W>))
        .with_state(Arc::new(watched))
}

async fn document<W: Watched>(State(watched): State<Arc<W>>, headers: HeaderMap) -> Response {
    if let Err(denied) = access::check(&*watched, &headers) {
        return refuse(denied);
    }
    let mut random = [0; 16];
    if getrandom::fill(&mut random).is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let nonce = STANDARD.encode(random);
    let policy = format!(
        "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let Ok(policy) = HeaderValue::try_from(policy) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    // The nonce goes in first, so that nothing in the style or the script is taken for its place.
    let text =
        DOCUMENT.replace("NONCE", &nonce).replace("STYLE", STYLE.trim()).replace("SCRIPT", SCRIPT.trim());
    let mut response = private(Response::new(Body::from(text)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

#[derive(Deserialize)]
struct Asked {
    /// The last second that the page has; -1 if it has none.
    #[serde(default = "nothing")]
    after: i64,
}

fn nothing() -> i64 {
    -1
}

async fn figures<W: Watched>(
    State(watched): State<Arc<W>>,
    headers: HeaderMap,
    Query(asked): Query<Asked>,
) -> Response {
    if let Err(denied) = access::check(&*watched, &headers) {
        return refuse(denied);
    }
    let data = Data::of(&*watched, u64::try_from(asked.after).ok());
    private(axum::Json(data).into_response())
}

fn refuse(denied: Denied) -> Response {
    let (status, text) = match denied {
        Denied::Unknown => (StatusCode::UNAUTHORIZED, "The password is the token of a credential.\n"),
        Denied::Forbidden => (StatusCode::FORBIDDEN, "This credential may not watch.\n"),
    };
    let mut response = private((status, text).into_response());
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Basic realm=\"modmill\", charset=\"UTF-8\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Nobody on the way may keep an answer.
fn private(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("authorization"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests;
