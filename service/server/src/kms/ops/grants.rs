//! Grants.

use super::lists::list_answer;
use super::nothing;
use crate::kms::call::{Call, gone, wrong_state};
use crate::kms::codec::{Encoded, Time};
use crate::kms::documents::{Grant, KeyRecord, KeyState, Spec, Usage};
use crate::kms::fields::Context;
use crate::kms::names::{self, Key, Names};
use crate::kms::paging::Paging;
use crate::kms::policy::{Facts, is_principal};
use crate::kms::{KmsError, fields};
use crate::records::{Changes, Records};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The number of grants that a key may have.
const LIMIT: usize = 50_000;

/// Operations that can be granted on every key.
const COMMON: [&str; 3] = ["CreateGrant", "DescribeKey", "RetireGrant"];

/// Operations that can be granted on a key for its usage.
fn grantable(key: &KeyRecord) -> &'static [&'static str] {
    match (key.usage, key.spec) {
        (Usage::Sign, _) => &["Sign", "Verify", "GetPublicKey"],
        (Usage::Encrypt, Spec::Symmetric) => &[
            "Decrypt",
            "Encrypt",
            "ReEncryptFrom",
            "ReEncryptTo",
            "GenerateDataKey",
            "GenerateDataKeyWithoutPlaintext",
            "GenerateDataKeyPair",
            "GenerateDataKeyPairWithoutPlaintext",
        ],
        (Usage::Encrypt, _) => &["Decrypt", "Encrypt", "ReEncryptFrom", "ReEncryptTo", "GetPublicKey"],
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase")]
struct Constraints {
    #[serde(default, deserialize_with = "fields::context")]
    encryption_context_subset: Option<Context>,
    #[serde(default, deserialize_with = "fields::context")]
    encryption_context_equals: Option<Context>,
    source_arn: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct CreateRequest {
    key_id: Option<String>,
    grantee_principal: Option<String>,
    retiring_principal: Option<String>,
    operations: Option<Vec<String>>,
    constraints: Option<Constraints>,
    grant_tokens: Option<Vec<String>>,
    name: Option<String>,
    dry_run: Option<bool>,
    grantee_service_principal: Option<IgnoredAny>,
    retiring_service_principal: Option<IgnoredAny>,
}

fn principal(text: Option<&str>, member: &str) -> Result<String, KmsError> {
    let text = fields::text(text, member, 1..=256)?;
    match is_principal(text) && text.starts_with("arn:") {
        true => Ok(text.to_owned()),
        false => {
            Err(KmsError::new("InvalidArnException", format!("{member} is not a valid ARN of a principal.")))
        }
    }
}

/// The grant that a request asks for.
fn wanted(call: &Call, key: &Key, request: CreateRequest) -> Result<Grant, KmsError> {
    let services = (&request.grantee_service_principal, &request.retiring_service_principal);
    let constraints = request.constraints.unwrap_or_default();
    if !matches!(services, (None, None)) || constraints.source_arn.is_some() {
        return Err(KmsError::unsupported("Grants to services of AWS are not supported by this service."));
    }
    let operations: BTreeSet<String> =
        fields::needed(request.operations, "operations")?.into_iter().collect();
    if operations.is_empty() {
        return Err(KmsError::validation("Operations must not be empty."));
    }
    let allowed = grantable(&key.record);
    let known = |name: &&String| COMMON.contains(&name.as_str()) || allowed.contains(&name.as_str());
    if let Some(other) = operations.iter().find(|name| !known(name)) {
        return Err(fields::not_in_list(other, "operations", &[&COMMON[..], allowed].concat()));
    }
    let (subset, equals) = (constraints.encryption_context_subset, constraints.encryption_context_equals);
    if key.record.spec != Spec::Symmetric && (subset.is_some() || equals.is_some()) {
        let message = "Encryption context constraints are for symmetric keys.";
        return Err(KmsError::validation(message));
    }
    let name = request.name.unwrap_or_default();
    fields::word(fields::text(Some(&name), "name", 0..=256)?, "name")?;
    let retiring = request.retiring_principal.as_deref();
    Ok(Grant {
        id: names::random_hex(32)?,
        key_id: key.record.id.clone(),
        name,
        created_ms: call.now_ms,
        grantee: principal(request.grantee_principal.as_deref(), "granteePrincipal")?,
        retiring: retiring.map(|text| principal(Some(text), "retiringPrincipal")).transpose()?,
        operations,
        context_subset: subset,
        context_equals: equals,
    })
}

/// Whether two grants with a name are the same request, made twice.
fn same(a: &Grant, b: &Grant) -> bool {
    !a.name.is_empty()
        && (&a.name, &a.grantee, &a.retiring, &a.operations)
            == (&b.name, &b.grantee, &b.retiring, &b.operations)
        && (&a.context_subset, &a.context_equals) == (&b.context_subset, &b.context_equals)
}

/// Whether who has `parent` may hand on `child`: not more operations, and the same constraints.
fn within(child: &Grant, parent: &Grant) -> bool {
    child.operations.is_subset(&parent.operations)
        && (&child.context_subset, &child.context_equals) == (&parent.context_subset, &parent.context_equals)
}

pub(in crate::kms) async fn create(call: &Call, request: CreateRequest) -> Result<Encoded, KmsError> {
    fields::grant_tokens(request.grant_tokens.as_ref())?;
    let dry_run = request.dry_run;
    let key = call.key(request.key_id.as_deref(), Names::Keys)?;
    let parent = call.allow(&key, "CreateGrant", Facts::default())?;
    let grant = wanted(call, &key, request)?;
    if parent.is_some_and(|parent| !within(&grant, &parent)) {
        let message = format!("User: {} may not grant more than was granted on {}.", call.arn, key.arn);
        return Err(KmsError::new("AccessDeniedException", message));
    }
    match call.state(&key.record) {
        KeyState::Enabled => {}
        KeyState::Disabled => {
            return Err(KmsError::new("DisabledException", format!("{} is disabled.", key.arn)));
        }
        state => return Err(wrong_state(&key.arn, state)),
    }
    call.dry_run(dry_run)?;
    call.note("grantee", grant.grantee.as_str());
    call.note("retiring", grant.retiring.clone());
    call.note("operations", grant.operations.iter().cloned().collect::<Vec<_>>());
    let create = |records: &Records| {
        let present = call.service.kms.rights.grants_of(records, &key.record.id);
        if let Some(found) = present.iter().find(|found| same(found, &grant)) {
            return Ok((Changes::new(), found.id.clone()));
        }
        if present.len() >= LIMIT {
            return Err(KmsError::new(
                "LimitExceededException",
                format!("A key has at most {LIMIT} grants."),
            ));
        }
        records.get::<KeyRecord>(&key.record.id).ok_or_else(|| gone(&key))?;
        Ok((Changes::new().put(&grant), grant.id.clone()))
    };
    let id = call.service.records.change(create).await?;
    call.note("grant", id.as_str());
    call.codec.encode(&json!({"GrantId": id, "GrantToken": URL_SAFE_NO_PAD.encode(&id)}))
}

#[derive(Deserialize)]
pub(in crate::kms) struct ListRequest {
    #[serde(rename = "KeyId")]
    key_id: Option<String>,
    #[serde(rename = "GrantId")]
    grant_id: Option<String>,
    #[serde(rename = "GranteePrincipal")]
    grantee: Option<String>,
    #[serde(rename = "RetiringPrincipal")]
    retiring: Option<String>,
    #[serde(flatten)]
    paging: Paging,
}

fn entry(call: &Call, grant: &Grant) -> Value {
    let mut entry = json!({
        "KeyId": names::key_arn(&call.service.settings, &grant.key_id),
        "GrantId": grant.id,
        "Name": grant.name,
        "CreationDate": Time::of_ms(grant.created_ms),
        "GranteePrincipal": grant.grantee,
        "IssuingAccount": format!("arn:aws:iam::{}:root", call.service.settings.account),
        "Operations": grant.operations,
    });
    if let Some(retiring) = &grant.retiring {
        entry["RetiringPrincipal"] = retiring.as_str().into();
    }
    if let Some(subset) = &grant.context_subset {
        entry["Constraints"]["EncryptionContextSubset"] = json!(subset);
    }
    if let Some(equals) = &grant.context_equals {
        entry["Constraints"]["EncryptionContextEquals"] = json!(equals);
    }
    entry
}

pub(in crate::kms) async fn list(call: &Call, request: ListRequest) -> Result<Encoded, KmsError> {
    let key = call.allowed_key(request.key_id.as_deref())?;
    let grants = call.service.kms.rights.grants_of(&call.service.records, &key.record.id);
    let as_wanted = |grant: &std::sync::Arc<Grant>| {
        request.grant_id.as_ref().is_none_or(|id| *id == grant.id)
            && request.grantee.as_ref().is_none_or(|grantee| *grantee == grant.grantee)
    };
    let page = request.paging.page(grants.into_iter().filter(as_wanted), |grant| &grant.id, 50, 100)?;
    let entries = page.items.iter().map(|grant| entry(call, grant)).collect();
    call.codec.encode(&list_answer("Grants", entries, page.next))
}

pub(in crate::kms) async fn list_retirable(call: &Call, request: ListRequest) -> Result<Encoded, KmsError> {
    call.allow_account()?;
    let retiring = principal(request.retiring.as_deref(), "retiringPrincipal")?;
    let grants = call.service.records.all::<Grant>();
    let grants = grants.into_iter().filter(|grant| grant.retiring.as_ref() == Some(&retiring));
    let page = request.paging.page(grants, |grant| &grant.id, 50, 100)?;
    let entries = page.items.iter().map(|grant| entry(call, grant)).collect();
    call.codec.encode(&list_answer("Grants", entries, page.next))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct EndRequest {
    key_id: Option<String>,
    grant_id: Option<String>,
    grant_token: Option<String>,
    dry_run: Option<bool>,
}

fn no_such_grant() -> KmsError {
    KmsError::not_found("The grant does not exist.")
}

/// The grant of a key.
fn find(call: &Call, key: &Key, id: Option<&str>) -> Result<std::sync::Arc<Grant>, KmsError> {
    let id = fields::text(id, "grantId", 1..=128)?;
    let grant = call.service.records.get::<Grant>(id);
    grant.filter(|grant| grant.key_id == key.record.id).ok_or_else(no_such_grant)
}

async fn end(call: &Call, id: &str) -> Result<Encoded, KmsError> {
    call.note("grant", id);
    let delete = |records: &Records| {
        records.get::<Grant>(id).ok_or_else(no_such_grant)?;
        Ok::<_, KmsError>((Changes::new().delete::<Grant>(id), ()))
    };
    call.service.records.change(delete).await?;
    Ok(nothing())
}

pub(in crate::kms) async fn revoke(call: &Call, request: EndRequest) -> Result<Encoded, KmsError> {
    let key = call.allowed_key(request.key_id.as_deref())?;
    let grant = find(call, &key, request.grant_id.as_deref())?;
    call.dry_run(request.dry_run)?;
    end(call, &grant.id).await
}

pub(in crate::kms) async fn retire(call: &Call, request: EndRequest) -> Result<Encoded, KmsError> {
    let grant = match &request.grant_token {
        Some(_) if request.key_id.is_some() || request.grant_id.is_some() => {
            return Err(KmsError::validation("Give either a grant token, or a key and a grant identifier."));
        }
        Some(token) => {
            let id = URL_SAFE_NO_PAD.decode(token).ok().and_then(|id| String::from_utf8(id).ok());
            let invalid = || KmsError::new("InvalidGrantTokenException", "The grant token is not valid.");
            call.service.records.get::<Grant>(&id.ok_or_else(invalid)?).ok_or_else(invalid)?
        }
        None => {
            let key = call.key(request.key_id.as_deref(), Names::Keys)?;
            find(call, &key, request.grant_id.as_deref())?
        }
    };
    let key = names::find(&call.service.settings, &call.service.records, &grant.key_id, Names::Keys)?;
    call.note_key(&key.record.id);
    let own = grant.retiring.as_deref() == Some(&call.arn)
        || grant.grantee == call.arn && grant.operations.contains("RetireGrant");
    if !own {
        let by = call.allow(&key, "RetireGrant", Facts::default())?;
        if by.is_some() {
            // The grant that allows it allows to retire itself, not others.
            let message =
                format!("User: {} is not authorized to perform: kms:RetireGrant on this grant", call.arn);
            return Err(KmsError::new("AccessDeniedException", message));
        }
    }
    call.dry_run(request.dry_run)?;
    end(call, &grant.id).await
}
