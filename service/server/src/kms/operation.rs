//! The operations by their names.

use super::call::Call;
use super::codec::Encoded;
use super::{KmsError, ops};
use crate::changes;
use bytes::Bytes;
use std::sync::Arc;

/// The text before an operation's name in the header `x-amz-target`.
const PREFIX: &str = "TrentService.";

macro_rules! operations {
    (uses { $($use:literal => $user:path,)+ } changes { $($change:literal => $changer:path,)+ }) => {
        /// The operations that are carried out.
        pub const IMPLEMENTED: &[&str] = &[$($use,)+ $($change,)+];

        /// Carries out the operation of `call`, whose request is `body`. Those that change something are
        /// noted in the audit log.
        pub(super) async fn run(call: Call, body: Bytes) -> Result<Encoded, KmsError> {
            match call.operation {
                $($use => {
                    let request = call.codec.decode(&body)?;
                    // It is in the memory that the connection reads its next request into.
                    drop(body);
                    $user(&call, request).await
                })+
                _ => {
                    let service = Arc::clone(&call.service);
                    let change = async move {
                        let result = change(&call, &body).await;
                        (call.change(result.is_err()), result)
                    };
                    changes::make(service.batcher.audit(), change).await
                }
            }
        }

        async fn change(call: &Call, body: &[u8]) -> Result<Encoded, KmsError> {
            match call.operation {
                $($change => $changer(call, call.codec.decode(body)?).await,)+
                _ => Err(unknown()),
            }
        }
    };
}

operations! {
    uses {
        "Sign" => ops::sign::sign,
        "Verify" => ops::sign::verify,
        "Decrypt" => ops::encrypt::decrypt,
        "Encrypt" => ops::encrypt::encrypt,
        "ReEncrypt" => ops::encrypt::re_encrypt,
        "GenerateDataKey" => ops::data_keys::data_key,
        "GenerateDataKeyWithoutPlaintext" => ops::data_keys::data_key_without_plaintext,
        "GenerateDataKeyPair" => ops::data_keys::pair,
        "GenerateDataKeyPairWithoutPlaintext" => ops::data_keys::pair_without_plaintext,
        "GenerateRandom" => ops::data_keys::random,
        "DescribeKey" => ops::keys::describe,
        "ListKeys" => ops::keys::list,
        "GetPublicKey" => ops::keys::public_key,
        "GetKeyLastUsage" => ops::keys::last_usage,
        "GetKeyRotationStatus" => ops::keys::rotation_status,
        "ListKeyRotations" => ops::keys::rotations,
        "ListAliases" => ops::aliases::list,
        "ListResourceTags" => ops::tags::list,
        "GetKeyPolicy" => ops::policies::get,
        "ListKeyPolicies" => ops::policies::list,
        "ListGrants" => ops::grants::list,
        "ListRetirableGrants" => ops::grants::list_retirable,
    }
    changes {
        "CreateKey" => ops::keys::create,
        "UpdateKeyDescription" => ops::state::update_description,
        "EnableKey" => ops::state::enable,
        "DisableKey" => ops::state::disable,
        "ScheduleKeyDeletion" => ops::state::schedule_deletion,
        "CancelKeyDeletion" => ops::state::cancel_deletion,
        "GetParametersForImport" => ops::import::parameters,
        "ImportKeyMaterial" => ops::import::import,
        "DeleteImportedKeyMaterial" => ops::import::delete,
        "CreateAlias" => ops::aliases::create,
        "UpdateAlias" => ops::aliases::update,
        "DeleteAlias" => ops::aliases::delete,
        "TagResource" => ops::tags::tag,
        "UntagResource" => ops::tags::untag,
        "PutKeyPolicy" => ops::policies::put,
        "CreateGrant" => ops::grants::create,
        "RetireGrant" => ops::grants::retire,
        "RevokeGrant" => ops::grants::revoke,
    }
}

/// The operations of AWS that are refused: rotation, custom key stores, several regions, message
/// authentication codes, key agreement.
pub const REFUSED: &[&str] = &[
    "EnableKeyRotation",
    "DisableKeyRotation",
    "RotateKeyOnDemand",
    "ConnectCustomKeyStore",
    "CreateCustomKeyStore",
    "DeleteCustomKeyStore",
    "DescribeCustomKeyStores",
    "DisconnectCustomKeyStore",
    "UpdateCustomKeyStore",
    "ReplicateKey",
    "UpdatePrimaryRegion",
    "GenerateMac",
    "VerifyMac",
    "DeriveSharedSecret",
    "Encapsulate",
    "Decapsulate",
];

/// The name of the operation that a header `x-amz-target` asks for.
pub(super) fn find(target: &str) -> Result<&'static str, KmsError> {
    let name = target.strip_prefix(PREFIX).unwrap_or_default();
    if let Some(name) = IMPLEMENTED.iter().find(|known| **known == name) {
        return Ok(name);
    }
    if REFUSED.contains(&name) {
        return Err(KmsError::unsupported(format!("{name} is not supported by this service.")));
    }
    Err(unknown())
}

fn unknown() -> KmsError {
    KmsError::new("UnknownOperationException", "")
}
