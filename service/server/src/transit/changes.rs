//! Changes of keys, which are noted in the audit log.

use super::answer::Fault;
use super::{Call, Transit};
use crate::changes::{self, Change, Failure};
use axum::extract::{Path, State};
use axum::response::Response;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The longest body whose options are noted.
const LONGEST: usize = 64 << 10;

/// The options of requests that say what is changed. None of them is a secret.
const OPTIONS: [&str; 7] = [
    "type",
    "exportable",
    "allow_rotation",
    "deletion_allowed",
    "min_decryption_version",
    "min_encryption_version",
    "min_available_version",
];

/// The answer of a handler.
type Answered = BoxFuture<'static, Result<Response, Fault>>;

impl Failure for Fault {
    fn outcome(&self) -> String {
        self.errors.first().cloned().unwrap_or_else(|| self.status.to_string())
    }

    fn unaudited(reason: &str) -> Self {
        Self::internal(reason)
    }
}

/// A handler of requests that change the key in their path.
pub(super) fn change<H, F>(
    operation: &'static str,
    handler: H,
) -> impl Fn(State<Arc<Transit>>, Path<String>, Call) -> Answered + Clone + Send + Sync + 'static
where
    H: Fn(State<Arc<Transit>>, Path<String>, Call) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response, Fault>> + Send + 'static,
{
    move |State(transit), Path(name), call| {
        let origin = transit.origin(&call, operation, &name);
        let change = Change { origin, received: None, particulars: asked(&call.body) };
        let result = handler(State(Arc::clone(&transit)), Path(name), call);
        let change = async move { (Some(change), result.await) };
        Box::pin(async move { changes::make(transit.service.batcher.audit(), change).await })
    }
}

/// The options of a request that the log has.
fn asked(body: &[u8]) -> Value {
    let short = |value: &Value| match value {
        Value::String(text) => text.len() <= 64,
        Value::Array(_) | Value::Object(_) => false,
        _ => true,
    };
    let body = if body.len() <= LONGEST { body } else { b"" };
    let mut options: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
    options.retain(|name, value| OPTIONS.contains(&name.as_str()) && short(value));
    if options.is_empty() { Value::Null } else { options.into() }
}
