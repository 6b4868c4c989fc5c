//! Key policies.

use super::lists::list_answer;
use super::nothing;
use crate::credentials::{self, Right};
use crate::kms::call::Call;
use crate::kms::codec::Encoded;
use crate::kms::documents::KeyRecord;
use crate::kms::paging::ListRequest;
use crate::kms::policy::{Facts, Policy, Verdict};
use crate::kms::{KmsError, fields, rights};
use serde::Deserialize;
use serde_json::json;

/// The only name of a policy.
const NAME: &str = "default";

/// The longest policy, in bytes.
const LIMIT: usize = 32 * 1024;

fn malformed(message: impl Into<String>) -> KmsError {
    KmsError::new("MalformedPolicyDocumentException", message)
}

/// A policy that can be read, and that lets who asks change it again, unless that is not to be checked.
pub(super) fn checked_policy(call: &Call, text: String, arn: &str, bypass: bool) -> Result<String, KmsError> {
    fields::text(Some(&text), "policy", 1..=131_072)?;
    if text.len() > LIMIT {
        return Err(KmsError::new("LimitExceededException", format!("A policy has at most {LIMIT} bytes.")));
    }
    let policy = Policy::parse(&text).map_err(malformed)?;
    check_spelling(call, &policy)?;
    let allowed = match rights::verdict(&policy, &call.asker(), arn, "PutKeyPolicy", &Facts::default()) {
        Verdict::Allowed => true,
        Verdict::Delegated => call.principal.may(Right::Kms),
        Verdict::Denied | Verdict::Silent => false,
    };
    if !allowed && !bypass {
        return Err(malformed(
            "The new key policy will not allow you to update the key policy in the future.",
        ));
    }
    Ok(text)
}

/// Refuses the name of a user that nobody has, if somebody has it in other letters: names are compared with
/// their case.
fn check_spelling(call: &Call, policy: &Policy) -> Result<(), KmsError> {
    let credentials = credentials::list(&call.service.records);
    let users = ["arn:aws:iam::", &call.service.settings.account, ":user/"].concat();
    for name in policy.principals().filter_map(|principal| principal.strip_prefix(&users)) {
        let alike = || credentials.iter().filter(|credential| credential.name.eq_ignore_ascii_case(name));
        if let Some(other) = alike().next().filter(|_| alike().all(|credential| credential.name != name)) {
            return Err(malformed(format!(
                "Policy contains a statement with one or more invalid principals. There is no user {name:?}, but {:?}.",
                other.name
            )));
        }
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct Request {
    key_id: Option<String>,
    policy_name: Option<String>,
    policy: Option<String>,
    bypass_policy_lockout_safety_check: Option<bool>,
}

impl Request {
    fn check_name(&self) -> Result<(), KmsError> {
        match self.policy_name.as_deref().unwrap_or(NAME) {
            NAME => Ok(()),
            _ => Err(KmsError::not_found("No such policy exists")),
        }
    }
}

pub(in crate::kms) async fn get(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let key = call.allowed_key(request.key_id.as_deref())?;
    request.check_name()?;
    call.codec.encode(&json!({"Policy": key.record.policy, "PolicyName": NAME}))
}

pub(in crate::kms) async fn put(call: &Call, request: Request) -> Result<Encoded, KmsError> {
    let key = call.allowed_key(request.key_id.as_deref())?;
    request.check_name()?;
    let bypass = request.bypass_policy_lockout_safety_check == Some(true);
    let policy = checked_policy(call, fields::needed(request.policy, "policy")?, &key.arn, bypass)?;
    call.note("policy", policy.as_str());
    let change = |record: &mut KeyRecord| {
        call.not_pending_deletion(&key, record)?;
        record.policy.clone_from(&policy);
        Ok(())
    };
    call.change_key(&key, change).await?;
    Ok(nothing())
}

pub(in crate::kms) async fn list(call: &Call, request: ListRequest) -> Result<Encoded, KmsError> {
    call.allowed_key(request.key_id.as_deref())?;
    let page = request.paging.page([NAME], |name| name, 100, 1000)?;
    call.codec.encode(&list_answer("PolicyNames", page.items, page.next))
}
