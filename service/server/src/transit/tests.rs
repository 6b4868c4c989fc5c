//! The interface as clients see it.

mod keys;
mod messages;
mod system;

use crate::door::testing::{Answer, TOKEN, send, service};
use axum::Router;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The interface with one key `k` of 2048 bits.
struct Client(Router);

impl Client {
    async fn new() -> Self {
        let client = Self(super::router(service(super::kinds).await));
        let answer = client.post("keys/k", json!({ "type": "rsa-2048" })).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        client
    }

    async fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        send(&self.0, method, &format!("/v1/transit/{path}"), &[("x-vault-token", TOKEN)], body).await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path, &body).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &Value::Null).await
    }

    /// The data of the answer to a request that has to succeed.
    async fn data(&self, path: &str, body: Value) -> Value {
        let answer = self.post(path, body).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()["data"].clone()
    }

    /// The status and the first error of the answer to a request that has to fail.
    async fn error(&self, path: &str, body: Value) -> (u16, String) {
        let answer = self.post(path, body).await;
        let error = answer.json()["errors"][0].as_str().unwrap_or_default().to_owned();
        (answer.status.as_u16(), error)
    }
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}
