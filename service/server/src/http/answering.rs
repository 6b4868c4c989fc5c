//! The trait of services that answer requests.

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use std::convert::Infallible;
use std::future::Future;
use tower_service::Service as _;

/// Answers requests.
pub(crate) trait Answering: Send + Sync + 'static {
    /// The answer to a request.
    fn answer(&self, request: Request) -> impl Future<Output = Response> + Send;
}

impl Answering for Router {
    async fn answer(&self, request: Request) -> Response {
        self.clone().call(request).await.unwrap_or_else(|never: Infallible| match never {})
    }
}
