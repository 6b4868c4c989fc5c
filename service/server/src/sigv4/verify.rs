//! The server's side.

use super::canonical::{Canonical, canonical_request};
use super::keys::{SigningKeys, hmac};
use super::{Authorization, SigV4Error, string_to_sign, time};
use crate::credentials::{Credential, Principal};
use crate::hex;
use crate::records::Records;
use http::HeaderMap;
use http::request::Parts;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// The region and the service that a request must be signed for.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The region.
    pub region: &'a str,
    /// The service.
    pub service: &'a str,
    /// The server's time in seconds since 1970.
    pub now_s: u64,
    /// How far the request's time may be from it, in seconds.
    pub skew_s: u64,
    /// Headers besides `host` that must be signed if they are in the request.
    pub signed: &'a [&'a str],
}

/// The head of a request whose sender is known by name. That it is the sender's, only the signature shows.
pub struct Known<'a> {
    authorization: Authorization<'a>,
    time: String,
    credential: Arc<Credential>,
}

/// Checks all that can be checked without the body: the form of the head, its time and scope, and that there
/// is a credential with the access key that it names.
pub fn known<'a>(
    records: &Records,
    parts: &'a Parts,
    expected: &Expected<'_>,
) -> Result<Known<'a>, SigV4Error> {
    let authorization = text(&parts.headers, "authorization")?.ok_or(SigV4Error::Missing)?;
    let authorization = Authorization::parse(authorization)?;
    if parts.headers.contains_key("x-amz-security-token") {
        return Err(SigV4Error::Unrecognized);
    }
    let time = time_of(&parts.headers)?;
    must_be_signed(&authorization, &parts.headers, expected.signed)?;
    check_scope(&authorization, &time, expected)?;
    let credential = records.get(authorization.access_key_id).ok_or(SigV4Error::Unrecognized)?;
    Ok(Known { authorization, time, credential })
}

/// Verifies requests. It keeps the signing keys of the day.
#[derive(Default)]
pub struct Verifier {
    keys: SigningKeys,
}

/// The sender of a request, as far as its head shows.
pub enum Sender {
    /// The principal whose credential signed the head. The head names the hash of the body, which has to be
    /// compared.
    Proven(Arc<Principal>),
    /// Somebody who names this access key. Its signature can be verified with the body only.
    Named(String),
}

impl Verifier {
    /// The sender of the request with the head `parts`. If the head names the hash of the body, its signature
    /// is verified.
    pub fn sender(
        &self,
        records: &Records,
        parts: &Parts,
        expected: &Expected<'_>,
    ) -> Result<Sender, SigV4Error> {
        let known = known(records, parts, expected)?;
        match text(&parts.headers, PAYLOAD_HASH)?.filter(|hash| is_hash(hash)) {
            None => Ok(Sender::Named(known.authorization.access_key_id.to_owned())),
            Some(hash) => self.check(&known, parts, hash, expected).map(Sender::Proven),
        }
    }

    /// The principal that signed the request with the head `parts` and the body `body`.
    pub fn verify(
        &self,
        records: &Records,
        parts: &Parts,
        body: &[u8],
        expected: &Expected<'_>,
    ) -> Result<Arc<Principal>, SigV4Error> {
        let known = known(records, parts, expected)?;
        self.check(&known, parts, &payload_hash(&parts.headers, body)?, expected)
    }

    /// Compares the signature of a head, whose body has the hash `payload_hash`.
    fn check(
        &self,
        Known { authorization, time, credential }: &Known<'_>,
        parts: &Parts,
        payload_hash: &str,
        expected: &Expected<'_>,
    ) -> Result<Arc<Principal>, SigV4Error> {
        let canonical = canonical_request(&Canonical {
            method: parts.method.as_str(),
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or_default(),
            headers: &parts.headers,
            host: parts.uri.authority().map(http::uri::Authority::as_str),
            signed_headers: authorization.signed_headers,
            payload_hash,
        })?;
        let text = string_to_sign(time, expected.region, expected.service, &canonical);
        let (key, principal) =
            self.keys.get(credential, authorization.date, expected.region, expected.service);
        let signature = hmac(&**key, text.as_bytes());
        if bool::from(signature.ct_eq(&authorization.signature)) {
            Ok(principal)
        } else {
            Err(SigV4Error::Mismatch)
        }
    }
}

/// A header that may come once.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, SigV4Error> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    match value.to_str() {
        Ok(value) if values.next().is_none() => Ok(Some(value)),
        _ => Err(SigV4Error::Incomplete(format!("The header '{name}' cannot be read."))),
    }
}

/// The time of a request, from `x-amz-date` or else `date`, as SigV4 writes it.
fn time_of(headers: &HeaderMap) -> Result<String, SigV4Error> {
    let wrong = |value: &str| {
        SigV4Error::Incomplete(format!(
            "Date must be in ISO-8601 'basic format'. Got '{value}'. See http://en.wikipedia.org/wiki/ISO_8601"
        ))
    };
    if let Some(value) = text(headers, "x-amz-date")? {
        time::time_of(value).ok_or_else(|| wrong(value))?;
        return Ok(value.to_owned());
    }
    let value = text(headers, "date")?.ok_or_else(|| {
        SigV4Error::Incomplete(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.".into(),
        )
    })?;
    let seconds = time::http_time(value).or_else(|| time::time_of(value));
    seconds.map(time::timestamp).ok_or_else(|| wrong(value))
}

fn must_be_signed(
    authorization: &Authorization<'_>,
    headers: &HeaderMap,
    names: &[&str],
) -> Result<(), SigV4Error> {
    let signed = |name: &str| authorization.signed_headers.split(';').any(|signed| signed == name);
    if !signed("host") {
        let message = "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.";
        return Err(SigV4Error::Scope(message.into()));
    }
    match names.iter().find(|name| headers.contains_key(**name) && !signed(name)) {
        Some(name) => {
            Err(SigV4Error::Scope(format!("'{name}' must be a 'SignedHeader' in the AWS Authorization.")))
        }
        None => Ok(()),
    }
}

fn check_scope(
    authorization: &Authorization<'_>,
    time: &str,
    expected: &Expected<'_>,
) -> Result<(), SigV4Error> {
    let scope = |message: String| Err(SigV4Error::Scope(message));
    if authorization.region != expected.region {
        return scope(format!(
            "Credential should be scoped to a valid region, not '{}'. The region of this service is '{}'.",
            authorization.region, expected.region
        ));
    }
    if authorization.service != expected.service {
        return scope(format!("Credential should be scoped to correct service: '{}'.", expected.service));
    }
    if time.get(..8) != Some(authorization.date) {
        return scope(format!(
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '{}' != '{}', from '{time}'.",
            authorization.date,
            time.get(..8).unwrap_or_default()
        ));
    }
    let Expected { now_s: now, skew_s: skew, .. } = *expected;
    let signed = time::time_of(time).unwrap_or(0);
    if signed.saturating_add(skew) < now {
        return scope(format!(
            "Signature expired: {time} is now earlier than {} ({} - {} min.)",
            time::timestamp(now - skew),
            time::timestamp(now),
            skew / 60
        ));
    }
    if signed > now.saturating_add(skew) {
        return scope(format!(
            "Signature not yet current: {time} is still later than {} ({} + {} min.)",
            time::timestamp(now.saturating_add(skew)),
            time::timestamp(now),
            skew / 60
        ));
    }
    Ok(())
}

/// The header that names the hash of the body.
const PAYLOAD_HASH: &str = "x-amz-content-sha256";

/// Whether a text is a hash of SHA-256: 64 hexadecimal digits in lower case.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// The hash of the body. A header that names another hash, or none, is refused.
fn payload_hash(headers: &HeaderMap, body: &[u8]) -> Result<String, SigV4Error> {
    let hash = hex::encode(&Sha256::digest(body));
    match text(headers, PAYLOAD_HASH)? {
        Some(named) if named != hash => Err(SigV4Error::Scope(
            "The value passed in as x-amz-content-sha256 does not match the body's.".into(),
        )),
        _ => Ok(hash),
    }
}
