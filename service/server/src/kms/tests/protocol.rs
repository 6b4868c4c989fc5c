use super::bench::{ADMIN, Bench};
use crate::body::Bodies;
use crate::kms::{IMPLEMENTED, REFUSED};
use crate::records::{Changes, RecordsError};
use crate::secret::SecretBytes;
use crate::sigv4::Signer;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use serde_json::json;
use std::sync::Arc;

const BODY: &[u8] = b"{}";

async fn error(bench: &Bench, parts: Parts) -> (String, String) {
    bench.ask(parts, BODY.to_vec()).await.unwrap_err()
}

#[tokio::test]
async fn requests_without_a_right_signature_are_refused() {
    let bench = Bench::new().await;
    let signed = || bench.signed(ADMIN, "ListKeys", BODY);
    bench.ask(signed(), BODY.to_vec()).await.unwrap();
    let changed = |name: &'static str, value: &str| {
        let mut parts = signed();
        parts.headers.insert(name, HeaderValue::from_str(value).unwrap());
        parts
    };
    let authorization = signed().headers["authorization"].to_str().unwrap().to_owned();
    let rewritten = |from: &str, to: &str| changed("authorization", &authorization.replace(from, to));
    let mut unsigned = signed();
    unsigned.headers.remove("authorization");
    let mut timeless = signed();
    timeless.headers.remove("x-amz-date");
    for (parts, name) in [
        (unsigned, "MissingAuthenticationTokenException"),
        (timeless, "IncompleteSignatureException"),
        (changed("authorization", "Basic YTpi"), "IncompleteSignatureException"),
        (changed("x-amz-date", "yesterday"), "IncompleteSignatureException"),
        (changed("x-amz-security-token", "token"), "UnrecognizedClientException"),
        (rewritten("AKIAADMIN", "AKIANOBODY"), "UnrecognizedClientException"),
        (rewritten("AKIAADMIN", "AKIAALICE"), "InvalidSignatureException"),
        (rewritten("us-east-1", "eu-west-1"), "InvalidSignatureException"),
        (rewritten("/kms/", "/s3/"), "InvalidSignatureException"),
        (rewritten("host;", ""), "InvalidSignatureException"),
        (rewritten(";x-amz-target", ""), "InvalidSignatureException"),
        (rewritten("SignedHeaders=", "SignedHeaders=none;"), "IncompleteSignatureException"),
        (changed("x-amz-target", "TrentService.CreateKey"), "InvalidSignatureException"),
        (changed("host", "localhost"), "InvalidSignatureException"),
        (changed("content-type", "application/json"), "InvalidSignatureException"),
        (changed("x-amz-content-sha256", "UNSIGNED-PAYLOAD"), "InvalidSignatureException"),
    ] {
        assert_eq!(error(&bench, parts).await.0, name, "{authorization}");
    }
    let (_, message) = error(&bench, rewritten("us-east-1", "eu-west-1")).await;
    assert!(
        message.starts_with("Credential should be scoped to a valid region, not 'eu-west-1'."),
        "{message}"
    );
    assert!(message.contains("'us-east-1'"), "{message}");
    let tampered = bench.ask(signed(), b"{ }".to_vec()).await.unwrap_err();
    assert_eq!(tampered.0, "InvalidSignatureException");
}

#[tokio::test]
async fn signatures_are_of_now() {
    let bench = Bench::new().await;
    let parts = bench.signed(ADMIN, "ListKeys", BODY);
    bench.wait_s(295);
    // A second request with the same signature is taken, as AWS takes it.
    bench.ask(parts.clone(), BODY.to_vec()).await.unwrap();
    bench.wait_s(10);
    let (name, message) = error(&bench, parts).await;
    assert_eq!(name, "InvalidSignatureException");
    assert!(message.starts_with("Signature expired: "), "{message}");
    let parts = bench.signed(ADMIN, "ListKeys", BODY);
    bench.wait_s(-305);
    assert!(error(&bench, parts).await.1.starts_with("Signature not yet current: "));
}

#[tokio::test]
async fn a_new_secret_or_none_takes_effect_at_once() {
    let bench = Bench::new().await;
    let signed = || bench.signed(ADMIN, "ListKeys", BODY);
    bench.ask(signed(), BODY.to_vec()).await.unwrap();
    let records = &bench.service.records;
    let mut credential = crate::credentials::Credential::clone(&records.get("AKIAADMIN").unwrap());
    credential.secret_access_key = SecretBytes::random(40).unwrap();
    records.change(|_| Ok::<_, RecordsError>((Changes::new().put(&credential), ()))).await.unwrap();
    assert_eq!(error(&bench, signed()).await.0, "InvalidSignatureException");
    let delete = || Changes::new().delete::<crate::credentials::Credential>("AKIAADMIN");
    records.change(|_| Ok::<_, RecordsError>((delete(), ()))).await.unwrap();
    assert_eq!(error(&bench, signed()).await.0, "UnrecognizedClientException");
}

#[tokio::test]
async fn requests_may_be_signed_by_date_and_with_other_headers() {
    let bench = Bench::new().await;
    let (mut parts, ()) = http::Request::post("http://h/").body(()).unwrap().into_parts();
    parts.headers.insert("x-amz-target", HeaderValue::from_static("TrentService.ListKeys"));
    parts.headers.insert("amz-sdk-request", HeaderValue::from_static("attempt=1;   max=3"));
    let secret = SecretBytes::new(format!("the secret access key of {ADMIN}").into_bytes().into());
    let signer = Signer::new("AKIAADMIN", secret, "us-east-1", "kms");
    signer.sign(&mut parts, BODY, bench.now_s()).unwrap();
    // HTTP/2 has the host in the address.
    parts.headers.remove("host");
    bench.ask(parts, BODY.to_vec()).await.unwrap();
}

#[tokio::test]
async fn bodies_are_limited_and_read_carefully() {
    let bench = Bench::new().await;
    let large = vec![b' '; (1 << 20) + 1];
    // The limit comes before the signature.
    let (status, _) = bench.send(bench.signed(ADMIN, "ListKeys", b""), large).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
    let deep_member = [br#"{"Other":"#.as_slice(), &deep, b"}"].concat();
    for body in [
        &deep[..],
        &deep_member,
        b"[]",
        b"7",
        b"{",
        b"\xff",
        br#"{"Limit": "a"}"#,
        br#"{"Limit":1,"Limit":1}"#,
    ] {
        let answer = bench.ask(bench.signed(ADMIN, "ListKeys", body), body.to_vec()).await;
        assert_eq!(answer.unwrap_err().0, "SerializationException");
    }
    for body in [&b""[..], b"{}", br#"{"Unknown": [1]}"#] {
        bench.ask(bench.signed(ADMIN, "ListKeys", body), body.to_vec()).await.unwrap();
    }
}

#[tokio::test]
async fn bodies_share_memory_that_strangers_have_no_part_of() {
    let mut bench = Bench::new().await;
    Arc::get_mut(&mut bench.service).unwrap().bodies = Arc::new(Bodies::new(8));
    let long = b"{        }".to_vec();
    let signed = || bench.signed(ADMIN, "ListKeys", &long);
    assert_eq!(bench.ask(signed(), long.clone()).await.unwrap_err().0, "ThrottlingException");
    let mut stranger = signed();
    let authorization =
        stranger.headers["authorization"].to_str().unwrap().replace("AKIAADMIN", "AKIANOBODY");
    stranger.headers.insert("authorization", HeaderValue::from_str(&authorization).unwrap());
    assert_eq!(bench.ask(stranger, long.clone()).await.unwrap_err().0, "UnrecognizedClientException");
    bench.wait_s(-1000);
    let early = bench.signed(ADMIN, "ListKeys", &long);
    bench.wait_s(1000);
    assert_eq!(bench.ask(early, long.clone()).await.unwrap_err().0, "InvalidSignatureException");
    assert_eq!(bench.service.bodies.held(), 0);
    bench.ask(bench.signed(ADMIN, "ListKeys", BODY), BODY.to_vec()).await.unwrap();
    assert_eq!(bench.service.bodies.held(), 0);
}

#[tokio::test]
async fn every_operation_of_aws_is_known() {
    let bench = Bench::new().await;
    for operation in REFUSED {
        let error = bench.call(operation, json!({})).await.unwrap_err();
        assert_eq!(error.0, "UnsupportedOperationException", "{operation}");
    }
    for operation in IMPLEMENTED {
        if let Err((name, _)) = bench.call(operation, json!({})).await {
            assert_eq!(name, "ValidationException", "{operation}");
        }
    }
    for operation in ["Nothing", "", "sign", "Sign "] {
        assert_eq!(bench.fails(operation, json!({})).await, "UnknownOperationException");
    }
    assert_eq!(IMPLEMENTED.len() + REFUSED.len(), 56);
}

#[tokio::test]
async fn other_methods_and_paths_are_not_of_this_interface() {
    let bench = Bench::new().await;
    let mut parts = bench.signed(ADMIN, "ListKeys", BODY);
    parts.method = http::Method::GET;
    assert_eq!(bench.send(parts, BODY.to_vec()).await.0, StatusCode::METHOD_NOT_ALLOWED);
    let mut parts = bench.signed(ADMIN, "ListKeys", BODY);
    parts.uri = "/other".parse().unwrap();
    assert_eq!(bench.send(parts.clone(), BODY.to_vec()).await.0, StatusCode::NOT_FOUND);
    let (name, message) = bench.ask(parts, BODY.to_vec()).await.unwrap_err();
    assert_eq!(name, "UnknownOperationException");
    assert_eq!(message, "KMS is at the path /, and not at /other.");
}
