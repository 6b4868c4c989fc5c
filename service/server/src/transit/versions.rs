//! The versions of a key: `config`, `rotate` and `trim`.

use super::answer::{Fault, respond};
use super::items::parse;
use super::key::{TransitKey, Version};
use super::keys::{check_auto_rotation, describe, generate, update};
use super::lax::{Flag, Int, Text};
use super::{Call, Transit};
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Configuration<'a> {
    min_decryption_version: Option<Int>,
    min_encryption_version: Option<Int>,
    deletion_allowed: Option<Flag>,
    exportable: Option<Flag>,
    allow_plaintext_backup: Option<Flag>,
    #[serde(borrow)]
    auto_rotate_period: Option<Text<'a>>,
}

/// A version between 0 and the newest one. `what` names it in errors.
fn bounded(Int(version): Int, what: &str, latest: u32) -> Result<u32, Fault> {
    if version < 0 {
        return Err(Fault::bad(format!("min {what} version cannot be negative")));
    }
    let fits = u32::try_from(version).ok().filter(|version| *version <= latest);
    let too_new =
        || Fault::bad(format!("cannot set min {what} version of {version}, latest key version is {latest}"));
    fits.ok_or_else(too_new)
}

pub(super) async fn configure(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    let wanted: Configuration<'_> = parse(&call.body)?;
    check_auto_rotation(wanted.auto_rotate_period.as_ref())?;
    if wanted.allow_plaintext_backup == Some(Flag(true)) {
        return Err(Fault::bad("plaintext backups of keys are not supported"));
    }
    let change = |key: &mut TransitKey| {
        if let Some(version) = wanted.min_decryption_version {
            // Vault takes 0 for 1 here.
            key.min_decryption_version = bounded(version, "decryption", key.latest_version)?.max(1);
        }
        if let Some(version) = wanted.min_encryption_version {
            key.min_encryption_version = bounded(version, "encryption", key.latest_version)?;
        }
        let (encryption, decryption) = (key.min_encryption_version, key.min_decryption_version);
        if encryption > 0 && encryption < decryption {
            return Err(Fault::bad(format!(
                "cannot set min encryption/decryption values; min encryption version of {encryption} must be greater than \
                 or equal to min decryption version of {decryption}"
            )));
        }
        if decryption < key.min_available_version {
            return Err(Fault::bad("cannot set min decryption version less than min available version"));
        }
        if let Some(Flag(allowed)) = wanted.deletion_allowed {
            key.deletion_allowed = allowed;
        }
        // A key that was exportable once stays so, because somebody may have it.
        key.exportable |= wanted.exportable == Some(Flag(true));
        Ok(())
    };
    let key = update(&transit, &name, change).await?;
    Ok(respond(&call.request_id, &describe(&key), &[]))
}

pub(super) async fn rotate(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    let missing = || Fault::bad("key not found");
    let bits = transit.service.records.get::<TransitKey>(&name).ok_or_else(missing)?.bits;
    let version = generate(&transit, &call, bits).await?;
    let add = |key: &mut TransitKey| {
        if key.imported && !key.allow_rotation {
            return Err(Fault::bad(format!("imported key {name} does not allow rotation within Vault")));
        }
        add_version(key, &version);
        Ok(())
    };
    let key = update(&transit, &name, add).await?;
    Ok(respond(&call.request_id, &describe(&key), &[]))
}

/// Makes `version` the newest one.
pub(super) fn add_version(key: &mut TransitKey, version: &Version) {
    key.latest_version += 1;
    key.versions.insert(key.latest_version, version.clone());
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Trim {
    min_available_version: Option<Int>,
}

pub(super) async fn trim(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    let Trim { min_available_version } = parse(&call.body)?;
    let wanted = min_available_version.ok_or_else(|| Fault::bad("missing min_available_version"))?;
    let change = |key: &mut TransitKey| {
        let version = bounded(wanted, "available", key.latest_version)?;
        let reason = if version < key.min_available_version {
            "minimum available version cannot be decremented"
        } else if key.min_encryption_version == 0 {
            "minimum available version cannot be set when minimum encryption version is not set"
        } else if version > key.min_encryption_version {
            "minimum available version cannot be higher than minimum encryption version"
        } else if version > key.min_decryption_version {
            "minimum available version cannot be higher than minimum decryption version"
        } else {
            key.min_available_version = version;
            key.versions.retain(|number, _| *number >= version);
            return Ok(());
        };
        Err(Fault::bad(reason))
    };
    let key = update(&transit, &name, change).await?;
    Ok(respond(&call.request_id, &describe(&key), &[]))
}
