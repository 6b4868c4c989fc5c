//! `/v1/transit/encrypt`, `decrypt` and `rewrap`.

use super::answer::{Answer, Fault};
use super::items::{Failures, Item, Outcome, Request, Waiting, decode, parse};
use super::key::{TransitKey, Use};
use super::lax::{Int, Text};
use super::{Call, Transit};
use crate::door;
use axum::extract::{Path, State};
use axum::response::Response;
use base64::engine::general_purpose::STANDARD;
use modmill_rsa::{Encryption, Hash, ItemError, PrivateTask, PublicTask};
use std::collections::BTreeMap;
use std::sync::Arc;
use zeroize::Zeroizing;

type Plain = Zeroizing<Vec<u8>>;

/// A ciphertext and the version of the key that it is for.
struct Sealed {
    bytes: Vec<u8>,
    version: u32,
}

/// The scheme that a request names: OAEP with SHA-256 unless it says otherwise.
fn scheme(name: Option<&Text<'_>>) -> Result<Encryption, Fault> {
    match name.map_or("", Text::as_str) {
        "" | "oaep" => Ok(Encryption::oaep(Hash::Sha256)),
        "pkcs1v15" => Ok(Encryption::Pkcs1v15),
        other => Err(Fault::bad(format!("unsupported padding scheme {other:?}"))),
    }
}

/// The version that an item is encrypted for: its own, or the request's.
fn target(item: &Item<'_>, request: Option<Int>, key: &TransitKey) -> Result<u32, String> {
    let Int(asked) = item.key_version.or(request).unwrap_or_default();
    key.forward(asked, Use::Encryption)
}

fn write_sealed(answer: &mut Answer, Sealed { bytes, version }: &Sealed) {
    answer.raw("\"ciphertext\":\"vault:v").value(version).raw(":").base64(bytes);
    answer.raw("\",\"key_version\":").value(version);
}

fn explain<A>(error: ItemError) -> Result<A, String> {
    Err(match error {
        ItemError::Decryption | ItemError::WrongLength { .. } | ItemError::OutOfRange => {
            "failed to RSA decrypt the ciphertext: decryption error".into()
        }
        other => other.to_string(),
    })
}

pub(super) async fn encrypt(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    let key = transit.key(&name, "encryption")?;
    let origin = transit.origin(&call, "encrypt", &key.name);
    let (len, body, own) = (call.body.len(), call.body, Arc::clone(&key));
    let mut waiting = door::sized(len, move || encryptions(&body, &own)).await.map_err(Fault::internal)??;
    waiting.public(&transit, &key, &origin, |bytes, version| Sealed { bytes, version }, explain).await?;
    waiting.respond(&call.request_id, Failures::Fail, "", write_sealed)
}

fn encryptions(body: &[u8], key: &TransitKey) -> Result<Waiting<PublicTask, Sealed>, Fault> {
    let mut request: Request<'_> = parse(body)?;
    let scheme = scheme(request.padding_scheme.as_ref())?;
    let asked = request.key_version;
    Waiting::new(&mut request, |item| {
        let text = item.plaintext.as_ref().ok_or("missing plaintext to encrypt")?;
        let message = decode(text.as_str()).map_err(|_| "failed to base64-decode plaintext")?;
        let task = PublicTask::Encrypt { scheme: scheme.clone(), message: Zeroizing::new(message) };
        Ok((target(item, asked, key)?, task))
    })
}

/// The operation that decrypts an item.
fn decryption(item: &Item<'_>, scheme: &Encryption, key: &TransitKey) -> Result<(u32, PrivateTask), String> {
    let text = item.ciphertext.as_ref().map(Text::as_str).filter(|text| !text.is_empty());
    let (version, ciphertext) =
        key.backward(text.ok_or("missing ciphertext to decrypt")?, "ciphertext", &STANDARD)?;
    Ok((version, PrivateTask::Decrypt { scheme: scheme.clone(), ciphertext }))
}

pub(super) async fn decrypt(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    let key = transit.key(&name, "encryption")?;
    let origin = transit.origin(&call, "decrypt", &key.name);
    let (len, body, own) = (call.body.len(), call.body, Arc::clone(&key));
    let work = move || {
        let mut request: Request<'_> = parse(&body)?;
        let scheme = scheme(request.padding_scheme.as_ref())?;
        Waiting::<PrivateTask, Plain>::new(&mut request, |item| decryption(item, &scheme, &own))
    };
    let mut waiting = door::sized(len, work).await.map_err(Fault::internal)??;
    waiting.private(&transit, &key, &origin, |plain| plain, explain).await?;
    let write = |answer: &mut Answer, plain: &Plain| {
        answer.raw("\"plaintext\":\"").base64(plain).raw("\"");
    };
    // Vault has an empty plaintext next to an error.
    waiting.respond(&call.request_id, Failures::Fail, "\"plaintext\":\"\",", write)
}

/// The items of a request to rewrap: first they are decrypted, then encrypted for the versions in `targets`.
struct Rewrapping {
    decryptions: Waiting<PrivateTask, Plain>,
    targets: Vec<u32>,
    scheme: Encryption,
}

pub(super) async fn rewrap(
    State(transit): State<Arc<Transit>>,
    Path(name): Path<String>,
    call: Call,
) -> Result<Response, Fault> {
    let key = transit.key(&name, "encryption")?;
    let origin = transit.origin(&call, "rewrap", &key.name);
    let (len, body, own) = (call.body.len(), call.body, Arc::clone(&key));
    let work = door::sized(len, move || rewrapping(&body, &own)).await.map_err(Fault::internal)??;
    let Rewrapping { mut decryptions, targets, scheme } = work;
    decryptions.private(&transit, &key, &origin, |plain| plain, explain).await?;
    let mut waiting: Waiting<PublicTask, Sealed> = Waiting {
        outcomes: Vec::with_capacity(targets.len()),
        groups: BTreeMap::new(),
        is_batch: decryptions.is_batch,
        partial: decryptions.partial,
    };
    for (place, (outcome, version)) in decryptions.outcomes.into_iter().zip(targets).enumerate() {
        let result = outcome.result.and_then(|plain| {
            let message = plain.ok_or("no answer")?;
            let (places, tasks) = waiting.groups.entry(version).or_default();
            places.push(place);
            tasks.push(PublicTask::Encrypt { scheme: scheme.clone(), message });
            Ok(None)
        });
        waiting.outcomes.push(Outcome { result, reference: outcome.reference });
    }
    waiting.public(&transit, &key, &origin, |bytes, version| Sealed { bytes, version }, explain).await?;
    waiting.respond(&call.request_id, Failures::Fail, "", write_sealed)
}

fn rewrapping(body: &[u8], key: &TransitKey) -> Result<Rewrapping, Fault> {
    let mut request: Request<'_> = parse(body)?;
    let common = request.padding_scheme.as_ref();
    let opens = scheme(request.decrypt_padding_scheme.as_ref().or(common))?;
    let seals = scheme(request.encrypt_padding_scheme.as_ref().or(common))?;
    let asked = request.key_version;
    let mut targets = Vec::new();
    let decryptions = Waiting::new(&mut request, |item| {
        let target = target(item, asked, key);
        targets.push(target.clone().unwrap_or_default());
        target?;
        decryption(item, &opens, key)
    })?;
    Ok(Rewrapping { decryptions, targets, scheme: seals })
}
