//! A service in memory, and requests to it.

use crate::audit::{Audit, AuditSettings};
use crate::batch::{BatchSettings, Batcher};
use crate::clock::Clock;
use crate::credentials::{Credential, Right};
use crate::records::{Changes, Kinds, Records, RecordsError, Sealer};
use crate::secret::SecretBytes;
use crate::service::Service;
use crate::settings::Settings;
use crate::store::MemoryStore;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use bytes::Bytes;
use http_body_util::BodyExt;
use modmill::Engine;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::sync::Arc;
use tower::ServiceExt;

/// The token of the credential that has all rights.
pub(crate) const TOKEN: &str = "token-of-everything";
/// The token of a credential without rights.
pub(crate) const WEAK: &str = "token-of-nothing";

/// A service with the two credentials.
pub(crate) async fn service(kinds: fn(Kinds) -> Kinds) -> Arc<Service> {
    let sealer = Sealer::new(&SecretBytes::random(32).expect("random bytes")).expect("a sealer");
    let kinds = kinds(Kinds::default().with::<Credential>());
    let records = Records::open(Arc::new(MemoryStore::default()), sealer, kinds).await.expect("records");
    let credential = |id: &str, token: &str, rights: &[Right]| Credential {
        access_key_id: id.into(),
        secret_access_key: SecretBytes::random(30).expect("random bytes"),
        token_hash: Sha256::digest(token).into(),
        name: format!("name-{id}"),
        rights: rights.iter().copied().collect(),
        created_ms: 0,
    };
    let strong = credential("A", TOKEN, &[Right::Transit, Right::Bulk, Right::Issue]);
    let weak = credential("B", WEAK, &[]);
    records
        .change(|_| Ok::<_, RecordsError>((Changes::new().put(&strong).put(&weak), ())))
        .await
        .expect("credentials");
    let engine = Engine::new().expect("an engine");
    let batcher = Batcher::new(engine);
    Arc::new(Service::new(Settings::default(), records, batcher))
}

/// A batcher whose audit log is in `folder`.
pub(crate) fn audited(folder: &Path) -> Batcher {
    let audit = Audit::open(folder, &AuditSettings::default(), Clock::default()).expect("a log");
    let engine = Arc::new(Engine::new().expect("an engine"));
    Batcher::start(engine, BatchSettings::default(), Some(Arc::new(audit)), Arc::default())
        .expect("a batcher")
}

/// The lines of the audit log in `folder`.
pub(crate) fn audit_lines(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("audit-00000001.jsonl")).expect("a log");
    text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect()
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {:?}", self.body))
    }
}

/// Sends a request with `token` and `headers` and reads the whole answer.
pub(crate) async fn send(
    router: &Router,
    method: &str,
    uri: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Answer {
    let mut request =
        Request::builder().method(Method::from_bytes(method.as_bytes()).expect("a method")).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.into()).expect("a request");
    let response = router.clone().oneshot(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    Answer { status: parts.status, headers: parts.headers, body }
}
