//! `/v1/transit/keys`.

use super::answer::{Fault, nothing, respond};
use super::items::parse;
use super::key::{TransitKey, Version, timestamp};
use super::lax::{Flag, Text};
use super::{Call, Transit};
use crate::records::{Changes, Records, RecordsError};
use axum::extract::{Path, RawQuery, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// `LIST /v1/transit/keys`, or GET with `?list=true`.
pub(super) async fn list(
    State(transit): State<Arc<Transit>>,
    method: Method,
    RawQuery(query): RawQuery,
    call: Call,
) -> Result<Response, Fault> {
    let asked = query.is_some_and(|query| query.split('&').any(|part| part == "list=true"));
    if method.as_str() != "LIST" && !(method == Method::GET && asked) {
        return Err(super::unsupported().await);
    }
    let names: Vec<String> =
        transit.service.records.all::<TransitKey>().iter().map(|key| key.name.clone()).collect();
    if names.is_empty() {
        return Err(Fault::missing());
    }
    Ok(respond(&call.request_id, &json!({ "keys": names }), &[]))
}

/// Vault's description of a key.
pub(super) fn describe(key: &TransitKey) -> Value {
    let version = |(number, version): (&u32, &Version)| {
        let about = json!({
            "name": key.type_name(),
            "public_key": version.public_key,
            "creation_time": timestamp(version.created_ms),
            "certificate_chain": "",
        });
        (number.to_string(), about)
    };
    let mut about = json!({
        "name": key.name,
        "type": key.type_name(),
        "derived": false,
        "deletion_allowed": key.deletion_allowed,
        "min_available_version": key.min_available_version,
        "min_decryption_version": key.min_decryption_version,
        "min_encryption_version": key.min_encryption_version,
        "latest_version": key.latest_version,
        "exportable": key.exportable,
        "allow_plaintext_backup": false,
        "supports_encryption": true,
        "supports_decryption": true,
        "supports_signing": true,
        "supports_derivation": false,
        "auto_rotate_period": 0,
        "imported_key": key.imported,
        "keys": key.versions.iter().map(version).collect::<Map<_, _>>(),
    });
    if let Some(about) = about.as_object_mut().filter(|_| key.imported) {
        about.insert("imported_key_allow_rotation".into(), key.allow_rotation.into());
    }
    about
}

pub(super) async fn read(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    let key = transit.service.records.get::<TransitKey>(&name).ok_or_else(Fault::missing)?;
    Ok(respond(&call.request_id, &describe(&key), &[]))
}

/// Refuses names that Vault's paths do not allow.
pub(super) fn check_name(name: &str) -> Result<(), Fault> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let fits = name.starts_with(is_word) && name.ends_with(is_word);
    if fits && name.len() <= 256 && name.chars().all(|c| is_word(c) || c == '-' || c == '.') {
        return Ok(());
    }
    Err(Fault::new(StatusCode::NOT_FOUND, "unsupported path"))
}

/// Options of a new key, whether it is generated or imported.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NewKey<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Text<'a>>,
    derived: Option<Flag>,
    convergent_encryption: Option<Flag>,
    pub(super) exportable: Option<Flag>,
    allow_plaintext_backup: Option<Flag>,
    #[serde(borrow)]
    auto_rotate_period: Option<Text<'a>>,
}

impl NewKey<'_> {
    /// The length of the key in bits.
    pub(super) fn bits(&self) -> Result<usize, Fault> {
        let is_set = |flag: Option<Flag>| flag == Some(Flag(true));
        let kind = self.kind.as_ref().map_or("aes256-gcm96", Text::as_str);
        let bits = match kind {
            "rsa-2048" => 2048,
            "rsa-3072" => 3072,
            "rsa-4096" => 4096,
            _ => {
                let error =
                    format!("unknown key type {kind}: this service has rsa-2048, rsa-3072 and rsa-4096");
                return Err(Fault::bad(error));
            }
        };
        if is_set(self.derived) || is_set(self.convergent_encryption) {
            return Err(Fault::bad(format!(
                "key derivation and convergent encryption not supported for keys of type {kind}"
            )));
        }
        if is_set(self.allow_plaintext_backup) {
            return Err(Fault::bad("plaintext backups of keys are not supported"));
        }
        check_auto_rotation(self.auto_rotate_period.as_ref())?;
        Ok(bits)
    }
}

pub(super) fn check_auto_rotation(period: Option<&Text<'_>>) -> Result<(), Fault> {
    match period.map(Text::as_str) {
        None | Some("" | "0" | "0s" | "0m" | "0h") => Ok(()),
        Some(_) => Err(Fault::bad("automatic rotation is not supported: auto_rotate_period must be 0")),
    }
}

/// Generates a key in the turn of whoever asks.
pub(super) async fn generate(transit: &Transit, call: &Call, bits: usize) -> Result<Version, Fault> {
    let service = &transit.service;
    let deadline = Instant::now() + Duration::from_millis(service.settings.deadline_ms);
    let key = service.generator.rsa(service.batcher.cpu(), &call.principal, bits, deadline).await?;
    Version::of(&key, service.clock.now_ms())
}

pub(super) async fn create(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    check_name(&name)?;
    let options: NewKey<'_> = parse(&call.body)?;
    let bits = options.bits()?;
    let existed = |key: &TransitKey| {
        let warning = format!("key {name} already existed");
        Ok(respond(&call.request_id, &describe(key), &[warning]))
    };
    if let Some(key) = transit.service.records.get::<TransitKey>(&name) {
        return existed(&key);
    }
    let mut key = TransitKey::new(&name, bits, generate(&transit, &call, bits).await?);
    key.exportable = options.exportable == Some(Flag(true));
    // Somebody else may have created it in the meantime, and then that key stays.
    let other = transit
        .service
        .records
        .change::<_, RecordsError>(|records| {
            Ok(match records.get::<TransitKey>(&name) {
                Some(other) => (Changes::new(), Some(other)),
                None => (Changes::new().put(&key), None),
            })
        })
        .await?;
    match other {
        Some(other) => existed(&other),
        None => Ok(respond(&call.request_id, &describe(&key), &[])),
    }
}

/// Changes the key `name`. `change` sees it as it is when the change is committed.
pub(super) async fn update(
    transit: &Transit,
    name: &str,
    mut change: impl FnMut(&mut TransitKey) -> Result<(), Fault>,
) -> Result<TransitKey, Fault> {
    let decide = |records: &Records| {
        let missing = || Fault::bad(format!("no existing key named {name} could be found"));
        let mut key = TransitKey::clone(&*records.get::<TransitKey>(name).ok_or_else(missing)?);
        change(&mut key)?;
        Ok((Changes::new().put(&key), key))
    };
    transit.service.records.change(decide).await
}

pub(super) async fn delete(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    _call: Call,
) -> Result<Response, Fault> {
    let decide = |records: &Records| {
        let refused = |reason: &str| Fault::bad(format!("error deleting policy {name}: {reason}"));
        let key =
            records.get::<TransitKey>(&name).ok_or_else(|| refused("could not delete key; not found"))?;
        if !key.deletion_allowed {
            return Err(refused("deletion is not allowed for this key"));
        }
        Ok((Changes::new().delete::<TransitKey>(&name), ()))
    };
    transit.service.records.change(decide).await?;
    Ok(nothing())
}
