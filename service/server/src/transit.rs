//! The transit interface of HashiCorp's Vault, for RSA keys.
//!
//! Paths, parameters, answers and errors are those of Vault's documentation, so that its clients work with
//! the address of this service. Keys sign, verify, encrypt and decrypt, alone or in batches (`batch_input`).
//! A batch is one call of the [`crate::batch::Batcher`].
//!
//! What differs from Vault:
//!
//! * Keys are RSA keys of 2048, 3072 or 4096 bits. Other types, derivation, HMAC, data keys, backups of
//!   single keys and automatic rotation are refused.
//! * SHA-1 signs nothing, and `hash_algorithm` cannot be `none`.
//! * There is one mount, whose name is configured, and no namespace.
//! * `encrypt` does not create a key that is missing.
//! * A ciphertext that does not decrypt is an error 400, where Vault answers 500, which clients would try
//!   again.
//! * A batch has at most 65536 items, and a body at most 32 MiB.
//! * The right `transit` of a credential allows every operation. There are no policies by path.

mod answer;
mod base64_text;
mod changes;
mod cipher;
mod import;
mod items;
mod key;
mod keys;
mod lax;
mod ring;
mod sign;
mod system;
#[cfg(test)]
mod tests;
mod tools;
mod versions;

pub use key::{TransitKey, Version, WrappingKey};
pub use ring::TransitRing;

use crate::batch::Origin;
use crate::body::Holder;
use crate::credentials::{Principal, Right};
use crate::door;
use crate::records::Kinds;
use crate::service::Service;
use crate::uuid;
use answer::Fault;
use axum::Router;
use axum::extract::{FromRequest, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::routing::{MethodRouter, any, get};
use bytes::Bytes;
use changes::change;
use modmill_rsa::PrivateKey;
use std::sync::Arc;

/// The longest body of a request, in bytes. The parsers of this interface were written for no more.
pub(crate) const LONGEST_BODY: usize = 32 << 20;

/// The documents of this door.
#[must_use]
pub fn kinds(kinds: Kinds) -> Kinds {
    kinds.with::<TransitKey>().with::<WrappingKey>()
}

/// The state that the handlers share.
struct Transit {
    service: Arc<Service>,
}

impl Transit {
    /// The key named `name`. `what` names it in the error.
    fn key(&self, name: &str, what: &str) -> Result<Arc<TransitKey>, Fault> {
        self.service.records.get(name).ok_or_else(|| Fault::bad(format!("{what} key not found")))
    }

    /// The private key of a version.
    async fn private(&self, key: &TransitKey, version: u32) -> Result<Arc<PrivateKey>, Fault> {
        let missing = || Fault::internal(format!("version {version} of the key is missing"));
        let version = key.versions.get(&version).ok_or_else(missing)?;
        door::private_key(&self.service, &version.material_id, &version.material)
            .await
            .map_err(Fault::internal)
    }

    fn origin(&self, call: &Call, operation: &'static str, key_id: &str) -> Origin {
        let deadline = door::deadline(&self.service);
        door::origin(&call.principal, ("transit", operation), key_id, &call.request_id, deadline)
    }
}

/// A request of somebody with the right [`Right::Transit`], with its body.
struct Call {
    principal: Arc<Principal>,
    request_id: Arc<str>,
    body: Bytes,
}

/// The token of a request: `X-Vault-Token`, or a bearer token.
fn token(headers: &HeaderMap) -> Option<&str> {
    let own = headers.get("x-vault-token").and_then(|token| token.to_str().ok());
    own.or_else(|| door::bearer(headers))
}

fn authenticate(service: &Service, headers: &HeaderMap) -> Result<Arc<Principal>, Fault> {
    let principal = token(headers).and_then(|token| door::principal(service, token));
    principal.filter(|principal| principal.may(Right::Transit)).map(Arc::new).ok_or_else(Fault::denied)
}

/// Refuses a namespace: keys of the same name in several of them would be one.
fn check_namespace(headers: &HeaderMap) -> Result<(), Fault> {
    let Some(name) = headers.get("x-vault-namespace") else { return Ok(()) };
    match name.to_str().unwrap_or("?").trim_matches('/') {
        "" | "root" => Ok(()),
        name => Err(Fault::bad(format!(
            "namespaces are not supported by this service: X-Vault-Namespace is {name:?}"
        ))),
    }
}

impl FromRequest<Arc<Transit>> for Call {
    type Rejection = Fault;

    async fn from_request(request: Request, transit: &Arc<Transit>) -> Result<Self, Fault> {
        let service = &transit.service;
        let (parts, body) = request.into_parts();
        let admitted = authenticate(service, &parts.headers).and_then(|principal| {
            check_namespace(&parts.headers)?;
            service.limits.check(&principal).map_err(Fault::too_many)?;
            Ok(principal)
        });
        let holder = |principal: &Arc<Principal>| Holder::of(principal, &parts);
        let (principal, body) = service.bodies.read_if(admitted, holder, &parts, body, LONGEST_BODY).await?;
        Ok(Self { principal, request_id: uuid::of_request(), body })
    }
}

/// Whether a text may be the path of a mount: segments without patterns, the first of which is none of
/// Vault's own.
pub(crate) fn is_mount(text: &str) -> bool {
    let segment = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
    };
    let own = ["sys", "auth", "audit", "cubbyhole", "identity"];
    text.split('/').all(segment) && text.split('/').next().is_some_and(|first| !own.contains(&first))
}

/// The interface under `/v1`.
pub fn router(service: Arc<Service>) -> Router {
    let transit = Arc::new(Transit { service });
    let at = |path: &str| format!("/v1/{}/{path}", transit.service.settings.transit_mount);
    Router::new()
        .route(&at("keys"), any(keys::list))
        .route(&at("keys/"), any(keys::list))
        .route(
            &at("keys/{name}"),
            write(change("create", keys::create)).get(keys::read).delete(change("delete", keys::delete)),
        )
        .route(&at("keys/{name}/config"), write(change("config", versions::configure)))
        .route(&at("keys/{name}/rotate"), write(change("rotate", versions::rotate)))
        .route(&at("keys/{name}/trim"), write(change("trim", versions::trim)))
        .route(&at("keys/{name}/import"), write(change("import", import::import)))
        .route(&at("keys/{name}/import_version"), write(change("import_version", import::import_version)))
        .route(&at("wrapping_key"), get(import::wrapping_key))
        .route(&at("export/{kind}/{name}"), get(import::export))
        .route(&at("export/{kind}/{name}/{version}"), get(import::export))
        .route(&at("sign/{name}"), write(sign::sign))
        .route(&at("sign/{name}/{hash}"), write(sign::sign))
        .route(&at("verify/{name}"), write(sign::verify))
        .route(&at("verify/{name}/{hash}"), write(sign::verify))
        .route(&at("encrypt/{name}"), write(cipher::encrypt))
        .route(&at("decrypt/{name}"), write(cipher::decrypt))
        .route(&at("rewrap/{name}"), write(cipher::rewrap))
        .route(&at("random"), write(tools::random))
        .route(&at("random/{*rest}"), write(tools::random))
        .route(&at("hash"), write(tools::hash))
        .route(&at("hash/{algorithm}"), write(tools::hash))
        .route(&at("{*path}"), any(unknown_path))
        .merge(system::routes())
        .route("/v1/{*path}", any(no_route))
        .method_not_allowed_fallback(unsupported)
        .with_state(transit)
}

/// A handler of writing requests: clients send POST or PUT.
fn write<H, T>(handler: H) -> MethodRouter<Arc<Transit>>
where
    H: axum::handler::Handler<T, Arc<Transit>>,
    T: 'static,
{
    axum::routing::post(handler.clone()).put(handler)
}

async fn no_route(State(transit): State<Arc<Transit>>, uri: Uri) -> Fault {
    let path = uri.path().strip_prefix("/v1/").unwrap_or_default();
    let error = format!("no handler for route {path:?}. route entry not found.");
    let mut fault = Fault::new(StatusCode::NOT_FOUND, error);
    fault
        .errors
        .push(format!("the transit engine is mounted at {:?}", transit.service.settings.transit_mount));
    fault
}

/// Says which part of Vault's engine is not there.
async fn unknown_path(Path(path): Path<String>) -> Fault {
    let parts: Vec<&str> = path.split('/').collect();
    let missing = match parts[..] {
        ["datakey", ..] => "data keys are",
        ["hmac", ..] => "HMAC is",
        ["cmac", ..] => "CMAC is",
        ["backup" | "restore", ..] => "the backup of a single key (`modmill serve backup` has all) is",
        ["byok-export", ..] => "export under another key is",
        ["keys", _, "csr" | "set-certificate"] => "certificates are",
        ["cache-config", ..] | ["config", "keys"] => "configuration of the engine is",
        _ => return Fault::new(StatusCode::NOT_FOUND, "unsupported path"),
    };
    Fault::bad(format!("{missing} not supported by this service"))
}

async fn unsupported() -> Fault {
    Fault::new(StatusCode::METHOD_NOT_ALLOWED, "unsupported operation")
}
