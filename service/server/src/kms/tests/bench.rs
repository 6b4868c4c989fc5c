//! A service in memory, and clients that sign their requests.

use crate::batch::Batcher;
use crate::credentials::{Credential, Right};
use crate::kms;
use crate::records::{Changes, Kinds, Records, RecordsError, Sealer};
use crate::secret::SecretBytes;
use crate::service::Service;
use crate::settings::Settings;
use crate::sigv4::Signer;
use crate::store::MemoryStore;
use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use modmill::Engine;
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;

pub(super) const ACCOUNT: &str = "000000000000";

/// The answer, or the name of the error and its message.
pub(super) type Answer = Result<Value, (String, String)>;

pub(super) struct Bench {
    pub(super) service: Arc<Service>,
}

/// Has every right.
pub(super) const ADMIN: &str = "admin";
/// Has no right of its own.
pub(super) const ALICE: &str = "alice";

pub(super) fn arn(name: &str) -> String {
    format!("arn:aws:iam::{ACCOUNT}:user/{name}")
}

fn secret(name: &str) -> SecretBytes {
    SecretBytes::new(format!("the secret access key of {name}").into_bytes().into())
}

impl Bench {
    pub(super) async fn new() -> Self {
        let sealer = Sealer::new(&SecretBytes::random(32).unwrap()).unwrap();
        let kinds = kms::kinds(Kinds::default()).with::<Credential>();
        let records = Records::open(Arc::new(MemoryStore::default()), sealer, kinds).await.unwrap();
        let credential = |name: &str, rights: &[Right]| Credential {
            access_key_id: format!("AKIA{}", name.to_uppercase()),
            secret_access_key: secret(name),
            token_hash: [0; 32],
            name: name.to_owned(),
            rights: rights.iter().copied().collect(),
            created_ms: 0,
        };
        let (admin, alice) = (credential(ADMIN, &[Right::Kms]), credential(ALICE, &[]));
        let changes = || Changes::new().put(&admin).put(&alice);
        records.change(|_| Ok::<_, RecordsError>((changes(), ()))).await.unwrap();
        let batcher = Batcher::new(Engine::new().unwrap());
        Self { service: Arc::new(Service::new(Settings::default(), records, batcher)) }
    }

    pub(super) fn now_s(&self) -> u64 {
        self.service.clock.now_ms() / 1000
    }

    /// Moves the clock forward by `seconds`.
    pub(super) fn wait_s(&self, seconds: i64) {
        self.service.clock.move_by(seconds * 1000);
    }

    /// The head of a signed request.
    pub(super) fn signed(&self, who: &str, operation: &str, body: &[u8]) -> Parts {
        let request = Request::post("/")
            .header("host", "localhost:8443")
            .header("content-type", "application/x-amz-json-1.1")
            .header("x-amz-target", format!("TrentService.{operation}"))
            .body(())
            .unwrap();
        let (mut parts, ()) = request.into_parts();
        let signer = Signer::new(&format!("AKIA{}", who.to_uppercase()), secret(who), "us-east-1", "kms");
        signer.sign(&mut parts, body, self.now_s()).unwrap();
        parts
    }

    /// Sends a request, whatever it is.
    pub(super) async fn send(&self, parts: Parts, body: Vec<u8>) -> (StatusCode, Response<Vec<u8>>) {
        let request = Request::from_parts(parts, Body::from(body));
        let response = kms::router(Arc::clone(&self.service)).oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        (head.status, Response::from_parts(head, body))
    }

    /// Sends a request and reads its answer.
    pub(super) async fn ask(&self, parts: Parts, body: Vec<u8>) -> Answer {
        let (status, response) = self.send(parts, body).await;
        assert_eq!(response.headers()["content-type"], "application/x-amz-json-1.1");
        assert_eq!(response.headers()["x-amzn-requestid"].len(), 36);
        let body = response.into_body();
        let value = if body.is_empty() { json!({}) } else { serde_json::from_slice(&body).unwrap() };
        if status.is_success() {
            return Ok(value);
        }
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Err((text("__type"), text("message")))
    }

    /// One operation of `who`.
    pub(super) async fn of(&self, who: &str, operation: &str, request: Value) -> Answer {
        let body = request.to_string().into_bytes();
        self.ask(self.signed(who, operation, &body), body).await
    }

    /// One operation of the administrator.
    pub(super) async fn call(&self, operation: &str, request: Value) -> Answer {
        self.of(ADMIN, operation, request).await
    }

    /// One operation of the administrator that succeeds.
    pub(super) async fn ok(&self, operation: &str, request: Value) -> Value {
        self.call(operation, request.clone())
            .await
            .unwrap_or_else(|error| panic!("{operation} {request}: {error:?}"))
    }

    /// The error of an operation of the administrator.
    pub(super) async fn fails(&self, operation: &str, request: Value) -> String {
        match self.call(operation, request.clone()).await {
            Ok(answer) => panic!("{operation} {request}: {answer}"),
            Err((name, _)) => name,
        }
    }

    /// A new key's identifier.
    pub(super) async fn key(&self, spec: &str, usage: &str) -> String {
        let answer = self.ok("CreateKey", json!({"KeySpec": spec, "KeyUsage": usage})).await;
        text(&answer["KeyMetadata"]["KeyId"])
    }

    /// A new RSA key for signatures.
    pub(super) async fn signing_key(&self) -> String {
        self.key("RSA_2048", "SIGN_VERIFY").await
    }

    /// A new symmetric key.
    pub(super) async fn symmetric_key(&self) -> String {
        self.key("SYMMETRIC_DEFAULT", "ENCRYPT_DECRYPT").await
    }
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

pub(super) fn b64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn bytes(value: &Value) -> Vec<u8> {
    STANDARD.decode(value.as_str().unwrap()).unwrap()
}

pub(super) fn key_arn(id: &str) -> String {
    format!("arn:aws:kms:us-east-1:{ACCOUNT}:key/{id}")
}
