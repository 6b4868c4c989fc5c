//! `/health`, `/ready` and `/metrics`.

use crate::credentials::Right;
use crate::door;
use crate::log;
use crate::service::Service;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::{HeaderMap, StatusCode, header};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The routes that say how the service is.
pub(crate) fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/health", get(|| async { "ok\n" }))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .with_state(service)
}

/// Whether requests can be served, and if not, why: a load balancer sends them elsewhere then.
async fn ready(State(service): State<Arc<Service>>) -> Response {
    // A database that restarts is no reason to stop: keys in memory sign without it.
    let stale = Duration::from_secs(service.settings.stale_s);
    let store = service.records.trouble();
    let is_fresh = store.as_ref().is_none_or(|trouble| trouble.since.elapsed() < stale);
    let audit = service.batcher.audit().is_none_or(|audit| audit.is_writable());
    let (batcher, kernels) = (
        service.batcher.is_ready() && !service.is_draining.load(Ordering::Acquire),
        service.is_warm.load(Ordering::Acquire),
    );
    let state = |is_good: bool, problem: &str| if is_good { "ok".to_owned() } else { problem.to_owned() };
    // Lines that are lost are no reason to send requests elsewhere.
    let is_ready = is_fresh && audit && batcher && kernels;
    let body = json!({
        "ready": is_ready,
        "store": store.map_or_else(|| "ok".to_owned(), |trouble| trouble.reason),
        "audit": state(audit, "the log cannot be written"),
        "batcher": state(batcher, "shutting down"),
        "kernels": state(kernels, "being compiled"),
        "log": match log::lost() {
            0 => "ok".to_owned(),
            lines => format!("{lines} lines could not be written"),
        },
    });
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(body)).into_response()
}

async fn metrics(State(service): State<Arc<Service>>, headers: HeaderMap) -> Response {
    if !service.metrics_are_open && door::authenticate(&service, &headers, Right::Watch).is_err() {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge, "a token with the right to watch is needed\n")
            .into_response();
    }
    let (calls, waiting) = service.batcher.depth();
    service.metrics.queue(calls, waiting.as_secs_f64());
    let kind = [(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")];
    (kind, service.metrics.text()).into_response()
}
