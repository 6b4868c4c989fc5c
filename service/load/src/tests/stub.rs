//! A server that answers what the load generator asks for, and misbehaves on demand.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{any, get, post};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modmill::{Backend, Engine};
use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// How the server misbehaves. Numbers count signatures from 1; 0 means never.
#[derive(Default)]
pub(super) struct Behaviour {
    /// The time for each signature.
    pub(super) delay: Duration,
    /// One signature that takes longer.
    pub(super) stall: Option<(u64, Duration)>,
    pub(super) throttle_every: u64,
    pub(super) wrong_every: u64,
    pub(super) hang_every: u64,
}

struct Inner {
    behaviour: Behaviour,
    signatures: AtomicU64,
    seen: Mutex<HashMap<String, u64>>,
}

pub(super) struct Stub {
    pub(super) url: String,
    inner: Arc<Inner>,
}

struct Keys {
    engine: Engine,
    key: PrivateKey,
}

/// All tests have the same key.
fn keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| {
        let engine = Engine::builder().backend(Backend::Cpu).threads(1).build().unwrap();
        let key = PrivateKey::generate(&engine, 1024, Sizes::AllowSmall).unwrap();
        Keys { engine, key }
    })
}

fn sign(digests: &[&[u8]]) -> Vec<Vec<u8>> {
    let Keys { engine, key } = keys();
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let signatures = Rsa::new(engine).sign_digests(key, scheme, digests).unwrap();
    signatures.into_iter().collect::<Result<_, _>>().unwrap()
}

impl Stub {
    pub(super) async fn start(behaviour: Behaviour) -> Self {
        keys();
        let inner =
            Arc::new(Inner { behaviour, signatures: AtomicU64::new(0), seen: Mutex::new(HashMap::new()) });
        let router = Router::new()
            .route("/", post(kms))
            .route("/health", get(|| async { "fine" }))
            .route("/v1/transit/keys/{name}", any(transit_key))
            .route("/v1/transit/keys/{name}/config", post(|| async { StatusCode::NO_CONTENT }))
            .route("/v1/transit/sign/{name}", post(transit_sign))
            .route("/bulk/v1/sign", post(bulk))
            .with_state(Arc::clone(&inner));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, inner }
    }

    /// How often an operation of KMS was asked for.
    pub(super) fn seen(&self, operation: &str) -> u64 {
        self.inner.seen.lock().unwrap().get(operation).copied().unwrap_or(0)
    }
}

type Answer = (StatusCode, String);

fn fine(body: Value) -> Answer {
    (StatusCode::OK, body.to_string())
}

fn failure(kind: &str) -> Answer {
    (StatusCode::BAD_REQUEST, json!({ "__type": format!("com.amazonaws.kms#{kind}") }).to_string())
}

async fn kms(State(inner): State<Arc<Inner>>, headers: HeaderMap, body: Bytes) -> Answer {
    let target = headers["x-amz-target"].to_str().unwrap().trim_start_matches("TrentService.").to_owned();
    assert!(headers["authorization"].to_str().unwrap().starts_with("AWS4-HMAC-SHA256 Credential=AKIA/"));
    *inner.seen.lock().unwrap().entry(target.clone()).or_default() += 1;
    let body: Value = serde_json::from_slice(&body).unwrap();
    if body["KeyId"] == "missing" {
        return failure("NotFoundException");
    }
    match target.as_str() {
        "CreateKey" => fine(json!({ "KeyMetadata": { "KeyId": "key" } })),
        "GetPublicKey" => {
            fine(json!({ "PublicKey": STANDARD.encode(keys().key.public_key().to_der().unwrap()) }))
        }
        "Sign" => kms_sign(&inner, &body).await,
        "Verify" => fine(json!({ "SignatureValid": true })),
        // The stub keeps its secrets badly.
        "Encrypt" => fine(json!({ "CiphertextBlob": body["Plaintext"] })),
        "Decrypt" => fine(json!({ "Plaintext": body["CiphertextBlob"] })),
        "ScheduleKeyDeletion" => fine(json!({})),
        _ => failure("UnknownOperationException"),
    }
}

async fn kms_sign(inner: &Inner, body: &Value) -> Answer {
    let number = inner.signatures.fetch_add(1, Ordering::Relaxed) + 1;
    let Behaviour { delay, stall, throttle_every, wrong_every, hang_every } = &inner.behaviour;
    let is_turn = |every: &u64| *every > 0 && number.is_multiple_of(*every);
    if is_turn(hang_every) {
        std::future::pending::<()>().await;
    }
    let stall = stall.filter(|(at, _)| *at == number).map_or(Duration::ZERO, |(_, stall)| stall);
    tokio::time::sleep(*delay + stall).await;
    if is_turn(throttle_every) {
        return failure("ThrottlingException");
    }
    let digest = STANDARD.decode(body["Message"].as_str().unwrap()).unwrap();
    let mut signature = sign(&[&digest]).remove(0);
    if is_turn(wrong_every) {
        signature[3] ^= 1;
    }
    fine(json!({ "Signature": STANDARD.encode(signature) }))
}

async fn transit_key(Path(name): Path<String>, headers: HeaderMap) -> Answer {
    assert_eq!(headers["authorization"], "Bearer token");
    assert!(name.starts_with("modmill-load-"));
    let pem = keys().key.public_key().to_pem().unwrap();
    fine(json!({ "data": { "latest_version": 1, "keys": { "1": { "public_key": pem } } } }))
}

async fn transit_sign(Path(_): Path<String>, body: Bytes) -> Answer {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let items = body["batch_input"].as_array().unwrap().iter();
    let digests: Vec<Vec<u8>> =
        items.map(|item| STANDARD.decode(item["input"].as_str().unwrap()).unwrap()).collect();
    let digests: Vec<&[u8]> = digests.iter().map(Vec::as_slice).collect();
    let results: Vec<Value> = sign(&digests)
        .iter()
        .map(|signature| json!({ "signature": format!("vault:v1:{}", STANDARD.encode(signature)) }))
        .collect();
    fine(json!({ "data": { "batch_results": results } }))
}

async fn bulk(Query(query): Query<HashMap<String, String>>, body: Bytes) -> Vec<u8> {
    assert_eq!(query["scheme"], "pkcs1v15-sha256");
    let digests: Vec<&[u8]> = body.chunks_exact(32).collect();
    let count = u32::try_from(digests.len()).unwrap();
    [count.to_le_bytes().to_vec(), vec![0; digests.len()], sign(&digests).concat(), vec![0; 7]].concat()
}
