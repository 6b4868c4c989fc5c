//! The server's side.

use super::canonical::{Canonical, canonical_request};
use super::keys::SigningKeys;
use super::{Authorization, SigV4Error, string_to_sign, time};
use crate::credentials::{Credential, Principal};
use crate::hex;
use crate::records::Records;
use crate::sha256::sha256;
use http::HeaderMap;
use http::request::Parts;
use std::borrow::Cow;
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

/// The head of a request whose sender is known by name.
pub struct Head<'a> {
    parts: &'a Parts,
    authorization: Authorization<'a>,
    time: Time<'a>,
    /// The hash of the body, as the head names it.
    payload_hash: Option<&'a str>,
    credential: Arc<Credential>,
    sender: Sender<'a>,
}

/// The time of a request.
struct Time<'a> {
    /// As SigV4 writes it.
    text: Cow<'a, str>,
    /// In seconds since 1970.
    seconds: u64,
}

/// The sender of a request, as far as its head shows.
pub enum Sender<'a> {
    /// The principal whose credential signed the head. The head names the hash of the body, which has to be
    /// compared.
    Proven(Arc<Principal>),
    /// Somebody who names this access key. Its signature can be verified with the body only.
    Named(&'a str),
}

/// Verifies requests. It keeps the signing keys of the day.
#[derive(Default)]
pub struct Verifier {
    keys: SigningKeys,
}

impl Verifier {
    /// Checks all that can be checked without the body: the form of the head, its time and scope, and that
    /// there is a credential with the access key that it names. If the head names the hash of the body, its
    /// signature is verified.
    pub fn head<'a>(
        &self,
        records: &Records,
        parts: &'a Parts,
        expected: &Expected<'_>,
    ) -> Result<Head<'a>, SigV4Error> {
        let authorization = text(&parts.headers, "authorization")?.ok_or(SigV4Error::Missing)?;
        let authorization = Authorization::parse(authorization)?;
        if parts.headers.contains_key("x-amz-security-token") {
            return Err(SigV4Error::Unrecognized);
        }
        let time = time_of(&parts.headers)?;
        must_be_signed(&authorization, &parts.headers, expected.signed)?;
        check_scope(&authorization, &time.text, expected)?;
        check_time(&time, expected)?;
        let credential = records.get(authorization.access_key_id).ok_or(SigV4Error::Unrecognized)?;
        let payload_hash = text(&parts.headers, PAYLOAD_HASH)?;
        let sender = Sender::Named(authorization.access_key_id);
        let mut head = Head { parts, authorization, time, payload_hash, credential, sender };
        if let Some(hash) = payload_hash.filter(|hash| is_hash(hash)) {
            head.sender = Sender::Proven(self.check(&head, &head.credential, hash, expected)?);
        }
        Ok(head)
    }

    /// The principal that signed the request with this head and the body `body`. What may have changed while
    /// the body came is checked again: the credential, and the age of the signature.
    pub fn body(
        &self,
        head: &Head<'_>,
        records: &Records,
        body: &[u8],
        expected: &Expected<'_>,
    ) -> Result<Arc<Principal>, SigV4Error> {
        check_time(&head.time, expected)?;
        let credential = records.get(head.authorization.access_key_id).ok_or(SigV4Error::Unrecognized)?;
        let hash = hex::encode(&sha256(&[body]));
        if head.payload_hash.is_some_and(|named| named != hash) {
            let message = "The value passed in as x-amz-content-sha256 does not match the body's.";
            return Err(SigV4Error::Scope(message.into()));
        }
        match &head.sender {
            Sender::Proven(principal) if Arc::ptr_eq(&credential, &head.credential) => {
                Ok(Arc::clone(principal))
            }
            _ => self.check(head, &credential, &hash, expected),
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
        self.body(&self.head(records, parts, expected)?, records, body, expected)
    }

    /// Compares the signature of a head, whose body has the hash `payload_hash`.
    fn check(
        &self,
        Head { parts, authorization, time, .. }: &Head<'_>,
        credential: &Arc<Credential>,
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
        let text = string_to_sign(&time.text, expected.region, expected.service, &canonical);
        let (key, principal) =
            self.keys.get(credential, authorization.date, expected.region, expected.service);
        let signature = key.sign(text.as_bytes());
        if bool::from(signature.ct_eq(&authorization.signature)) {
            Ok(principal)
        } else {
            Err(SigV4Error::Mismatch)
        }
    }
}

impl<'a> Head<'a> {
    /// The sender of the request.
    #[must_use]
    pub fn sender(&self) -> &Sender<'a> {
        &self.sender
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

/// The time of a request, from `x-amz-date` or else `date`.
fn time_of(headers: &HeaderMap) -> Result<Time<'_>, SigV4Error> {
    let wrong = |value: &str| {
        SigV4Error::Incomplete(format!(
            "Date must be in ISO-8601 'basic format'. Got '{value}'. See http://en.wikipedia.org/wiki/ISO_8601"
        ))
    };
    if let Some(value) = text(headers, "x-amz-date")? {
        let seconds = time::time_of(value).ok_or_else(|| wrong(value))?;
        return Ok(Time { text: value.into(), seconds });
    }
    let value = text(headers, "date")?.ok_or_else(|| {
        SigV4Error::Incomplete(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.".into(),
        )
    })?;
    let seconds = time::http_time(value).or_else(|| time::time_of(value)).ok_or_else(|| wrong(value))?;
    Ok(Time { text: time::timestamp(seconds).into(), seconds })
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
    Ok(())
}

/// Refuses signatures that are too old, or of a time that has not come.
fn check_time(
    Time { text: time, seconds: signed }: &Time<'_>,
    expected: &Expected<'_>,
) -> Result<(), SigV4Error> {
    let scope = |message: String| Err(SigV4Error::Scope(message));
    let Expected { now_s: now, skew_s: skew, .. } = *expected;
    if signed.saturating_add(skew) < now {
        return scope(format!(
            "Signature expired: {time} is now earlier than {} ({} - {} min.)",
            time::timestamp(now - skew),
            time::timestamp(now),
            skew / 60
        ));
    }
    if *signed > now.saturating_add(skew) {
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
