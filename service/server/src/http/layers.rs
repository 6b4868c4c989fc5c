//! The layers that every request passes through: limits of its body and its time, and figures.

use super::answering::Answering;
use crate::metrics::Metrics;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode, header};
use http_body_util::Limited;
use hyper::body::Body as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The limits of requests.
#[derive(Clone)]
pub(crate) struct Layers {
    /// The most bytes of a small request's body.
    pub body_bytes: usize,
    /// The most bytes of a batch's body.
    pub batch_body_bytes: usize,
    /// The time until an answer begins. Doors answer in their own words before that.
    pub timeout: Duration,
    /// Figures.
    pub metrics: Arc<Metrics>,
}

/// Doors with limits and figures around them.
pub(crate) struct Layered<A> {
    doors: A,
    layers: Layers,
}

/// These doors with limits and figures.
pub(crate) fn layered<A: Answering>(doors: A, layers: Layers) -> Layered<A> {
    Layered { doors, layers }
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

impl<A: Answering> Answering for Layered<A> {
    async fn answer(&self, request: Request) -> Response {
        let Self { doors, layers } = self;
        let (start, door) = (Instant::now(), door(request.method(), request.uri().path()));
        let is_nameless = !request.headers().contains_key(header::AUTHORIZATION);
        let most = match door {
            "bulk" => None,
            "transit" | "privacy_pass" => Some(layers.batch_body_bytes),
            _ => Some(layers.body_bytes),
        };
        let response = match (most, declared_length(&request)) {
            (None, _) => doors.answer(request).await,
            (Some(most), Some(length)) if length > most as u64 => {
                let text = format!("the body is longer than {most} octets\n");
                (StatusCode::PAYLOAD_TOO_LARGE, [(header::CONNECTION, "close")], text).into_response()
            }
            (Some(most), declared) => {
                // A body has the length that its head declares.
                let request = match declared {
                    Some(_) => request,
                    None => request.map(|body| Body::new(Limited::new(body, most))),
                };
                match tokio::time::timeout(layers.timeout, doors.answer(request)).await {
                    Ok(response) => response,
                    Err(_) => {
                        (StatusCode::SERVICE_UNAVAILABLE, "the request took too long\n").into_response()
                    }
                }
            }
        };
        let status = response.status();
        // A browser that opens the page is asked for a password in this way.
        let is_question = door == "page" && is_nameless && status == StatusCode::UNAUTHORIZED;
        let is_error = status.as_u16() >= 400 && !is_question;
        layers.metrics.request(door, status.as_u16(), is_error, start.elapsed().as_secs_f64());
        response
    }
}

/// The length of a body, but not of one in chunks, whatever its head says.
fn declared_length(request: &Request) -> Option<u64> {
    request.body().size_hint().exact()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::routing::get;

    #[tokio::test]
    async fn a_page_that_asks_for_a_password_is_no_error() {
        let metrics = Arc::new(Metrics::default());
        let layers = Layers {
            body_bytes: 1,
            batch_body_bytes: 1,
            timeout: Duration::from_secs(60),
            metrics: Arc::clone(&metrics),
        };
        let router = layered(Router::new().route("/", get(|| async { StatusCode::UNAUTHORIZED })), layers);
        for authorization in [None, None, Some("Basic eDp5")] {
            let mut request = Request::get("/");
            if let Some(authorization) = authorization {
                request = request.header(header::AUTHORIZATION, authorization);
            }
            router.answer(request.body(Body::empty()).unwrap()).await;
        }
        assert!(metrics.text().contains(r#"modmill_http_requests_total{door="page",status="401"} 3"#));
        // A second is shown when it is over.
        tokio::time::sleep(Duration::from_millis(1100)).await;
        let seconds = metrics.history().snapshot(900).seconds;
        assert_eq!(seconds.iter().filter_map(|second| second.errors.get("page")).sum::<u64>(), 1);
    }

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
