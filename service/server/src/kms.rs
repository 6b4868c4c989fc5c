//! The interface of AWS KMS: JSON 1.1 over `POST /`, signed with SigV4.
//!
//! ```text
//!  request -> limits -> sigv4 -> operation -> rights -> state and usage -> batcher -> answer
//! ```

mod call;
mod codec;
mod documents;
mod error;
mod fields;
mod memory;
mod names;
mod operation;
mod ops;
mod paging;
mod policy;
mod refusals;
mod rights;
mod ring;
mod sealed;
mod sweep;
#[cfg(test)]
mod tests;
mod uses;

pub use codec::{Blob, Codec, Encoded, Time};
pub use documents::{
    Alias, Grant, ImportToken, KeyRecord, KeyState, KeyUse, Material, Origin, Spec, Usage, kinds,
};
pub use error::KmsError;
pub use memory::Kms;
pub use operation::{IMPLEMENTED, REFUSED};
pub use policy::{Facts, Policy, Question, Verdict};
pub use rights::{Asker, Decision};
pub use ring::KmsRing;
pub use sweep::sweep;

use crate::body::Holder;
use crate::credentials::Principal;
use crate::door;
use crate::http::Peer;
use crate::service::Service;
use crate::sigv4::{Expected, Head, Sender};
use crate::uuid;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use call::Call;
use http::{Request, StatusCode};
use std::sync::Arc;

/// The longest body of a request, in bytes. The parsers of this interface were written for no more.
pub(crate) const LONGEST_BODY: usize = 1 << 20;

/// The routes of the interface.
pub fn router(service: Arc<Service>) -> Router {
    Router::new().route("/", post(handle)).fallback(elsewhere).with_state(service)
}

/// The answer to requests whose path no interface has. Clients of KMS, whose address was given a path, are
/// told in their own form.
async fn elsewhere(request: Request<Body>) -> Response {
    if !request.headers().contains_key("x-amz-target") {
        return (StatusCode::NOT_FOUND, "there is nothing at this path\n").into_response();
    }
    let message = format!("KMS is at the path /, and not at {}.", request.uri().path());
    let error = KmsError::new("UnknownOperationException", message).with_status(StatusCode::NOT_FOUND);
    Codec::Json.response(&uuid::of_request(), Err(error))
}

async fn handle(State(service): State<Arc<Service>>, request: Request<Body>) -> Response {
    serve(service, request).await
}

/// The answer to a request at the path `/`.
pub(crate) async fn serve(service: Arc<Service>, request: Request<Body>) -> Response {
    let request_id = uuid::of_request();
    let answer = answer(service, &request_id, request).await;
    Codec::Json.response(&request_id, answer)
}

async fn answer(
    service: Arc<Service>,
    request_id: &Arc<str>,
    request: Request<Body>,
) -> Result<Encoded, KmsError> {
    let deadline = door::deadline(&service);
    let Known { principal, operation, body, now_ms } = known(&service, request).await?;
    let call = Call::new(service, principal, operation, Arc::clone(request_id), now_ms, deadline);
    operation::run(call, body).await
}

/// A request whose sender is known.
struct Known {
    principal: Arc<Principal>,
    operation: &'static str,
    body: Bytes,
    /// The time at which its signature was verified, in milliseconds since 1970.
    now_ms: u64,
}

/// Reads the body of a request and verifies its signature. Nothing of the head is kept: it is in the memory
/// that the connection reads its next request into.
async fn known(service: &Service, request: Request<Body>) -> Result<Known, KmsError> {
    let (parts, body) = request.into_parts();
    let expected = |now_ms: u64| Expected {
        region: &service.settings.region,
        service: "kms",
        now_s: now_ms / 1000,
        skew_s: service.settings.skew_s,
        signed: &["x-amz-target", "x-amz-date"],
    };
    // A head that names the hash of its body is verified before the body is read. Of another one all is
    // checked that can be checked without the body, and its sender is not proven until then.
    let verifier = &service.kms.verifier;
    let head = verifier.head(&service.records, &parts, &expected(service.clock.now_ms()));
    let holder = |head: &Head<'_>| match head.sender() {
        Sender::Proven(principal) => Holder::of(principal, &parts),
        Sender::Named(access_key_id) => Holder::unproven(access_key_id, &parts),
    };
    let head = head.map_err(KmsError::from);
    let (head, body) = service.bodies.read_if(head, holder, &parts, body, LONGEST_BODY).await?;
    let now_ms = service.clock.now_ms();
    let principal = verifier.body(&head, &service.records, &body, &expected(now_ms))?;
    Peer::of(&parts.extensions).into_iter().for_each(Peer::prove);
    service.limits.check(&principal).map_err(|_| KmsError::throttling())?;
    let target = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    let operation = operation::find(target.unwrap_or_default())?;
    Ok(Known { principal, operation, body, now_ms })
}
