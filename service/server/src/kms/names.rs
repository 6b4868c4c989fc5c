//! The names of keys: identifiers, ARNs, aliases.

use super::KmsError;
use super::documents::{Alias, KeyRecord};
use crate::hex;
use crate::records::Records;
use crate::settings::Settings;
use crate::uuid;
use std::sync::Arc;

/// The kinds of names that a request may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// Identifiers and key ARNs.
    Keys,
    /// These, alias names and alias ARNs.
    All,
}

/// A key that a request names.
#[derive(Debug, Clone)]
pub(super) struct Key {
    /// The key.
    pub(super) record: Arc<KeyRecord>,
    /// Its ARN.
    pub(super) arn: String,
    /// The alias that the request names it by.
    pub(super) alias: Option<String>,
}

/// The ARN of the key `id`.
#[must_use]
pub(super) fn key_arn(settings: &Settings, id: &str) -> String {
    arn(settings, "key/", id)
}

/// The ARN of the alias `name`, which has `alias/` in front.
#[must_use]
pub(super) fn alias_arn(settings: &Settings, name: &str) -> String {
    arn(settings, "", name)
}

fn arn(settings: &Settings, kind: &str, name: &str) -> String {
    ["arn:aws:kms:", &settings.region, ":", &settings.account, ":", kind, name].concat()
}

/// The key that `name` stands for.
pub(super) fn find(
    settings: &Settings,
    records: &Records,
    name: &str,
    names: Names,
) -> Result<Key, KmsError> {
    let unknown = || KmsError::not_found(format!("Invalid keyId '{name}'"));
    let local = if name.starts_with("arn:") { resource(settings, name)? } else { name };
    if let Some(id) = local.strip_prefix("key/").filter(|_| local.len() < name.len()) {
        return by_id(settings, records, id, None);
    }
    if local.starts_with("alias/") {
        if names == Names::Keys {
            return Err(unknown());
        }
        let found = records.get::<Alias>(local);
        let alias = found.ok_or_else(|| alias_not_found(settings, local))?;
        return by_id(settings, records, &alias.key_id, Some(alias.name.clone()));
    }
    by_id(settings, records, local, None).map_err(|error| {
        // Keys of several regions are known to AWS, and not to this service.
        if uuid::is_one(local) || local.starts_with("mrk-") { error } else { unknown() }
    })
}

/// Whether a name is that of an alias, or an alias ARN.
#[must_use]
pub(super) fn is_alias(name: &str) -> bool {
    let resource = if name.starts_with("arn:") { name.splitn(6, ':').nth(5) } else { Some(name) };
    resource.is_some_and(|resource| resource.starts_with("alias/"))
}

/// The error of an alias that is not there.
#[must_use]
pub(super) fn alias_not_found(settings: &Settings, name: &str) -> KmsError {
    KmsError::not_found(format!("Alias {} is not found.", alias_arn(settings, name)))
}

fn by_id(settings: &Settings, records: &Records, id: &str, alias: Option<String>) -> Result<Key, KmsError> {
    let arn = key_arn(settings, id);
    match records.get::<KeyRecord>(id) {
        Some(record) => Ok(Key { record, arn, alias }),
        None => Err(KmsError::not_found(format!("Key '{arn}' does not exist"))),
    }
}

/// The last part of an ARN of this region and account.
fn resource<'a>(settings: &Settings, arn: &'a str) -> Result<&'a str, KmsError> {
    let mut parts = arn.splitn(6, ':');
    let (Some("arn"), Some("aws"), Some("kms"), Some(region), Some(account), Some(resource)) =
        (parts.next(), parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(KmsError::new("InvalidArnException", format!("{arn} is not a valid ARN")));
    };
    if region != settings.region {
        return Err(KmsError::not_found(format!("Invalid arn {region}")));
    }
    if account != settings.account || !(resource.starts_with("key/") || resource.starts_with("alias/")) {
        return Err(KmsError::not_found(format!("Invalid arn {arn}")));
    }
    Ok(resource)
}

/// `len` random bytes in hexadecimal.
pub(super) fn random_hex(len: usize) -> Result<String, KmsError> {
    let mut bytes = vec![0; len];
    getrandom::fill(&mut bytes)?;
    Ok(hex::encode(&bytes))
}
