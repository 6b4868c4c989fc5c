use super::*;
use crate::credentials::{Principal, Right};
use crate::metrics::{Operation, Outcome};
use crate::records::{Changes, RecordsError};
use axum::http::Request;
use axum::http::header::AUTHORIZATION;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

/// Figures that are easy to recognise.
struct Made;

impl Watched for Made {
    type Snapshot = Value;

    fn snapshot(&self, after: Option<u64>) -> Value {
        let first = after.map_or(0, |after| after.saturating_add(1));
        let seconds: Vec<Value> = (first..10).map(|second| json!({ "second": second, "items": 7 })).collect();
        json!({ "uptime": 10, "seconds": seconds, "keys": [] })
    }

    fn principal(&self, token: &str) -> Option<Principal> {
        let right = match token {
            "may:watch" => Right::Watch,
            "may-sign" => Right::Kms,
            _ => return None,
        };
        Some(Principal { name: "n".into(), access_key_id: "A".into(), rights: [right].into() })
    }

    fn minute_ms(&self) -> [f64; 3] {
        [0.5, 2.0, 3.0]
    }

    fn is_draining(&self) -> bool {
        false
    }

    fn replicas(&self) -> Vec<Replica> {
        vec![Replica { name: "one".into(), version: "0.1.0".into(), uptime: 10 }]
    }
}

async fn get(path: &str, authorization: Option<&str>) -> (StatusCode, HeaderMap, String) {
    let mut request = Request::get(path);
    if let Some(authorization) = authorization {
        request = request.header(AUTHORIZATION, authorization);
    }
    let response = router(Made).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status, head.headers, String::from_utf8(body.to_vec()).unwrap())
}

fn basic(user_and_password: &str) -> String {
    format!("Basic {}", STANDARD.encode(user_and_password))
}

#[tokio::test]
async fn only_those_who_may_watch_see_anything() {
    let signer = basic("any:may-sign");
    let wrong = basic("may:watch:no");
    for path in ["/", "/page/data"] {
        for nobody in
            [None, Some("Bearer x"), Some("Basic !"), Some("Digest may:watch"), Some("Basic"), Some(&wrong)]
        {
            let (status, headers, body) = get(path, nobody).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{path} {nobody:?}");
            assert!(headers[WWW_AUTHENTICATE].to_str().unwrap().starts_with("Basic realm="));
            assert!(body.len() < 100);
        }
        let (status, headers, _) = get(path, Some(&signer)).await;
        assert!(status == StatusCode::FORBIDDEN && !headers.contains_key(WWW_AUTHENTICATE), "{path}");
        for watcher in ["Bearer may:watch", "bearer may:watch", &basic("any:may:watch"), &basic(":may:watch")]
        {
            let (status, headers, _) = get(path, Some(watcher)).await;
            assert_eq!(status, StatusCode::OK, "{path} {watcher}");
            assert_eq!(headers[CACHE_CONTROL], "no-store");
        }
    }
}

#[tokio::test]
async fn the_page_lets_only_its_own_script_and_style_run() {
    let (_, headers, first) = get("/", Some("Bearer may:watch")).await;
    let policy = headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
    let (_, rest) = policy.split_once("script-src 'nonce-").unwrap();
    let (nonce, _) = rest.split_once('\'').unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    let with_nonce = |tag: &str| first.matches(&format!("<{tag} nonce=\"{nonce}\">")).count();
    assert_eq!((with_nonce("script"), with_nonce("style")), (1, 1));
    assert_eq!((first.matches("<script").count(), first.matches("<style").count()), (1, 1));
    // Nothing is loaded from elsewhere; the only address is the name of SVG.
    assert_eq!(first.matches("://").count(), first.matches("http://www.w3.org/2000/svg").count());
    // A style or a handler in an attribute would not run.
    assert!(!first.contains(" style=\"") && !first.contains(" onclick="));
    let (_, _, second) = get("/", Some("Bearer may:watch")).await;
    assert!(!second.contains(nonce), "each page has its own nonce");
}

#[tokio::test]
async fn figures_come_from_the_second_that_the_page_lacks() {
    let data = |body: String| serde_json::from_str::<Value>(&body).unwrap();
    let (_, headers, body) = get("/page/data", Some("Bearer may:watch")).await;
    assert_eq!(headers[CONTENT_TYPE], "application/json");
    let all = data(body);
    assert_eq!(all["snapshot"]["seconds"].as_array().unwrap().len(), 10);
    assert_eq!(
        (&all["replica"], &all["version"], &all["draining"]),
        (&json!("one"), &json!("0.1.0"), &json!(false))
    );
    assert_eq!(all["minute_ms"], json!([0.5, 2.0, 3.0]));
    for (after, count) in [("-1", 10), ("0", 9), ("8", 1), ("9", 0), ("9223372036854775807", 0)] {
        let (_, _, body) = get(&format!("/page/data?after={after}"), Some("Bearer may:watch")).await;
        assert_eq!(data(body)["snapshot"]["seconds"].as_array().unwrap().len(), count, "{after}");
    }
    let (status, ..) = get("/page/data?after=x", Some("Bearer may:watch")).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn keys_are_shown_with_their_aliases() {
    let service = crate::door::testing::service(crate::kms::kinds).await;
    let alias = |name: &str, key_id: &str| crate::kms::Alias {
        name: name.into(),
        key_id: key_id.into(),
        created_ms: 0,
        updated_ms: 0,
    };
    let (first, second) = (alias("alias/a", "one"), alias("alias/b", "one"));
    let changes = || Changes::new().put(&first).put(&second);
    service.records.change(|_| Ok::<_, RecordsError>((changes(), ()))).await.unwrap();
    for key_id in ["one", "two"] {
        service.metrics.operation(&Operation {
            door: "kms",
            operation: "Sign",
            key_id: key_id.into(),
            items: 1,
            outcome: Outcome::Answered,
            seconds: 0.01,
        });
    }
    // A second is shown when it is over.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let keys = serde_json::to_value(service.snapshot(None).keys).unwrap();
    assert_eq!(
        keys,
        json!([{ "key_id": "one", "alias": "alias/a", "uses": 1 }, { "key_id": "two", "uses": 1 }])
    );
}
