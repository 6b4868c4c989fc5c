//! The description of a key.

use super::algorithms;
use crate::kms::call::Call;
use crate::kms::codec::Time;
use crate::kms::documents::{KeyRecord, KeyState, Material, Origin, Spec};
use crate::kms::names;
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Metadata<'a> {
    #[serde(rename = "AWSAccountId")]
    account: &'a str,
    key_id: &'a str,
    arn: String,
    creation_date: Time,
    enabled: bool,
    description: &'a str,
    key_usage: &'static str,
    key_state: &'static str,
    origin: &'static str,
    key_manager: &'static str,
    customer_master_key_spec: &'static str,
    key_spec: &'static str,
    multi_region: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_algorithms: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encryption_algorithms: Option<&'static [&'static str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_date: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_to: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expiration_model: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_key_material_id: Option<&'a str>,
}

impl<'a> Metadata<'a> {
    pub(super) fn of(call: &'a Call, key: &'a KeyRecord) -> Self {
        let state = call.state(key);
        let (signing_algorithms, encryption_algorithms) = algorithms::of_key(key);
        let material = key.material_at(call.now_ms);
        let imported = material.filter(|_| key.origin == Origin::External);
        let model = |material: &Material| match material.expires_ms {
            Some(_) => "KEY_MATERIAL_EXPIRES",
            None => "KEY_MATERIAL_DOES_NOT_EXPIRE",
        };
        Self {
            account: &call.service.settings.account,
            key_id: &key.id,
            arn: names::key_arn(&call.service.settings, &key.id),
            creation_date: Time::of_ms(key.created_ms),
            enabled: state == KeyState::Enabled,
            description: &key.description,
            key_usage: key.usage.name(),
            key_state: state.name(),
            origin: key.origin.name(),
            key_manager: "CUSTOMER",
            customer_master_key_spec: key.spec.name(),
            key_spec: key.spec.name(),
            multi_region: false,
            signing_algorithms,
            encryption_algorithms,
            deletion_date: key.deletion_ms.map(Time::of_ms),
            valid_to: imported.and_then(|material| material.expires_ms).map(Time::of_ms),
            expiration_model: imported.map(model),
            // Material that was deleted or expired is still the only one that may be imported again.
            current_key_material_id: material
                .map(|found| &found.id)
                .or(key.imported_id.as_ref())
                .filter(|_| key.spec == Spec::Symmetric)
                .map(String::as_str),
        }
    }
}
