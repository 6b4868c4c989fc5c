//! Keys that come from elsewhere, and keys that leave: `wrapping_key`, `import`, `export`.

use super::answer::{Answer, Fault, respond};
use super::items::{decode, parse};
use super::key::{TransitKey, Version, WrappingKey};
use super::keys::{NewKey, check_name, describe, generate, update};
use super::lax::{Flag, Text};
use super::versions::add_version;
use super::{Call, Transit};
use crate::audit::{Entry, Subject};
use crate::changes::{self, Change};
use crate::door;
use crate::records::{Changes, Records, RecordsError};
use crate::sha256::sha256;
use aes_kw::KwpAes256;
use aes_kw::cipher::KeyInit;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use modmill_rsa::{AnyKey, Encryption, Hash, PrivateKey, PrivateTask, Sizes};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The length of the wrapping key.
const WRAPPING_BITS: usize = 4096;

/// The wrapping key, which is made when it is first needed, in the turn of whoever asks then. The audit log
/// notes that.
async fn wrapping(transit: &Transit, call: &Call) -> Result<Arc<WrappingKey>, Fault> {
    let records = &transit.service.records;
    if let Some(key) = records.get(WrappingKey::ID) {
        return Ok(key);
    }
    let version = generate(transit, call, WRAPPING_BITS).await?;
    let own = Arc::new(WrappingKey { id: WrappingKey::ID.into(), version });
    let origin = transit.origin(call, "create_wrapping_key", WrappingKey::ID);
    let service = Arc::clone(&transit.service);
    let put = async move {
        // If another request was faster, its key is the one.
        let decide = |records: &Records| -> Result<_, RecordsError> {
            Ok(match records.get::<WrappingKey>(WrappingKey::ID) {
                Some(other) => (Changes::new(), other),
                None => (Changes::new().put(&*own), Arc::clone(&own)),
            })
        };
        let result = service.records.change(decide).await;
        let is_noted = result.as_ref().map_or(true, |key| Arc::ptr_eq(key, &own));
        let change = Change { origin, received: None, particulars: Value::Null };
        (is_noted.then_some(change), result.map_err(Fault::from))
    };
    changes::make(transit.service.batcher.audit(), put).await
}

pub(super) async fn wrapping_key(State(transit): State<Arc<Transit>>, call: Call) -> Result<Response, Fault> {
    let key = wrapping(&transit, &call).await?;
    Ok(respond(&call.request_id, &json!({ "public_key": key.version.public_key }), &[]))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Import<'a> {
    #[serde(borrow)]
    ciphertext: Option<Text<'a>>,
    #[serde(borrow)]
    hash_function: Option<Text<'a>>,
    #[serde(borrow)]
    public_key: Option<Text<'a>>,
    allow_rotation: Option<Flag>,
}

/// The private key of an import: an AES key under OAEP, then the PKCS #8 of the key under that (AES-KWP).
async fn unwrap(transit: &Transit, call: &Call, import: &Import<'_>) -> Result<PrivateKey, Fault> {
    if import.public_key.is_some() {
        return Err(Fault::bad("importing public keys is not supported"));
    }
    let text = import.ciphertext.as_ref().map_or("", Text::as_str);
    if text.is_empty() {
        return Err(Fault::bad("no ciphertext provided"));
    }
    let name = import.hash_function.as_ref().map_or("SHA256", Text::as_str);
    let hash: Option<Hash> = name.parse().ok();
    let allowed = [Hash::Sha1, Hash::Sha224, Hash::Sha256, Hash::Sha384, Hash::Sha512];
    let hash = hash.filter(|hash| allowed.contains(hash));
    let hash = hash.ok_or_else(|| Fault::bad(format!("unsupported hash function {name:?}")))?;
    let bytes = decode(text).map_err(Fault::bad)?;
    let (sealed_key, wrapped) = bytes
        .split_at_checked(WRAPPING_BITS / 8)
        .ok_or_else(|| Fault::bad("provided ciphertext is too short"))?;
    let wrapping = wrapping(transit, call).await?;
    let private =
        door::private_key(&transit.service, &wrapping.version.material_id, &wrapping.version.material).await;
    let origin = transit.origin(call, "import", WrappingKey::ID);
    let task = PrivateTask::Decrypt { scheme: Encryption::oaep(hash), ciphertext: sealed_key.to_vec() };
    let private = private.map_err(Fault::internal)?;
    // One text for all that may be wrong from here on, so that it tells nothing about the wrapping key.
    let wrong = || Fault::bad("the ciphertext does not hold a wrapped key for this wrapping key");
    let aes = match transit.service.batcher.private(origin, private, task).await {
        Ok(aes) => aes,
        Err(crate::batch::Refused::Item(_)) => return Err(wrong()),
        Err(refused) => return Err(refused.into()),
    };
    let aes = Zeroizing::new(<[u8; 32]>::try_from(&aes[..]).map_err(|_| wrong())?);
    let (wrapped, engine) = (wrapped.to_vec(), Arc::clone(transit.service.batcher.cpu()));
    let work = move || {
        let kwp = KwpAes256::new_from_slice(&*aes).map_err(|_| wrong())?;
        let mut room = Zeroizing::new(vec![0; wrapped.len()]);
        let der = kwp.unwrap_key(&wrapped, &mut room).map_err(|_| wrong())?;
        let unusable =
            |error: &dyn std::fmt::Display| Fault::bad(format!("the wrapped key cannot be used: {error}"));
        match AnyKey::read(der, None, Sizes::Standard) {
            Ok(AnyKey::Private(key)) => {
                key.check_primes(&engine).map(|()| key).map_err(|error| unusable(&error))
            }
            Ok(AnyKey::Public(_)) => Err(wrong()),
            Err(error) => Err(unusable(&error)),
        }
    };
    let deadline = door::deadline(&transit.service);
    transit.service.generator.run(&call.principal, deadline, work).await?
}

/// The version of an imported key, which has to have `bits` bits.
async fn imported(
    transit: &Transit,
    call: &Call,
    import: &Import<'_>,
    bits: usize,
) -> Result<Version, Fault> {
    let key = unwrap(transit, call, import).await?;
    if key.bits() != bits {
        return Err(Fault::bad(format!(
            "the wrapped key has {} bits, and not the {bits} of its type",
            key.bits()
        )));
    }
    Version::of(&key, transit.service.clock.now_ms())
}

pub(super) async fn import(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    check_name(&name)?;
    let options: NewKey<'_> = parse(&call.body)?;
    let import: Import<'_> = parse(&call.body)?;
    let bits = options.bits()?;
    let mut key = TransitKey::new(&name, bits, imported(&transit, &call, &import, bits).await?);
    key.imported = true;
    key.allow_rotation = import.allow_rotation == Some(Flag(true));
    key.exportable = options.exportable == Some(Flag(true));
    let decide = |records: &Records| {
        if records.get::<TransitKey>(&name).is_some() {
            return Err(Fault::bad(
                "the import path cannot be used with an existing key; use import-version to rotate an existing imported key",
            ));
        }
        Ok((Changes::new().put(&key), ()))
    };
    transit.service.records.change(decide).await?;
    Ok(super::answer::nothing())
}

pub(super) async fn import_version(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    let import: Import<'_> = parse(&call.body)?;
    let missing = || {
        Fault::bad(format!("no key found with name {name}; to import a new key, use the import/ endpoint"))
    };
    let bits = transit.service.records.get::<TransitKey>(&name).ok_or_else(missing)?.bits;
    let version = imported(&transit, &call, &import, bits).await?;
    let add = |key: &mut TransitKey| {
        if !key.imported {
            return Err(Fault::bad("the import_version endpoint can only be used with an imported key"));
        }
        add_version(key, &version);
        Ok(())
    };
    let key = update(&transit, &name, add).await?;
    Ok(respond(&call.request_id, &describe(&key), &[]))
}

/// The part of a key that is asked for, and the version.
#[derive(Debug, Deserialize)]
pub(super) struct Exported {
    kind: String,
    name: String,
    version: Option<String>,
}

pub(super) async fn export(
    State(transit): State<Arc<Transit>>,
    Path(Exported { kind, name, version }): Path<Exported>,
    call: Call,
) -> Result<Response, Fault> {
    let is_public = match kind.as_str() {
        "public-key" => true,
        "encryption-key" | "signing-key" => false,
        _ => return Err(Fault::bad(format!("invalid export type: {kind}"))),
    };
    let key = transit.service.records.get::<TransitKey>(&name).ok_or_else(Fault::missing)?;
    if !is_public && !key.exportable {
        return Err(Fault::bad("private key material is not exportable"));
    }
    let wanted = match version.as_deref() {
        None => None,
        Some("latest") => Some(key.latest_version),
        Some(text) => Some(text.parse().map_err(|_| Fault::bad("invalid key version"))?),
    };
    let oldest = key.min_decryption_version;
    let chosen: Vec<_> = key
        .versions
        .iter()
        .filter(|(number, _)| **number >= oldest && wanted.is_none_or(|wanted| wanted == **number))
        .collect();
    if chosen.is_empty() {
        return Err(Fault::bad("version does not exist or cannot be found"));
    }
    if !is_public && let Some(audit) = transit.service.batcher.audit() {
        let origin = transit.origin(&call, "export", &key.name);
        let subject = Subject::Hashed(sha256(&[key.name.as_bytes()]));
        let entry = Entry { origin: &origin, subject, error: None };
        let written = tokio::task::block_in_place(|| audit.write(&[entry]));
        written.map_err(|error| Fault::internal(error.to_string()))?;
    }
    let mut answer = Answer::new(&call.request_id, chosen.len() * 8192);
    answer.raw("{\"name\":").value(&key.name).raw(",\"type\":").value(&key.type_name()).raw(",\"keys\":{");
    for (place, (number, version)) in chosen.into_iter().enumerate() {
        answer.raw(if place == 0 { "" } else { "," }).value(&number.to_string()).raw(":");
        if is_public {
            answer.value(&version.public_key);
        } else {
            let private = transit.private(&key, *number).await?;
            let pem = private.to_pkcs1_pem().map_err(|error| Fault::internal(error.to_string()))?;
            answer.value(pem.as_str());
        }
    }
    answer.raw("}}");
    Ok(answer.finish(StatusCode::OK, &[]))
}
