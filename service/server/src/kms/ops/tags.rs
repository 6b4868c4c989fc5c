//! Tags.

use super::lists::list_answer;
use super::nothing;
use crate::kms::call::Call;
use crate::kms::codec::Encoded;
use crate::kms::documents::KeyRecord;
use crate::kms::paging::ListRequest;
use crate::kms::{KmsError, fields};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number of tags that a key may have.
const LIMIT: usize = 50;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct Tag {
    tag_key: Option<String>,
    tag_value: Option<String>,
}

/// The tags of a request by their keys, within their limits. AWS looks at the lengths of all of them first.
pub(super) fn checked(tags: &[Tag]) -> Result<BTreeMap<String, String>, KmsError> {
    let mut read = Vec::with_capacity(tags.len());
    for (Tag { tag_key, tag_value }, place) in tags.iter().zip(1..) {
        let key = fields::text(tag_key.as_deref(), &format!("tags.{place}.member.tagKey"), 1..=128)?;
        let value = fields::text(tag_value.as_deref(), &format!("tags.{place}.member.tagValue"), 0..=256)?;
        read.push((key.to_owned(), value.to_owned()));
    }
    let wrong = |message: &str| Err(KmsError::new("TagException", message));
    let reserved = |key: &str| key.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("aws:"));
    let checked: BTreeMap<_, _> = read.into_iter().collect();
    if checked.len() < tags.len() {
        return wrong("Duplicate tag keys");
    }
    if checked.len() > LIMIT {
        return wrong("Too many tags");
    }
    if checked.keys().any(|key| reserved(key)) {
        return wrong("Tags beginning with aws: are reserved");
    }
    Ok(checked)
}

fn check_number(number: usize) -> Result<(), KmsError> {
    match number > LIMIT {
        true => Err(KmsError::new("LimitExceededException", format!("A key has at most {LIMIT} tags."))),
        false => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct Request {
    key_id: Option<String>,
    tags: Option<Vec<Tag>>,
    tag_keys: Option<Vec<String>>,
}

pub(in crate::kms) async fn tag(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let tags = checked(&fields::needed(request.tags, "tags")?)?;
    let key = call.allowed_key(request.key_id.as_deref())?;
    // A tag's value may be anything, and stays out of the log.
    call.note("tag_keys", tags.keys().cloned().collect::<Vec<_>>());
    let change = |record: &mut KeyRecord| {
        call.not_pending_deletion(&key, record)?;
        record.tags.extend(tags.clone());
        check_number(record.tags.len())
    };
    call.change_key(&key, change).await?;
    Ok(nothing())
}

pub(in crate::kms) async fn untag(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let tag_keys = fields::needed(request.tag_keys, "tagKeys")?;
    let key = call.allowed_key(request.key_id.as_deref())?;
    call.note("tag_keys", tag_keys.clone());
    let change = |record: &mut KeyRecord| {
        call.not_pending_deletion(&key, record)?;
        record.tags.retain(|tag_key, _| !tag_keys.contains(tag_key));
        Ok(())
    };
    call.change_key(&key, change).await?;
    Ok(nothing())
}

pub(in crate::kms) async fn list(call: &Call, request: ListRequest) -> Result<Encoded, KmsError> {
    let key = call.allowed_key(request.key_id.as_deref())?;
    let page = request.paging.page(&key.record.tags, |(tag_key, _)| tag_key, 50, 50)?;
    let tag = |(tag_key, tag_value): &(&String, &String)| Tag {
        tag_key: Some((*tag_key).clone()),
        tag_value: Some((*tag_value).clone()),
    };
    call.codec.encode(&list_answer("Tags", page.items.iter().map(tag).collect(), page.next))
}
