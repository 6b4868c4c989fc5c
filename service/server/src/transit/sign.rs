//! `/v1/transit/sign` and `/v1/transit/verify`.

use super::answer::{Answer, Fault};
use super::items::{Failures, Item, Outcome, Request, Waiting, decode_input, parse};
use super::key::{TransitKey, Use};
use super::lax::{Flag, Int, Text};
use super::{Call, Transit};
use crate::batch::Rows;
use crate::door;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use modmill_rsa::{Digest, Hash, ItemError, Pss, PublicTask, SaltLength, SignatureScheme};
use serde::Deserialize;
use std::sync::Arc;

/// The name of a key, and perhaps of a hash, in the path.
#[derive(Debug, Deserialize)]
pub(super) struct Place {
    name: String,
    hash: Option<String>,
}

/// The hash of a request: named in the path, or in the body, or SHA-256.
fn hash(request: &Request<'_>, in_path: Option<&str>) -> Result<Hash, Fault> {
    let in_body = request.hash_algorithm.as_ref().or(request.algorithm.as_ref()).map(Text::as_str);
    let name = in_path.or(in_body).filter(|name| !name.is_empty()).unwrap_or("sha2-256");
    let known = [
        "sha1", "sha2-224", "sha2-256", "sha2-384", "sha2-512", "sha3-224", "sha3-256", "sha3-384",
        "sha3-512",
    ];
    let found = known.contains(&name).then(|| name.parse().ok()).flatten();
    found.ok_or_else(|| Fault::bad(format!("invalid hash algorithm {name:?}")))
}

/// The encoding of signatures in requests and answers. RSA signatures have no other structure.
fn marshaling(request: &Request<'_>) -> Result<&'static GeneralPurpose, Fault> {
    match request.marshaling_algorithm.as_ref().map_or("", Text::as_str) {
        "asn1" | "" => Ok(&STANDARD),
        "jws" => Ok(&URL_SAFE_NO_PAD),
        other => Err(Fault::bad(format!("invalid marshaling type {other:?}"))),
    }
}

/// The length of a salt as Vault reads it: -1 is that of the hash, and 0 is `auto`, which stands for no
/// choice.
fn salt_length(text: &str, auto: SaltLength) -> Result<SaltLength, Fault> {
    match text.to_ascii_lowercase().as_str() {
        "auto" | "" => Ok(auto),
        "hash" => Ok(SaltLength::Digest),
        lower => match lower.parse::<i64>() {
            Ok(-1) => Ok(SaltLength::Digest),
            Ok(0) => Ok(auto),
            Ok(number) => usize::try_from(number)
                .map(SaltLength::Bytes)
                .map_err(|_| Fault::bad(format!("salt length is invalid: {number}"))),
            Err(_) => Err(Fault::bad(format!("salt length neither 'auto', 'hash', nor an int: {text}"))),
        },
    }
}

/// The scheme of a request. `auto` is the salt that stands for no choice.
fn scheme(request: &Request<'_>, hash: Hash, auto: SaltLength) -> Result<SignatureScheme, Fault> {
    match request.signature_algorithm.as_ref().map_or("", Text::as_str) {
        "pkcs1v15" => Ok(SignatureScheme::Pkcs1v15(hash)),
        "" | "pss" => {
            let salt = salt_length(request.salt_length.as_ref().map_or("", Text::as_str), auto)?;
            Ok(SignatureScheme::Pss(Pss { salt, ..Pss::new(hash) }))
        }
        other => Err(Fault::bad(format!("unsupported rsa signature algorithm {other}"))),
    }
}

/// Turns inputs into digests.
struct Digests {
    hash: Hash,
    prehashed: bool,
    buffer: Vec<u8>,
}

impl Digests {
    fn new(request: &Request<'_>, hash: Hash) -> Self {
        Self { hash, prehashed: request.prehashed == Some(Flag(true)), buffer: Vec::new() }
    }

    /// The digest of an item's input. In a batch the input must be there, even if it is empty.
    fn of(&mut self, item: &Item<'_>, is_batch: bool) -> Result<Digest, String> {
        let text = match &item.input {
            Some(text) => text.as_str(),
            None if is_batch => return Err("missing input".into()),
            None => "",
        };
        decode_input(text, &mut self.buffer)?;
        if !self.prehashed {
            return Ok(self.hash.digest(&[&self.buffer]));
        }
        let fits = self.buffer.len() == self.hash.len();
        let digest = if fits { Digest::from_bytes(&self.buffer) } else { None };
        digest.ok_or_else(|| {
            format!(
                "the input has {} bytes; a digest of {} has {}",
                self.buffer.len(),
                self.hash,
                self.hash.len()
            )
        })
    }
}

/// A request to sign, ready for the batcher.
struct Prepared {
    version: u32,
    scheme: SignatureScheme,
    encoding: &'static GeneralPurpose,
    /// The digests of the items without an error, side by side.
    digests: Vec<u8>,
    items: Vec<Outcome<()>>,
    is_batch: bool,
}

fn prepare(body: &[u8], in_path: Option<&str>, key: &TransitKey) -> Result<Prepared, Fault> {
    let mut request: Request<'_> = parse(body)?;
    let hash = hash(&request, in_path)?;
    if hash == Hash::Sha1 {
        return Err(Fault::bad("hash algorithm \"sha1\" verifies signatures, but makes none"));
    }
    let encoding = marshaling(&request)?;
    let scheme = scheme(&request, hash, SaltLength::Longest)?;
    let asked = request.key_version.map_or(0, |Int(version)| version);
    let version = key.forward(asked, Use::Signing).map_err(Fault::bad)?;
    let mut digester = Digests::new(&request, hash);
    let (inputs, is_batch) = request.items()?;
    let mut digests = Vec::with_capacity(inputs.len() * hash.len());
    let outcome = |item: &Item<'_>| {
        let result = digester.of(item, is_batch).map(|digest| digests.extend_from_slice(digest.as_ref()));
        let reference = item.reference.as_ref().map_or_else(String::new, |text| text.as_str().to_owned());
        Outcome { result, reference }
    };
    let items = inputs.iter().map(outcome).collect();
    Ok(Prepared { version, scheme, encoding, digests, items, is_batch })
}

pub(super) async fn sign(
    State(transit): State<Arc<Transit>>,
    Path(place): Path<Place>,
    call: Call,
) -> Result<Response, Fault> {
    let key = transit.key(&place.name, "signing")?;
    let origin = transit.origin(&call, "sign", &key.name);
    let len = call.body.len();
    let (body, own) = (call.body, Arc::clone(&key));
    let work = move || prepare(&body, place.hash.as_deref(), &own);
    let mut prepared = door::sized(len, work).await.map_err(Fault::internal)??;
    let digests = Bytes::from(std::mem::take(&mut prepared.digests));
    let rows = if digests.is_empty() {
        None
    } else {
        let private = transit.private(&key, prepared.version).await?;
        Some(transit.service.batcher.sign_rows(origin, private, prepared.scheme, digests).await?)
    };
    let request_id = call.request_id;
    let bytes = prepared.items.len() * key.bits / 8;
    door::sized(bytes, move || respond(&request_id, &prepared, rows.as_ref()))
        .await
        .map_err(Fault::internal)?
}

fn respond(request_id: &str, prepared: &Prepared, rows: Option<&Rows>) -> Result<Response, Fault> {
    let mut rows = rows.into_iter().flat_map(Rows::iter);
    let mut next = |item: &Outcome<()>| match &item.result {
        Err(error) => Err(error.clone()),
        Ok(()) => rows.next().unwrap_or(Err(&ItemError::Fault)).map_err(ToString::to_string),
    };
    let write = |answer: &mut Answer, signature: &[u8]| {
        let version = prepared.version;
        answer.raw("\"signature\":\"vault:v").value(&version).raw(":").encoded(signature, prepared.encoding);
        answer.raw("\",\"key_version\":").value(&version);
    };
    let mut answer = Answer::new(request_id, prepared.items.len() * 800);
    if let [item] = &prepared.items[..]
        && !prepared.is_batch
    {
        let signature = next(item).map_err(Fault::bad)?;
        answer.raw("{");
        write(&mut answer, signature);
        answer.raw("}");
        return Ok(answer.finish(StatusCode::OK, &[]));
    }
    answer.raw("{\"batch_results\":[");
    for (place, item) in prepared.items.iter().enumerate() {
        answer.raw(if place == 0 { "{" } else { ",{" });
        match next(item) {
            Ok(signature) => write(&mut answer, signature),
            Err(error) => {
                answer.raw("\"error\":").value(&error);
            }
        }
        answer.raw(",\"reference\":").value(&item.reference).raw("}");
    }
    answer.raw("]}");
    // A batch to sign is answered with 200 even if items failed: clients look at each item.
    Ok(answer.finish(StatusCode::OK, &[]))
}

pub(super) async fn verify(
    State(transit): State<Arc<Transit>>,
    Path(place): Path<Place>,
    call: Call,
) -> Result<Response, Fault> {
    let key = transit.key(&place.name, "signature verification")?;
    let origin = transit.origin(&call, "verify", &key.name);
    let len = call.body.len();
    let (body, own) = (call.body, Arc::clone(&key));
    let work = move || verifications(&body, place.hash.as_deref(), &own);
    let mut waiting = door::sized(len, work).await.map_err(Fault::internal)??;
    // A wrong signature is an answer, and not a failure.
    let explain = |_: ItemError| Ok(false);
    waiting.public(&transit, &key, &origin, |_, _| true, explain).await?;
    let write = |answer: &mut Answer, valid: &bool| {
        answer.raw("\"valid\":").value(valid);
    };
    waiting.respond(&call.request_id, Failures::Show, "\"valid\":false,", write)
}

fn verifications(
    body: &[u8],
    in_path: Option<&str>,
    key: &TransitKey,
) -> Result<Waiting<PublicTask, bool>, Fault> {
    let mut request: Request<'_> = parse(body)?;
    let hash = hash(&request, in_path)?;
    let encoding = marshaling(&request)?;
    let scheme = scheme(&request, hash, SaltLength::Any)?;
    let mut digests = Digests::new(&request, hash);
    let is_batch = request.is_batch();
    Waiting::new(&mut request, |item| {
        let signature = match (&item.signature, &item.hmac) {
            (Some(signature), _) => signature.as_str(),
            (None, Some(_)) => return Err("keys of this type do not support HMAC".into()),
            (None, None) if is_batch => return Err("missing signature".into()),
            (None, None) => return Err("neither a 'signature' nor an 'hmac' were given to verify".into()),
        };
        let digest = digests.of(item, is_batch)?;
        let (version, signature) = key.backward(signature, "signature", encoding)?;
        Ok((version, PublicTask::Verify { scheme, digest, signature }))
    })
}
