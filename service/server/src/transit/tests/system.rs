use super::{Client, base64};
use crate::body::Bodies;
use crate::door::testing::{TOKEN, WEAK, send, service};
use crate::transit;
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn only_the_right_token_opens() {
    let client = Client::new().await;
    let bearer = format!("Bearer {TOKEN}");
    for (headers, status) in [
        (vec![], 403),
        (vec![("x-vault-token", "guess")], 403),
        (vec![("x-vault-token", WEAK)], 403),
        (vec![("x-vault-token", TOKEN)], 200),
        (vec![("authorization", bearer.as_str())], 200),
    ] {
        for path in ["transit/keys/k", "auth/token/lookup-self", "sys/mounts"] {
            let answer = send(&client.0, "GET", &format!("/v1/{path}"), &headers, "").await;
            assert_eq!(answer.status, status, "{path} {headers:?}");
            if status == 403 {
                assert_eq!(answer.json(), json!({ "errors": ["permission denied"] }));
            }
        }
    }
}

#[tokio::test]
async fn clients_find_what_they_ask_for_first() {
    let client = Client::new().await;
    let health = send(&client.0, "GET", "/v1/sys/health", &[], "").await.json();
    assert_eq!((&health["initialized"], &health["sealed"]), (&json!(true), &json!(false)));
    assert_eq!(send(&client.0, "HEAD", "/v1/sys/health", &[], "").await.status, 200);
    assert_eq!(send(&client.0, "GET", "/v1/sys/seal-status", &[], "").await.json()["sealed"], false);
    let token = [("x-vault-token", TOKEN)];
    let own = send(&client.0, "GET", "/v1/auth/token/lookup-self", &token, "").await.json();
    assert_eq!(own["data"]["display_name"], "name-A");
    let mount = send(&client.0, "GET", "/v1/sys/internal/ui/mounts/transit/keys/k", &token, "").await.json();
    assert_eq!((&mount["data"]["type"], &mount["data"]["path"]), (&json!("transit"), &json!("transit/")));
    let missing = send(&client.0, "GET", "/v1/secret/data/x", &token, "").await;
    assert_eq!((missing.status.as_u16(), missing.json()["errors"].is_array()), (404, true));
    let method = send(&client.0, "GET", "/v1/transit/sign/k", &token, "").await;
    assert_eq!(
        (method.status.as_u16(), method.json()),
        (405, json!({ "errors": ["unsupported operation"] }))
    );
}

#[tokio::test]
async fn tokens_are_not_renewed_and_may_do_everything_in_the_mount() {
    let client = Client::new().await;
    let token = [("x-vault-token", TOKEN)];
    let post = async |path: &str, body: serde_json::Value| {
        send(&client.0, "POST", &format!("/v1/{path}"), &token, body.to_string()).await
    };
    let renewed = post("auth/token/renew-self", json!({ "increment": "1h" })).await;
    assert_eq!(renewed.status, 200);
    let auth = renewed.json()["auth"].clone();
    assert_eq!((&auth["renewable"], &auth["client_token"]), (&json!(false), &json!(TOKEN)));
    let paths = json!({ "paths": ["transit/sign/k", "/transit", "transits/x", "secret/x"] });
    let may = post("sys/capabilities-self", paths).await.json()["data"].clone();
    let all = json!(["create", "delete", "list", "read", "update"]);
    assert_eq!((&may["transit/sign/k"], &may["/transit"]), (&all, &all));
    assert_eq!((&may["transits/x"], &may["secret/x"]), (&json!(["deny"]), &json!(["deny"])));
    let one = post("sys/capabilities-self", json!({ "paths": ["transit/sign/k"] })).await.json();
    assert_eq!(one["data"]["capabilities"], all);
    assert_eq!(post("sys/capabilities-self", json!({})).await.status, 400);
    let mount = send(&client.0, "GET", "/v1/sys/mounts/transit", &token, "").await.json();
    assert_eq!(mount["data"]["type"], "transit");
    assert_eq!(send(&client.0, "GET", "/v1/sys/mounts/other", &token, "").await.status, 400);
    let fixed = post("sys/mounts/other", json!({ "type": "transit" })).await;
    assert!(
        fixed.json()["errors"][0].as_str().is_some_and(|text| text.contains("transit.mount")),
        "{fixed:?}"
    );
}

#[tokio::test]
async fn namespaces_are_refused() {
    let client = Client::new().await;
    for (namespace, status) in [("", 200), ("root", 200), ("/", 200), ("team-a", 400), ("team-a/b/", 400)] {
        let headers = [("x-vault-token", TOKEN), ("x-vault-namespace", namespace)];
        let answer = send(&client.0, "GET", "/v1/transit/keys/k", &headers, "").await;
        assert_eq!(answer.status, status, "{namespace}");
        if status == 400 {
            let error = answer.json()["errors"][0].as_str().unwrap_or_default().to_owned();
            assert!(error.starts_with("namespaces are not supported") && error.contains("team-a"), "{error}");
        }
    }
}

#[tokio::test]
async fn what_the_engine_does_not_have_is_named() {
    let client = Client::new().await;
    for (path, status, text) in [
        ("datakey/plaintext/k", 400, "data keys are not supported by this service"),
        ("hmac/k/sha2-256", 400, "HMAC is not supported by this service"),
        ("backup/k", 400, "`modmill serve backup`"),
        ("restore/k", 400, "`modmill serve backup`"),
        ("keys/k/csr", 400, "certificates are not supported by this service"),
        ("cache-config", 400, "configuration of the engine is not supported by this service"),
        ("nothing", 404, "unsupported path"),
    ] {
        let (found, error) = client.error(path, json!({})).await;
        assert!(found == status && error.contains(text), "{path}: {found} {error}");
    }
    let other = send(&client.0, "POST", "/v1/team/sign/k", &[("x-vault-token", TOKEN)], "").await;
    assert_eq!(other.json()["errors"][1], "the transit engine is mounted at \"transit\"");
}

#[tokio::test]
async fn the_engine_may_be_mounted_elsewhere() {
    let mut service = service(transit::kinds).await;
    Arc::get_mut(&mut service).expect("the only owner").settings.transit_mount = "team/keys".into();
    let router = transit::router(service);
    let token = [("x-vault-token", TOKEN)];
    let hash = async |path: &str| send(&router, "POST", path, &token, "{}").await.status;
    assert_eq!(hash("/v1/team/keys/hash").await, 200);
    assert_eq!(hash("/v1/transit/hash").await, 404);
    let mounts = send(&router, "GET", "/v1/sys/mounts", &token, "").await.json();
    assert_eq!(mounts["data"]["team/keys/"]["type"], "transit");
    let of = send(&router, "GET", "/v1/sys/internal/ui/mounts/team/keys/sign/k", &token, "").await.json();
    assert_eq!(of["data"]["path"], "team/keys/");
}

#[tokio::test]
async fn random_bytes_and_hashes() {
    let client = Client::new().await;
    let random = client.data("random", json!({ "bytes": 8, "format": "hex" })).await["random_bytes"].clone();
    assert_eq!(random.as_str().map(str::len), Some(16));
    assert_ne!(random, client.data("random", json!({ "bytes": 8, "format": "hex" })).await["random_bytes"]);
    let random = client.data("random/platform/9", json!({})).await["random_bytes"].clone();
    assert_eq!(random.as_str().map(str::len), Some(12));
    for body in [
        json!({ "bytes": 0 }),
        json!({ "bytes": 1 << 20 }),
        json!({ "format": "x" }),
        json!({ "source": "x" }),
    ] {
        assert_eq!(client.error("random", body).await.0, 400);
    }
    let sum = client.data("hash/sha2-224", json!({ "input": base64("abc") })).await["sum"].clone();
    assert_eq!(sum, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7");
    assert_eq!(
        client.error("hash", json!({ "algorithm": "md5" })).await,
        (400, "unsupported algorithm md5".into())
    );
    assert_eq!(client.error("hash", json!({ "input": "%" })).await.0, 400);
}

#[tokio::test]
async fn bodies_that_break_off_or_are_too_long_are_refused() {
    let client = Client::new().await;
    let token = [("x-vault-token", TOKEN)];
    let pieces = [Ok(Bytes::from_static(b"{\"input\":")), Err(std::io::Error::other("reset"))];
    let body = Body::from_stream(stream::iter(pieces));
    assert_eq!(send(&client.0, "POST", "/v1/transit/sign/k", &token, body).await.status, 400);
    let long = Body::from_stream(stream::repeat(Ok::<_, std::convert::Infallible>(Bytes::from(vec![
        b' ';
        1 << 20
    ]))));
    assert_eq!(send(&client.0, "POST", "/v1/transit/sign/k", &token, long).await.status, 413);
}

#[tokio::test]
async fn bodies_share_memory_that_strangers_have_no_part_of() {
    let mut service = service(transit::kinds).await;
    Arc::get_mut(&mut service).expect("the only owner").bodies = Arc::new(Bodies::new(8));
    let router = transit::router(Arc::clone(&service));
    let hash = async |token: &str, body: &'static str| {
        send(&router, "POST", "/v1/transit/hash", &[("x-vault-token", token)], body).await
    };
    let full = hash(TOKEN, "{        }").await;
    assert_eq!((full.status.as_u16(), &full.headers["retry-after"]), (429, &"1".parse().expect("a header")));
    assert_eq!(hash(WEAK, "{        }").await.status, 403);
    assert_eq!(hash(TOKEN, "{}").await.status, 200);
    assert_eq!(service.bodies.held(), 0);
}
