//! The few paths outside of the transit engine that clients call before they use it.

use super::answer::{Answer, Fault, bare, respond};
use super::items::parse;
use super::key::timestamp;
use super::{Call, Transit, token, write};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The version of Vault whose interface this is, with the version of this program.
const VERSION: &str = concat!("1.18.0+modmill-", env!("CARGO_PKG_VERSION"));

pub(super) fn routes() -> Router<Arc<Transit>> {
    Router::new()
        .route("/v1/sys/health", get(health))
        .route("/v1/sys/seal-status", get(seal_status))
        .route("/v1/sys/init", get(initialized))
        .route("/v1/sys/mounts", get(mounts))
        .route("/v1/sys/mounts/{*path}", get(mount).post(fixed).put(fixed).delete(fixed))
        .route("/v1/sys/internal/ui/mounts/{*path}", get(mount_of))
        .route("/v1/sys/capabilities-self", write(capabilities))
        .route("/v1/auth/token/lookup-self", get(lookup_self).post(lookup_self))
        .route("/v1/auth/token/renew-self", write(renew_self))
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

/// The path of the mount, as Vault writes it.
fn mount_path(transit: &Transit) -> String {
    format!("{}/", transit.service.settings.transit_mount)
}

/// Whether `path` is the mount, or lies in it.
fn is_in_mount(transit: &Transit, path: &str) -> bool {
    format!("{}/", path.trim_matches('/')).starts_with(&mount_path(transit))
}

async fn mounts(State(transit): State<Arc<Transit>>, call: Call) -> Response {
    respond(&call.request_id, &json!({ mount_path(&transit): transit_mount() }), &[])
}

/// One mount.
async fn mount(
    State(transit): State<Arc<Transit>>,
    Path(path): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    if path.trim_matches('/') != transit.service.settings.transit_mount {
        return Err(Fault::bad(format!("No secret engine mount at {}/", path.trim_matches('/'))));
    }
    Ok(respond(&call.request_id, &transit_mount(), &[]))
}

/// The answer to clients that make, move or remove mounts.
async fn fixed(State(transit): State<Arc<Transit>>, _call: Call) -> Fault {
    let path = mount_path(&transit);
    Fault::bad(format!(
        "this service has one engine, transit at {path:?}; its option transit.mount names another path"
    ))
}

/// The mount that a path lies in.
async fn mount_of(
    State(transit): State<Arc<Transit>>,
    Path(path): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    if !is_in_mount(&transit, &path) {
        return Err(Fault::denied());
    }
    let mut mount = transit_mount();
    mount["path"] = mount_path(&transit).into();
    Ok(respond(&call.request_id, &mount, &[]))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Paths {
    paths: Vec<String>,
    path: Vec<String>,
}

/// The capabilities of the token: everything in the mount, and nothing elsewhere.
async fn capabilities(State(transit): State<Arc<Transit>>, call: Call) -> Result<Response, Fault> {
    let Paths { paths, path } = parse(&call.body)?;
    let paths = if paths.is_empty() { path } else { paths };
    let allowed = |path: &String| match is_in_mount(&transit, path) {
        true => json!(["create", "delete", "list", "read", "update"]),
        false => json!(["deny"]),
    };
    let mut data: Map<String, Value> = paths.iter().map(|path| (path.clone(), allowed(path))).collect();
    let Some(first) = paths.first() else { return Err(Fault::bad("paths must be supplied")) };
    if paths.len() == 1 {
        data.insert("capabilities".into(), allowed(first));
    }
    Ok(respond(&call.request_id, &data, &[]))
}

/// The answer to clients that renew their token by a timer: it does not end, and needs no renewal.
async fn renew_self(headers: HeaderMap, call: Call) -> Response {
    let auth = json!({
        "client_token": token(&headers),
        "accessor": call.principal.access_key_id,
        "policies": ["transit"],
        "token_policies": ["transit"],
        "metadata": null,
        "lease_duration": 0,
        "renewable": false,
        "entity_id": "",
        "token_type": "service",
        "orphan": true,
        "num_uses": 0,
    });
    let mut answer = Answer::new(&call.request_id, 1 << 10);
    answer.raw("null");
    answer.finish_with(StatusCode::OK, &[], &auth)
}

/// The description of a token. The token itself is not repeated.
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
