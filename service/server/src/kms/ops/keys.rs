//! Creating keys, and what can be learnt about them.

use super::lists::list_answer;
use super::metadata::Metadata;
use super::policies::checked_policy;
use super::{algorithms, tags};
use crate::kms::call::Call;
use crate::kms::codec::{Blob, Encoded, Time};
use crate::kms::documents::{KeyRecord, Material, Origin, Spec, Usage};
use crate::kms::names::{self, Names};
use crate::kms::paging::Paging;
use crate::kms::policy::{Facts, Policy};
use crate::kms::{KmsError, fields};
use crate::records::Changes;
use crate::uuid;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::json;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct CreateRequest {
    policy: Option<String>,
    description: Option<String>,
    key_usage: Option<String>,
    customer_master_key_spec: Option<String>,
    key_spec: Option<String>,
    origin: Option<String>,
    bypass_policy_lockout_safety_check: Option<bool>,
    tags: Option<Vec<tags::Tag>>,
    multi_region: Option<bool>,
    custom_key_store_id: Option<IgnoredAny>,
    xks_key_id: Option<IgnoredAny>,
}

/// Values of AWS that are not supported here.
const OTHER_SPECS: [&str; 16] = [
    "ECC_NIST_P256",
    "ECC_NIST_P384",
    "ECC_NIST_P521",
    "ECC_SECG_P256K1",
    "ECC_NIST_EDWARDS25519",
    "HMAC_224",
    "HMAC_256",
    "HMAC_384",
    "HMAC_512",
    "SM2",
    "ML_DSA_44",
    "ML_DSA_65",
    "ML_DSA_87",
    "ML_KEM_512",
    "ML_KEM_768",
    "ML_KEM_1024",
];
const OTHER_USAGES: [&str; 3] = ["GENERATE_VERIFY_MAC", "KEY_AGREEMENT", "ENCAPSULATE_DECAPSULATE"];
const OTHER_ORIGINS: [&str; 2] = ["AWS_CLOUDHSM", "EXTERNAL_KEY_STORE"];

/// A value of a list; values of AWS's longer list are refused in another way than values of no list.
fn of_list<T>(
    name: &str,
    member: &str,
    of: impl Fn(&str) -> Option<T>,
    known: &[&str],
    others: &[&str],
) -> Result<T, KmsError> {
    match of(name) {
        Some(value) => Ok(value),
        None if others.contains(&name) => {
            Err(KmsError::unsupported(format!("{member} {name} is not supported by this service.")))
        }
        None => Err(fields::not_in_list(name, member, &[known, others].concat())),
    }
}

/// The specification that a request names.
pub(super) fn read_spec(name: &str, member: &str) -> Result<Spec, KmsError> {
    let known = ["RSA_2048", "RSA_3072", "RSA_4096", "SYMMETRIC_DEFAULT"];
    of_list(name, member, Spec::of, &known, &OTHER_SPECS)
}

fn spec_and_usage(request: &CreateRequest) -> Result<(Spec, Usage), KmsError> {
    let spec = match (request.key_spec.as_deref(), request.customer_master_key_spec.as_deref()) {
        (Some(_), Some(_)) => {
            let message = "You cannot specify KeySpec and CustomerMasterKeySpec in the same request.";
            return Err(KmsError::validation(message));
        }
        (Some(name), None) => read_spec(name, "keySpec")?,
        (None, Some(name)) => read_spec(name, "customerMasterKeySpec")?,
        (None, None) => Spec::Symmetric,
    };
    let known = ["SIGN_VERIFY", "ENCRYPT_DECRYPT"];
    let usage =
        request.key_usage.as_deref().map(|name| of_list(name, "keyUsage", Usage::of, &known, &OTHER_USAGES));
    let usage = match usage.transpose()? {
        Some(usage) => usage,
        None if spec == Spec::Symmetric => Usage::Encrypt,
        None => {
            return Err(KmsError::validation("You must specify a KeyUsage value for an asymmetric KMS key."));
        }
    };
    if spec == Spec::Symmetric && usage == Usage::Sign {
        let message = "KeyUsage SIGN_VERIFY is not compatible with KeySpec SYMMETRIC_DEFAULT";
        return Err(KmsError::validation(message));
    }
    Ok((spec, usage))
}

pub(in crate::kms) async fn create(call: &Call, request: CreateRequest) -> Result<Encoded, KmsError> {
    call.allow_account()?;
    if request.multi_region == Some(true)
        || request.custom_key_store_id.is_some()
        || request.xks_key_id.is_some()
    {
        let message = "Multi-Region keys and custom key stores are not supported by this service.";
        return Err(KmsError::unsupported(message));
    }
    let (spec, usage) = spec_and_usage(&request)?;
    let origin = request.origin.as_deref().unwrap_or("AWS_KMS");
    let origin = of_list(origin, "origin", Origin::of, &["AWS_KMS", "EXTERNAL"], &OTHER_ORIGINS)?;
    let description = request.description.unwrap_or_default();
    fields::text(Some(&description), "description", 0..=8192)?;
    let tags = tags::checked(&request.tags.unwrap_or_default())?;
    let id = uuid::random()?;
    call.note_key(&id);
    for (name, value) in [("spec", spec.name()), ("usage", usage.name()), ("origin", origin.name())] {
        call.note(name, value);
    }
    let settings = &call.service.settings;
    let policy = match request.policy {
        None => Policy::default_text(&settings.account),
        Some(policy) => {
            let bypass = request.bypass_policy_lockout_safety_check == Some(true);
            let policy = checked_policy(call, policy, &names::key_arn(settings, &id), bypass)?;
            call.note("policy", policy.as_str());
            policy
        }
    };
    let material = match origin {
        Origin::Here => Some(Material::generate(call, spec).await?),
        Origin::External => None,
    };
    let key = KeyRecord {
        id,
        created_ms: call.now_ms,
        description,
        usage,
        spec,
        origin,
        enabled: true,
        material,
        imported_id: None,
        deletion_ms: None,
        policy,
        tags,
    };
    call.service.records.change(|_| Ok::<_, KmsError>((Changes::new().put(&key), ()))).await?;
    call.codec.encode(&json!({"KeyMetadata": Metadata::of(call, &key)}))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::kms) struct KeyRequest {
    key_id: Option<String>,
    grant_tokens: Option<Vec<String>>,
}

pub(in crate::kms) async fn describe(call: &Call, request: KeyRequest) -> Result<Encoded, KmsError> {
    fields::grant_tokens(request.grant_tokens.as_ref())?;
    let key = call.key(request.key_id.as_deref(), Names::All)?;
    call.allow(&key, "DescribeKey", Facts::default())?;
    call.codec.encode(&json!({"KeyMetadata": Metadata::of(call, &key.record)}))
}

pub(in crate::kms) async fn list(call: &Call, paging: Paging) -> Result<Encoded, KmsError> {
    call.allow_account()?;
    let page = paging.page(call.service.records.all::<KeyRecord>(), |key| &key.id, 100, 1000)?;
    let settings = &call.service.settings;
    let keys: Vec<_> = page
        .items
        .iter()
        .map(|key| json!({"KeyId": key.id, "KeyArn": names::key_arn(settings, &key.id)}))
        .collect();
    call.codec.encode(&list_answer("Keys", keys, page.next))
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct PublicKeyAnswer<'a> {
    key_id: &'a str,
    public_key: &'a Blob,
    customer_master_key_spec: &'static str,
    key_spec: &'static str,
    key_usage: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_algorithms: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encryption_algorithms: Option<&'static [&'static str]>,
}

pub(in crate::kms) async fn public_key(call: &Call, request: KeyRequest) -> Result<Encoded, KmsError> {
    fields::grant_tokens(request.grant_tokens.as_ref())?;
    let key = call.key(request.key_id.as_deref(), Names::All)?;
    call.allow(&key, "GetPublicKey", Facts::default())?;
    if key.record.spec == Spec::Symmetric {
        let message = format!("{} is a symmetric key, which has no public key.", key.arn);
        return Err(KmsError::unsupported(message));
    }
    let material = call.enabled(&key)?;
    let (signing_algorithms, encryption_algorithms) = algorithms::of_key(&key.record);
    call.codec.encode(&PublicKeyAnswer {
        key_id: &key.arn,
        public_key: &material.public,
        customer_master_key_spec: key.record.spec.name(),
        key_spec: key.record.spec.name(),
        key_usage: key.record.usage.name(),
        signing_algorithms,
        encryption_algorithms,
    })
}

pub(in crate::kms) async fn last_usage(call: &Call, request: KeyRequest) -> Result<Encoded, KmsError> {
    let key = call.key(request.key_id.as_deref(), Names::All)?;
    call.allow(&key, "GetKeyLastUsage", Facts::default())?;
    let last = match call.service.kms.uses.last(&call.service.records, &key.record.id) {
        Some(last) => json!({
            "Operation": last.operation,
            "Timestamp": Time::of_ms(last.at_ms),
            "KmsRequestId": last.request_id,
        }),
        None => json!({}),
    };
    call.codec.encode(&json!({
        "KeyId": key.arn,
        "KeyLastUsage": last,
        "TrackingStartDate": Time::of_ms(key.record.created_ms),
        "KeyCreationDate": Time::of_ms(key.record.created_ms),
    }))
}

/// A symmetric key that was made here could be rotated, and never is. Others cannot be.
fn rotatable(call: &Call, name: Option<&str>) -> Result<names::Key, KmsError> {
    let key = call.allowed_key(name)?;
    if key.record.spec != Spec::Symmetric || key.record.origin != Origin::Here {
        return Err(KmsError::unsupported(format!("{} cannot be rotated.", key.arn)));
    }
    Ok(key)
}

pub(in crate::kms) async fn rotation_status(call: &Call, request: KeyRequest) -> Result<Encoded, KmsError> {
    let key = rotatable(call, request.key_id.as_deref())?;
    call.codec.encode(&json!({"KeyId": key.arn, "KeyRotationEnabled": false}))
}

pub(in crate::kms) async fn rotations(call: &Call, request: KeyRequest) -> Result<Encoded, KmsError> {
    rotatable(call, request.key_id.as_deref())?;
    call.codec.encode(&list_answer("Rotations", Vec::<()>::new(), None))
}
