//! The vectors that AWS publishes, and requests that botocore signed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use modmill_records::store::MemoryStore;
use modmill_records::{Changes, Kinds, Records, RecordsError, Sealer};
use modmill_seal::SecretBytes;
use modmill_server::credentials::Credential;
use modmill_server::sigv4::{Canonical, Expected, Signer, Verifier, canonical_request, time_of};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Deserialize)]
struct Suite {
    access_key_id: String,
    secret_access_key: String,
    region: String,
    service: String,
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    request: String,
    canonical: String,
    string_to_sign: String,
    authorization: String,
}

/// A request as text: method, path, query, headers, body.
struct Parsed<'a> {
    method: &'a str,
    path: &'a str,
    query: &'a str,
    headers: HeaderMap,
    body: &'a str,
}

fn parse(text: &str) -> Parsed<'_> {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let (first, headers) = head.split_once('\n').unwrap();
    let (method, target) = first.strip_suffix(" HTTP/1.1").unwrap().split_once(' ').unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut map = HeaderMap::new();
    for line in headers.lines() {
        let (name, value) = line.split_once(':').unwrap();
        map.append(HeaderName::try_from(name).unwrap(), HeaderValue::try_from(value).unwrap());
    }
    Parsed { method, path, query, headers: map, body }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn suite() -> Suite {
    serde_json::from_str(include_str!("vectors/aws-sig-v4-test-suite.json")).unwrap()
}

/// The first has a header on several lines, which today's HTTP does not have. The second signs a header that
/// it does not have.
const LEFT_OUT: [&str; 2] = ["get-header-value-multiline", "get-vanilla-with-session-token"];

#[test]
fn canonical_requests_are_those_of_the_suite() {
    let mut checked = 0;
    for vector in suite().vectors.iter().filter(|vector| !LEFT_OUT.contains(&vector.name.as_str())) {
        let Parsed { method, path, query, headers, body } = parse(&vector.request);
        let signed_headers =
            vector.authorization.split("SignedHeaders=").nth(1).unwrap().split(',').next().unwrap();
        let payload_hash = &hex(&Sha256::digest(body));
        let canonical = canonical_request(&Canonical {
            method,
            path,
            query,
            headers: &headers,
            host: None,
            signed_headers,
            payload_hash,
        })
        .unwrap();
        assert_eq!(String::from_utf8(canonical.clone()).unwrap(), vector.canonical, "{}", vector.name);
        let hash = vector.string_to_sign.lines().last().unwrap();
        assert_eq!(hex(&Sha256::digest(&canonical)), hash, "{}", vector.name);
        checked += 1;
    }
    assert!(checked >= 30, "{checked} vectors");
}

#[test]
fn signatures_are_those_of_the_suite() {
    let suite = suite();
    let secret = SecretBytes::new(suite.secret_access_key.into_bytes().into());
    let signer = Signer::new(&suite.access_key_id, secret, &suite.region, &suite.service);
    let mut checked = 0;
    for vector in suite.vectors.iter().filter(|vector| !LEFT_OUT.contains(&vector.name.as_str())) {
        let parsed = parse(&vector.request);
        let mut builder = Request::builder().method(parsed.method);
        builder = builder.uri(format!("{}?{}", parsed.path, parsed.query).trim_end_matches('?'));
        // Spaces and characters beyond ASCII cannot be in a request's address.
        let Ok(request) = builder.body(()) else { continue };
        let now_s = time_of(parsed.headers["x-amz-date"].to_str().unwrap()).unwrap();
        let (mut parts, ()) = request.into_parts();
        parts.headers = parsed.headers;
        // The suite adds the token after signing in this one.
        if vector.name == "post-sts-header-after" {
            parts.headers.remove("x-amz-security-token");
        }
        signer.sign(&mut parts, parsed.body.as_bytes(), now_s).unwrap();
        assert_eq!(parts.headers["authorization"], vector.authorization, "{}", vector.name);
        checked += 1;
    }
    assert!(checked >= 25, "{checked} vectors");
}

#[derive(Deserialize)]
struct Signed {
    access_key_id: String,
    secret_access_key: String,
    region: String,
    service: String,
    requests: Vec<SignedRequest>,
}

#[derive(Deserialize)]
struct SignedRequest {
    method: String,
    target: String,
    headers: BTreeMap<String, String>,
    body: String,
}

/// Runs with the requests of `clients/sigv4_requests.py`.
#[tokio::test]
async fn requests_of_botocore_verify() {
    let Some(file) = std::env::var_os("MODMILL_BOTOCORE_REQUESTS") else { return };
    let signed: Signed = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let sealer = Sealer::new(&SecretBytes::random(32).unwrap()).unwrap();
    let kinds = Kinds::default().with::<Credential>();
    let records = Records::open(Arc::new(MemoryStore::default()), sealer, kinds).await.unwrap();
    let credential = Credential {
        access_key_id: signed.access_key_id,
        secret_access_key: SecretBytes::new(signed.secret_access_key.into_bytes().into()),
        token_hash: [0; 32],
        name: "botocore".into(),
        rights: BTreeSet::new(),
        created_ms: 0,
    };
    records.change(|_| Ok::<_, RecordsError>((Changes::new().put(&credential), ()))).await.unwrap();
    let verifier = Verifier::default();
    assert!(!signed.requests.is_empty());
    for request in &signed.requests {
        let mut builder = Request::builder().method(request.method.as_str()).uri(&request.target);
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        let (mut parts, ()) = builder.body(()).unwrap().into_parts();
        let mut body = STANDARD.decode(&request.body).unwrap();
        let expected = Expected {
            region: &signed.region,
            service: &signed.service,
            now_s: time_of(parts.headers["x-amz-date"].to_str().unwrap()).unwrap(),
            skew_s: 300,
            signed: &["x-amz-target"],
        };
        let principal = verifier.verify(&records, &parts, &body, &expected);
        assert_eq!(principal.unwrap().name, "botocore", "{} {}", request.method, request.target);
        body.push(b' ');
        assert!(verifier.verify(&records, &parts, &body, &expected).is_err());
        body.pop();
        parts.headers.insert("x-amz-target", HeaderValue::from_static("TrentService.Decrypt"));
        assert!(verifier.verify(&records, &parts, &body, &expected).is_err());
    }
}
