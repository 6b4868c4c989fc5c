//! The items of a request, alone or in a batch, and their answers.

use super::Transit;
use super::answer::{Answer, Fault};
use super::base64_text::{decode_as, illegal};
use super::key::TransitKey;
use super::lax::{Flag, Int, Items, Text};
use crate::batch::Origin;
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::try_join_all;
use modmill_rsa::{ItemError, PrivateTask, PublicTask};
use serde::Deserialize;
use std::collections::BTreeMap;

/// An item as requests have it. Each operation looks at the fields that it needs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow)]
    pub(super) input: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) plaintext: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) ciphertext: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) signature: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) hmac: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) reference: Option<Text<'a>>,
    pub(super) key_version: Option<Int>,
}

/// The body of a request that signs, verifies, encrypts, decrypts or rewraps.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Request<'a> {
    #[serde(borrow)]
    pub(super) input: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) plaintext: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) ciphertext: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) signature: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) hmac: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) hash_algorithm: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) algorithm: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) signature_algorithm: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) marshaling_algorithm: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) salt_length: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) padding_scheme: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) decrypt_padding_scheme: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) encrypt_padding_scheme: Option<Text<'a>>,
    pub(super) prehashed: Option<Flag>,
    pub(super) key_version: Option<Int>,
    pub(super) partial_failure_response_code: Option<Int>,
    #[serde(borrow)]
    batch_input: Option<Items<Item<'a>>>,
}

impl<'a> Request<'a> {
    /// Whether the items come as a batch.
    pub(super) fn is_batch(&self) -> bool {
        self.batch_input.is_some()
    }

    /// The items, and whether they came as a batch. Without a batch the request itself is the item.
    pub(super) fn items(&mut self) -> Result<(Vec<Item<'a>>, bool), Fault> {
        match self.batch_input.take() {
            Some(Items(items)) if items.is_empty() => Err(Fault::bad("missing batch input to process")),
            Some(Items(items)) => Ok((items, true)),
            None => {
                let item = Item {
                    input: self.input.take(),
                    plaintext: self.plaintext.take(),
                    ciphertext: self.ciphertext.take(),
                    signature: self.signature.take(),
                    hmac: self.hmac.take(),
                    reference: None,
                    key_version: self.key_version,
                };
                Ok((vec![item], false))
            }
        }
    }
}

/// Reads the JSON of a request. No body is an empty object.
pub(super) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Fault> {
    let body = if body.is_empty() { b"{}" } else { body };
    // The reader would also take a list of the fields' values.
    if body.trim_ascii_start().first() != Some(&b'{') {
        return Err(Fault::bad("failed to parse JSON input: expected an object"));
    }
    serde_json::from_slice(body).map_err(|error| Fault::bad(format!("failed to parse JSON input: {error}")))
}

/// Decodes Base64. The error is the one that Vault's clients know.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, String> {
    decode_as(text, &STANDARD)
}

/// Decodes the Base64 text of an input into `buffer`, which is emptied before.
pub(super) fn decode_input(text: &str, buffer: &mut Vec<u8>) -> Result<(), String> {
    buffer.clear();
    STANDARD
        .decode_vec(text, buffer)
        .map_err(|error| format!("unable to decode input as base64: {}", illegal(text, error)))
}

/// The outcome of an item: what its answer says, or why there is none.
pub(super) struct Outcome<A> {
    pub(super) result: Result<A, String>,
    pub(super) reference: String,
}

/// The effect of failed items on the status of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failures {
    /// Nothing: clients look at each item.
    Show,
    /// The batch fails as [`batch_status`] says.
    Fail,
}

/// The items of a request on their way: those that wait for an operation are in `groups` by the version of
/// their key.
pub(super) struct Waiting<T, A> {
    pub(super) outcomes: Vec<Outcome<Option<A>>>,
    pub(super) groups: BTreeMap<u32, (Vec<usize>, Vec<T>)>,
    pub(super) is_batch: bool,
    /// The status that a batch with failures has if some items succeeded.
    pub(super) partial: Option<i64>,
}

/// The places of some items, and their answers.
type Done<A> = (Vec<usize>, Vec<Result<A, ItemError>>);

impl<T, A> Waiting<T, A> {
    /// Looks at every item. `task` gives the version and the operation that it waits for, or says what is
    /// wrong.
    pub(super) fn new<'a>(
        request: &mut Request<'a>,
        mut task: impl FnMut(&Item<'a>) -> Result<(u32, T), String>,
    ) -> Result<Self, Fault> {
        let (items, is_batch) = request.items()?;
        let partial = request.partial_failure_response_code.map(|Int(code)| code);
        let mut waiting =
            Self { outcomes: Vec::with_capacity(items.len()), groups: BTreeMap::new(), is_batch, partial };
        for item in &items {
            let result = task(item).map(|(version, task)| {
                let (places, tasks) = waiting.groups.entry(version).or_default();
                places.push(waiting.outcomes.len());
                tasks.push(task);
                None
            });
            let reference = item.reference.as_ref().map_or_else(String::new, |text| text.as_str().to_owned());
            waiting.outcomes.push(Outcome { result, reference });
        }
        Ok(waiting)
    }

    fn settle(&mut self, done: Vec<Done<A>>, explain: impl Fn(ItemError) -> Result<A, String>) {
        for (places, answers) in done {
            for (place, answer) in places.into_iter().zip(answers) {
                let Some(outcome) = self.outcomes.get_mut(place) else { continue };
                outcome.result = answer.or_else(&explain).map(Some);
            }
        }
    }

    /// The response. `write` adds the fields of an answer, which must not be empty. `failed` are the fields
    /// that an item without an answer has in addition to its error.
    pub(super) fn respond(
        self,
        request_id: &str,
        failures: Failures,
        failed: &str,
        mut write: impl FnMut(&mut Answer, &A),
    ) -> Result<Response, Fault> {
        let none = || "no answer".to_owned();
        if !self.is_batch {
            let outcome = self.outcomes.into_iter().next().ok_or_else(|| Fault::internal(none()))?;
            let value = outcome.result.map_err(Fault::bad)?.ok_or_else(|| Fault::internal(none()))?;
            let mut answer = Answer::new(request_id, 1 << 10);
            answer.raw("{");
            write(&mut answer, &value);
            answer.raw("}");
            return Ok(answer.finish(StatusCode::OK, &[]));
        }
        let mut answer = Answer::new(request_id, self.outcomes.len() * 800);
        answer.raw("{\"batch_results\":[");
        let (mut good, mut bad) = (0usize, 0usize);
        for (place, Outcome { result, reference }) in self.outcomes.iter().enumerate() {
            answer.raw(if place == 0 { "{" } else { ",{" });
            match result {
                Ok(Some(value)) => {
                    good += 1;
                    write(&mut answer, value);
                }
                Ok(None) | Err(_) => {
                    bad += 1;
                    let none = none();
                    let error = result.as_ref().err().unwrap_or(&none);
                    answer.raw(failed).raw("\"error\":").value(error);
                }
            }
            answer.raw(",\"reference\":").value(reference).raw("}");
        }
        answer.raw("]}");
        let (status, warnings) = match failures {
            Failures::Show => (StatusCode::OK, Vec::new()),
            Failures::Fail => batch_status(good, bad, self.partial),
        };
        Ok(answer.finish(status, &warnings))
    }
}

/// The status of a batch. Any failure makes it 400, unless the request asks for another status and some items
/// succeeded.
fn batch_status(good: usize, bad: usize, partial: Option<i64>) -> (StatusCode, Vec<String>) {
    if bad == 0 {
        return (StatusCode::OK, Vec::new());
    }
    let Some(code) = partial.filter(|_| good > 0) else { return (StatusCode::BAD_REQUEST, Vec::new()) };
    match u16::try_from(code).ok().filter(|code| (200..600).contains(code)).map(StatusCode::from_u16) {
        Some(Ok(status)) => (status, Vec::new()),
        _ => {
            let text = "invalid HTTP response code override from partial_failure_response_code, reverting to HTTP 400";
            (StatusCode::BAD_REQUEST, vec![text.to_owned()])
        }
    }
}

impl<A> Waiting<PublicTask, A> {
    /// Computes what waits, one call for each version of the key. `explain` turns an item's error into an
    /// answer or a text.
    pub(super) async fn public(
        &mut self,
        transit: &Transit,
        key: &TransitKey,
        origin: &Origin,
        read: impl Fn(Vec<u8>, u32) -> A,
        explain: impl Fn(ItemError) -> Result<A, String>,
    ) -> Result<(), Fault> {
        let groups = std::mem::take(&mut self.groups);
        let calls = groups.into_iter().map(async |(version, (places, tasks))| {
            let private = transit.private(key, version).await?;
            let public = private.public_key().clone();
            let answers = transit.service.batcher.public_many(origin.clone(), public, tasks).await?;
            let answers =
                answers.into_iter().map(|answer| answer.map(|bytes| read(bytes, version))).collect();
            Ok::<_, Fault>((places, answers))
        });
        let done = try_join_all(calls).await?;
        self.settle(done, explain);
        Ok(())
    }
}

impl<A> Waiting<PrivateTask, A> {
    /// Computes what waits, one call for each version of the key.
    pub(super) async fn private(
        &mut self,
        transit: &Transit,
        key: &TransitKey,
        origin: &Origin,
        read: impl Fn(zeroize::Zeroizing<Vec<u8>>) -> A,
        explain: impl Fn(ItemError) -> Result<A, String>,
    ) -> Result<(), Fault> {
        let groups = std::mem::take(&mut self.groups);
        let calls = groups.into_iter().map(async |(version, (places, tasks))| {
            let private = transit.private(key, version).await?;
            let answers = transit.service.batcher.private_many(origin.clone(), private, tasks).await?;
            let answers = answers.into_iter().map(|answer| answer.map(&read)).collect();
            Ok::<_, Fault>((places, answers))
        });
        let done = try_join_all(calls).await?;
        self.settle(done, explain);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_makes_a_batch_fail_unless_asked_otherwise() {
        assert_eq!(batch_status(2, 0, Some(207)).0, StatusCode::OK);
        assert_eq!(batch_status(1, 1, None).0, StatusCode::BAD_REQUEST);
        assert_eq!(batch_status(1, 1, Some(207)).0, StatusCode::MULTI_STATUS);
        assert_eq!(batch_status(0, 2, Some(207)).0, StatusCode::BAD_REQUEST);
        for wrong in [0, -1, 100, 600, i64::MAX] {
            let (status, warnings) = batch_status(1, 1, Some(wrong));
            assert_eq!((status, warnings.len()), (StatusCode::BAD_REQUEST, 1));
        }
    }
}
