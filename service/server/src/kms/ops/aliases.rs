//! Aliases.

use super::lists::list_answer;
use super::nothing;
use crate::kms::call::{Call, gone};
use crate::kms::codec::{Encoded, Time};
use crate::kms::documents::{Alias, KeyRecord};
use crate::kms::names::{Key, Names, alias_arn, alias_not_found, find, is_alias};
use crate::kms::paging::ListRequest;
use crate::kms::policy::Facts;
use crate::kms::{KmsError, fields};
use crate::records::{Changes, Records};
use serde::Deserialize;
use serde_json::json;

/// The message of AWS for other names.
const PREFIX: &str = "Alias must start with the prefix \"alias/\". Please see \
                      https://docs.aws.amazon.com/kms/latest/developerguide/kms-alias.html";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct Request {
    alias_name: Option<String>,
    target_key_id: Option<String>,
}

impl Request {
    /// The alias's name, if it may be one.
    fn name(&self, call: &Call) -> Result<&str, KmsError> {
        let name = fields::text(self.alias_name.as_deref(), "aliasName", 1..=256)?;
        let name = fields::word(name, "aliasName")?;
        call.note("alias", name);
        match name.strip_prefix("alias/") {
            Some(rest) if rest.starts_with("aws/") => {
                Err(KmsError::new("NotAuthorizedException", "Aliases in alias/aws/ are reserved."))
            }
            Some("") => Err(KmsError::new("InvalidAliasNameException", "Alias name is not valid.")),
            Some(rest) if rest.contains(':') => {
                Err(KmsError::validation(format!("{name} contains invalid characters for an alias")))
            }
            Some(_) => Ok(name),
            None => Err(KmsError::validation(PREFIX)),
        }
    }

    /// The key that the alias is to stand for, if the operation is allowed with it.
    fn target(&self, call: &Call) -> Result<Key, KmsError> {
        let name = self.target_key_id.as_deref();
        if name.is_some_and(is_alias) {
            return Err(KmsError::validation("Aliases must refer to keys. Not aliases"));
        }
        let key = call.key_at(name, "targetKeyId", Names::Keys)?;
        call.allow(&key, call.operation, Facts::default())?;
        call.not_pending_deletion(&key, &key.record)?;
        Ok(key)
    }
}

pub(in crate::kms) async fn create(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let name = request.name(call)?;
    call.allow_account()?;
    let key = request.target(call)?;
    let arn = alias_arn(&call.service.settings, name);
    let create = |records: &Records| {
        if records.get::<Alias>(name).is_some() {
            let message = format!("An alias with the name {arn} already exists");
            return Err(KmsError::new("AlreadyExistsException", message));
        }
        records.get::<KeyRecord>(&key.record.id).ok_or_else(|| gone(&key))?;
        let (name, key_id) = (name.to_owned(), key.record.id.clone());
        let alias = Alias { name, key_id, created_ms: call.now_ms, updated_ms: call.now_ms };
        Ok((Changes::new().put(&alias), ()))
    };
    call.service.records.change(create).await?;
    Ok(nothing())
}

/// The key of an alias, if the operation is allowed with it.
fn current(call: &Call, name: &str) -> Result<Key, KmsError> {
    let key = find(&call.service.settings, &call.service.records, name, Names::All)?;
    call.note_key(&key.record.id);
    call.allow(&key, call.operation, Facts::default())?;
    Ok(key)
}

pub(in crate::kms) async fn update(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let name = request.name(call)?;
    call.allow_account()?;
    let old = current(call, name)?;
    call.note("from", old.record.id.as_str());
    let new = request.target(call)?;
    if (old.record.spec, old.record.usage) != (new.record.spec, new.record.usage) {
        let message = "The current and the new KMS key must be of the same type and have the same key usage.";
        return Err(KmsError::validation(message));
    }
    let update = |records: &Records| {
        let alias = records.get::<Alias>(name).filter(|alias| alias.key_id == old.record.id);
        let alias = alias.ok_or_else(|| alias_not_found(&call.service.settings, name))?;
        records.get::<KeyRecord>(&new.record.id).ok_or_else(|| gone(&new))?;
        let alias = Alias { key_id: new.record.id.clone(), updated_ms: call.now_ms, ..Alias::clone(&alias) };
        Ok::<_, KmsError>((Changes::new().put(&alias), ()))
    };
    call.service.records.change(update).await?;
    Ok(nothing())
}

pub(in crate::kms) async fn delete(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let name = request.name(call)?;
    call.allow_account()?;
    current(call, name)?;
    let delete = |records: &Records| {
        records.get::<Alias>(name).ok_or_else(|| alias_not_found(&call.service.settings, name))?;
        Ok::<_, KmsError>((Changes::new().delete::<Alias>(name), ()))
    };
    call.service.records.change(delete).await?;
    Ok(nothing())
}

pub(in crate::kms) async fn list(call: &Call, request: ListRequest) -> Result<Encoded, KmsError> {
    call.allow_account()?;
    let of = request.key_id.as_deref().map(|name| call.key(Some(name), Names::Keys)).transpose()?;
    let aliases = call.service.records.all::<Alias>();
    let aliases =
        aliases.into_iter().filter(|alias| of.as_ref().is_none_or(|key| alias.key_id == key.record.id));
    let page = request.paging.page(aliases, |alias| &alias.name, 50, 100)?;
    let settings = &call.service.settings;
    let entry = |alias: &std::sync::Arc<Alias>| {
        json!({
            "AliasName": alias.name,
            "AliasArn": alias_arn(settings, &alias.name),
            "TargetKeyId": alias.key_id,
            "CreationDate": Time::of_ms(alias.created_ms),
            "LastUpdatedDate": Time::of_ms(alias.updated_ms),
        })
    };
    call.codec.encode(&list_answer("Aliases", page.items.iter().map(entry).collect(), page.next))
}
