//! Tags.

use super::keys::list_answer;
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

/// Tags by their keys, within their limits.
pub(super) fn checked(tags: Vec<Tag>) -> Result<BTreeMap<String, String>, KmsError> {
    let mut checked = BTreeMap::new();
    for Tag { tag_key, tag_value } in tags {
        let key = fields::text(tag_key.as_deref(), "tagKey", 1..=128)?;
        let value = fields::text(tag_value.as_deref(), "tagValue", 0..=256)?;
        if key.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("aws:")) {
            return Err(KmsError::new("TagException", "Tag keys that begin with aws: are reserved."));
        }
        if checked.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(KmsError::new("TagException", "A tag key comes twice."));
        }
    }
    check_number(checked.len())?;
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
    let tags = checked(fields::needed(request.tags, "tags")?)?;
    let key = call.allowed_key(request.key_id.as_deref())?;
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
