//! Requests of anybody. The fuzz targets use these functions too.

use axum::Router;
use axum::body::Body;
use http::{HeaderName, HeaderValue, Request, StatusCode};
use http_body_util::BodyExt;
use modmill::Engine;
use modmill_records::store::MemoryStore;
use modmill_records::{Records, Sealer};
use modmill_seal::SecretBytes;
use modmill_server::batch::Batcher;
use modmill_server::credentials::Right;
use modmill_server::kms::{IMPLEMENTED, Policy, REFUSED};
use modmill_server::privacy_pass::{IssuerSettings, issuer};
use modmill_server::service::Service;
use modmill_server::settings::Settings;
use modmill_server::sigv4::Signer;
use modmill_server::{credentials, run};
use std::sync::{Arc, OnceLock};
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// A service in memory, with a credential that has all rights.
struct Target {
    runtime: Runtime,
    router: Router,
    service: Arc<Service>,
    signer: Signer,
    token: String,
}

fn target() -> &'static Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let runtime = Runtime::new().expect("a runtime");
        let (service, signer, token) = runtime.block_on(async {
            let sealer = Sealer::new(&SecretBytes::random(32).expect("random bytes")).expect("a sealer");
            let records = Records::open(Arc::new(MemoryStore::default()), sealer, run::kinds());
            let batcher = Batcher::new(Engine::new().expect("an engine"));
            let service = Service::new(Settings::default(), records.await.expect("records"), batcher);
            let rights = [Right::Kms, Right::Transit, Right::Bulk, Right::Issue, Right::Watch].into();
            let made =
                credentials::create(&service.records, "anybody", rights, 0).await.expect("a credential");
            let (engine, clock) = (service.batcher.engine(), &service.clock);
            issuer::create(&service.records, engine, clock, None).await.expect("a key");
            let secret = SecretBytes::new(made.secret_access_key.as_bytes().to_vec().into());
            let signer = Signer::new(&made.access_key_id, secret, "us-east-1", "kms");
            (Arc::new(service), signer, made.token.to_string())
        });
        let router = run::routes(&service, IssuerSettings::default());
        Target { runtime, router, service, signer, token }
    })
}

impl Target {
    fn send(&self, request: Request<Body>) -> (StatusCode, Vec<u8>) {
        self.runtime.block_on(async {
            let answer = self.router.clone().oneshot(request).await.expect("routes always answer");
            let status = answer.status();
            // A body that ends early is the answer to a stream that ends early.
            (
                status,
                answer.into_body().collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default(),
            )
        })
    }
}

/// A signed KMS request: the first byte names the operation, the others are the body. Nothing is a failure of
/// the server, and every error has a name.
///
/// # Panics
/// If that does not hold.
pub(crate) fn kms(data: &[u8]) {
    let Some((first, body)) = data.split_first() else { return };
    let names: Vec<&str> = IMPLEMENTED.iter().chain(REFUSED.iter()).copied().collect();
    let name = names[usize::from(*first) % names.len()];
    let target = target();
    let request = Request::post("http://localhost/")
        .header("content-type", "application/x-amz-json-1.1")
        .header("x-amz-target", format!("TrentService.{name}"));
    let (mut parts, ()) = request.body(()).expect("a request").into_parts();
    let now_s = target.service.clock.now_ms() / 1000;
    target.signer.sign(&mut parts, body, now_s).expect("it can be signed");
    let (status, answer) = target.send(Request::from_parts(parts, Body::from(body.to_vec())));
    assert!(!status.is_server_error(), "{name}: {status}");
    assert!(
        status == StatusCode::OK || String::from_utf8_lossy(&answer).contains("__type"),
        "{name}: {status}"
    );
    if let Ok(text) = std::str::from_utf8(body) {
        let _ = Policy::parse(text);
    }
}

/// A KMS request with headers of anybody's choice, one for each line: it is refused.
///
/// # Panics
/// If it is not.
pub(crate) fn sigv4(data: &[u8]) {
    let mut request = Request::post("http://localhost/").body(Body::from("{}")).expect("a request");
    for line in data.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(&line[colon + 1..]);
        if let (Ok(name), Ok(value)) = (name, value) {
            request.headers_mut().append(name, value);
        }
    }
    let (status, _) = target().send(request);
    assert!(status.is_client_error(), "{status}");
}

/// The requests of the other doors: method and path are a line, the others are the body. Nothing is a failure
/// of the server.
///
/// # Panics
/// If something is.
pub(crate) fn doors(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let Ok(line) = std::str::from_utf8(&data[..end]) else { return };
    let (method, path) = line.split_once(' ').unwrap_or(("POST", line));
    let body = data.get(end + 1..).unwrap_or_default().to_vec();
    let target = target();
    let kind = match path.split('?').next() {
        Some("/token-request") => "application/private-token-request",
        Some("/bulk/v1/sign") => "application/x-modmill-digests",
        _ => "application/json",
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("x-vault-token", &target.token)
        .header("authorization", format!("Bearer {}", target.token))
        .header("content-type", kind)
        .body(Body::from(body));
    let Ok(request) = request else { return };
    let (status, _) = target.send(request);
    // Vault has 501 and 503 for servers that are not initialised or sealed, and 500 for nothing.
    assert!(status != StatusCode::INTERNAL_SERVER_ERROR, "{method} {path}: {status}");
}
