//! What every request passes through: limits of its body and its time, and figures.

use crate::metrics::Metrics;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode, header};
use http_body_util::Limited;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What requests are held to.
#[derive(Clone)]
pub struct Layers {
    /// The most octets of a small request's body.
    pub body_bytes: usize,
    /// The most octets of a batch's body.
    pub batch_body_bytes: usize,
    /// The time until an answer begins. Doors answer in their own words before that.
    pub timeout: Duration,
    /// Figures.
    pub metrics: Arc<Metrics>,
}

/// The same routes, with limits and figures.
pub fn layered(router: Router, layers: Layers) -> Router {
    // Bodies are limited here, by the kind of request.
    router.layer(DefaultBodyLimit::disable()).layer(from_fn_with_state(layers, around))
}

/// The door that a request goes to.
fn door(method: &Method, path: &str) -> &'static str {
    let begins =
        |prefix: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match path {
        "/" if method == Method::POST => "kms",
        "/" => "page",
        "/health" | "/ready" | "/metrics" => "service",
        "/token-request" | "/.well-known/private-token-issuer-directory" => "privacy_pass",
        _ if begins("/v1") => "transit",
        _ if begins("/bulk") => "bulk",
        _ if begins("/page") => "page",
        _ => "other",
    }
}

async fn around(State(layers): State<Layers>, request: Request, next: Next) -> Response {
    let (start, door) = (Instant::now(), door(request.method(), request.uri().path()));
    let most = match door {
        "bulk" => None,
        "transit" | "privacy_pass" => Some(layers.batch_body_bytes),
        _ => Some(layers.body_bytes),
    };
    let response = match most {
        None => next.run(request).await,
        Some(most) if declared_length(&request).is_some_and(|length| length > most as u64) => {
            let text = format!("the body is longer than {most} octets\n");
            (StatusCode::PAYLOAD_TOO_LARGE, [(header::CONNECTION, "close")], text).into_response()
        }
        Some(most) => {
            let request = request.map(|body| Body::new(Limited::new(body, most)));
            match tokio::time::timeout(layers.timeout, next.run(request)).await {
                Ok(response) => response,
                Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the request took too long\n").into_response(),
            }
        }
    };
    layers.metrics.request(door, response.status().as_u16(), start.elapsed().as_secs_f64());
    response
}

fn declared_length(request: &Request) -> Option<u64> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_are_known_by_their_paths() {
        for (method, path, expected) in [
            (Method::POST, "/", "kms"),
            (Method::GET, "/", "page"),
            (Method::GET, "/page/data", "page"),
            (Method::GET, "/metrics", "service"),
            (Method::POST, "/v1/transit/sign/key", "transit"),
            (Method::POST, "/v12", "other"),
            (Method::POST, "/bulk/sign", "bulk"),
            (Method::POST, "/token-request", "privacy_pass"),
            (Method::GET, "/anything", "other"),
        ] {
            assert_eq!(door(&method, path), expected, "{method} {path}");
        }
    }
}
