//! The few paths outside of the transit engine that clients call before they use it.

use super::answer::{Fault, bare, respond};
use super::key::timestamp;
use super::{Call, Transit};
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use serde_json::{Value, json};
use std::sync::Arc;

/// The version of Vault whose interface this is, with the version of this program.
const VERSION: &str = concat!("1.18.0+modmill-", env!("CARGO_PKG_VERSION"));

pub(super) fn routes() -> Router<Arc<Transit>> {
    Router::new()
        .route("/v1/sys/health", get(health))
        .route("/v1/sys/seal-status", get(seal_status))
        .route("/v1/sys/init", get(initialized))
        .route("/v1/sys/mounts", get(mounts))
        .route("/v1/sys/internal/ui/mounts/{*path}", get(mount))
        .route("/v1/auth/token/lookup-self", get(lookup_self).post(lookup_self))
}

async fn health(State(transit): State<Arc<Transit>>) -> Response {
    bare(&json!({
        "initialized": true,
        "sealed": false,
        "standby": false,
        "performance_standby": false,
        "replication_performance_mode": "disabled",
        "replication_dr_mode": "disabled",
        "server_time_utc": transit.service.clock.now_ms() / 1000,
        "version": VERSION,
    }))
}

async fn seal_status() -> Response {
    bare(&json!({
        "type": "shamir",
        "initialized": true,
        "sealed": false,
        "t": 1,
        "n": 1,
        "progress": 0,
        "nonce": "",
        "version": VERSION,
        "migration": false,
        "recovery_seal": false,
        "storage_type": "modmill",
    }))
}

async fn initialized() -> Response {
    bare(&json!({ "initialized": true }))
}

fn transit_mount() -> Value {
    json!({
        "type": "transit",
        "description": "",
        "accessor": "transit_modmill",
        "local": false,
        "seal_wrap": false,
        "options": null,
        "config": { "default_lease_ttl": 0, "max_lease_ttl": 0, "force_no_cache": false },
    })
}

async fn mounts(call: Call) -> Response {
    respond(&call.request_id, &json!({ "transit/": transit_mount() }), &[])
}

async fn mount(Path(path): Path<String>, call: Call) -> Result<Response, Fault> {
    if path.split('/').next() != Some("transit") {
        return Err(Fault::denied());
    }
    let mut mount = transit_mount();
    if let Some(mount) = mount.as_object_mut() {
        mount.insert("path".into(), "transit/".into());
    }
    Ok(respond(&call.request_id, &mount, &[]))
}

/// What is known of a token. The token itself is not repeated.
async fn lookup_self(call: Call) -> Response {
    let principal = &call.principal;
    let about = json!({
        "accessor": principal.access_key_id,
        "creation_time": 0,
        "creation_ttl": 0,
        "display_name": principal.name,
        "entity_id": "",
        "expire_time": null,
        "explicit_max_ttl": 0,
        "id": "",
        "issue_time": timestamp(0),
        "meta": null,
        "num_uses": 0,
        "orphan": true,
        "path": "auth/token/create",
        "policies": ["transit"],
        "renewable": false,
        "ttl": 0,
        "type": "service",
    });
    respond(&call.request_id, &about, &[])
}
