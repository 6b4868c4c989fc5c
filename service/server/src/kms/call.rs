//! One request on its way.

use super::codec::Codec;
use super::documents::{Grant, KeyRecord, KeyState, Material, Usage};
use super::names::{self, Key, Names};
use super::policy::Facts;
use super::rights::{Asker, Decision};
use super::{KmsError, fields};
use crate::audit::{Entry, Subject};
use crate::batch::Origin;
use crate::changes::Change;
use crate::credentials::{Principal, Right};
use crate::door;
use crate::records::Changes;
use crate::service::Service;
use crate::sha256::sha256;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;

/// An authenticated request.
pub(super) struct Call {
    pub(super) service: Arc<Service>,
    pub(super) principal: Arc<Principal>,
    /// The principal's ARN.
    pub(super) arn: String,
    pub(super) operation: &'static str,
    pub(super) request_id: Arc<str>,
    /// The time of the request, in milliseconds since 1970.
    pub(super) now_ms: u64,
    pub(super) deadline: Instant,
    pub(super) codec: Codec,
    /// Particulars of a change, for the audit log.
    noted: Mutex<Noted>,
}

/// Particulars of a change that were learnt while it was made.
#[derive(Default)]
struct Noted {
    key_id: String,
    received: Option<[u8; 32]>,
    particulars: Map<String, Value>,
}

impl Call {
    pub(super) fn new(
        service: Arc<Service>,
        principal: Arc<Principal>,
        operation: &'static str,
        request_id: Arc<str>,
        now_ms: u64,
        deadline: Instant,
    ) -> Self {
        let arn = ["arn:aws:iam::", &service.settings.account, ":user/", &principal.name].concat();
        let (codec, noted) = (Codec::Json, Mutex::default());
        Self { service, principal, arn, operation, request_id, now_ms, deadline, codec, noted }
    }

    /// The caller, for policies.
    pub(super) fn asker(&self) -> Asker<'_> {
        Asker { principal: &self.principal, arn: &self.arn, account: &self.service.settings.account }
    }

    /// The key that the member `KeyId` names.
    pub(super) fn key(&self, name: Option<&str>, names: Names) -> Result<Key, KmsError> {
        self.key_at(name, "keyId", names)
    }

    /// The key that a member names.
    pub(super) fn key_at(&self, name: Option<&str>, member: &str, names: Names) -> Result<Key, KmsError> {
        let name = fields::text(name, member, 1..=2048)?;
        let key = names::find(&self.service.settings, &self.service.records, name, names)?;
        self.note_key(&key.record.id);
        Ok(key)
    }

    /// The key that `KeyId` names, by identifier or ARN, if this operation is allowed on it.
    pub(super) fn allowed_key(&self, name: Option<&str>) -> Result<Key, KmsError> {
        let key = self.key(name, Names::Keys)?;
        self.allow(&key, self.operation, Facts::default())?;
        Ok(key)
    }

    /// Refuses if the principal may not do `action`. Returns the grant that allows it, if no policy does.
    pub(super) fn allow(
        &self,
        key: &Key,
        action: &str,
        facts: Facts<'_>,
    ) -> Result<Option<Arc<Grant>>, KmsError> {
        let facts = Facts {
            request_alias: key.alias.as_deref(),
            key_spec: key.record.spec.name(),
            key_usage: key.record.usage.name(),
            key_origin: key.record.origin.name(),
            ..facts
        };
        match self.service.kms.rights.decide(&self.service.records, &self.asker(), key, action, &facts) {
            Decision::Allowed => Ok(None),
            Decision::Granted(grant) => Ok(Some(grant)),
            Decision::Denied => {
                Err(self.denied(action, &key.arn, "with an explicit deny in a resource-based policy"))
            }
            Decision::NotAllowed => {
                let why = format!("because no resource-based policy allows the kms:{action} action");
                Err(self.denied(action, &key.arn, &why))
            }
        }
    }

    /// Refuses if the credential does not have the right to operations that are not about one key.
    pub(super) fn allow_account(&self) -> Result<(), KmsError> {
        if self.principal.may(Right::Kms) {
            return Ok(());
        }
        let why = format!("because no identity-based policy allows the kms:{} action", self.operation);
        Err(self.denied(self.operation, "*", &why))
    }

    fn denied(&self, action: &str, resource: &str, why: &str) -> KmsError {
        KmsError::new(
            "AccessDeniedException",
            format!(
                "User: {} is not authorized to perform: kms:{action} on resource: {resource} {why}",
                self.arn
            ),
        )
    }

    /// The state of a key now.
    pub(super) fn state(&self, record: &KeyRecord) -> KeyState {
        record.state(self.now_ms)
    }

    /// The secret of a key for a cryptographic operation.
    pub(super) fn material<'k>(&self, key: &'k Key, usage: Usage) -> Result<&'k Material, KmsError> {
        if key.record.usage != usage {
            return Err(KmsError::new(
                "InvalidKeyUsageException",
                format!(
                    "{} key usage is {} which is not valid for {}.",
                    key.arn,
                    key.record.usage.name(),
                    self.operation
                ),
            ));
        }
        self.enabled(key)
    }

    /// The secret of a key that is enabled.
    pub(super) fn enabled<'k>(&self, key: &'k Key) -> Result<&'k Material, KmsError> {
        match (self.state(&key.record), key.record.material_at(self.now_ms)) {
            (KeyState::Enabled, Some(material)) => Ok(material),
            (KeyState::Disabled, _) => {
                Err(KmsError::new("DisabledException", format!("{} is disabled.", key.arn)))
            }
            (state, _) => Err(wrong_state(&key.arn, state)),
        }
    }

    /// Refuses keys that will be deleted.
    pub(super) fn not_pending_deletion(&self, key: &Key, record: &KeyRecord) -> Result<(), KmsError> {
        match self.state(record) {
            state @ KeyState::PendingDeletion => Err(wrong_state(&key.arn, state)),
            _ => Ok(()),
        }
    }

    /// The origin of an operation on a key, for the batcher.
    pub(super) fn origin(&self, key: &Key) -> Origin {
        self.origin_of(&key.record.id)
    }

    fn origin_of(&self, key_id: &str) -> Origin {
        door::origin(&self.principal, ("kms", self.operation), key_id, &self.request_id, self.deadline)
    }

    /// Keeps the key that a change is about for the audit log.
    pub(super) fn note_key(&self, id: &str) {
        id.clone_into(&mut self.noted().key_id);
    }

    /// Keeps the hash of what was received for a change for the audit log.
    pub(super) fn note_received(&self, received: &[u8]) {
        self.noted().received = Some(sha256(&[received]));
    }

    /// Keeps a particular of a change for the audit log. It must be no secret.
    pub(super) fn note(&self, name: &str, value: impl Into<Value>) {
        self.noted().particulars.insert(name.to_owned(), value.into());
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock()
    }

    /// The line of a change in the audit log; `None` if it was refused, and the log has many such lines
    /// already.
    pub(super) fn change(&self, is_refused: bool) -> Option<Change> {
        if is_refused {
            let left_out = self.service.kms.refusals.take(&self.principal.name, self.now_ms)?;
            if left_out > 0 {
                self.note("left_out", left_out);
            }
        }
        let Noted { key_id, received, particulars } = std::mem::take(&mut *self.noted());
        let particulars = if particulars.is_empty() { Value::Null } else { particulars.into() };
        Some(Change { origin: self.origin_of(&key_id), received, particulars })
    }

    /// Notes an operation with a symmetric key in the audit log, by the hash of its ciphertext. The batcher
    /// notes those with private keys.
    pub(super) fn audit(&self, key: &Key, ciphertext: &[u8], error: Option<String>) -> Result<(), KmsError> {
        let Some(audit) = self.service.batcher.audit() else { return Ok(()) };
        let subject = Subject::Hashed(sha256(&[ciphertext]));
        let entry = Entry { origin: &self.origin(key), subject, error };
        // The disk may be slow, and the others of this thread must not wait for it.
        let written = tokio::task::block_in_place(|| audit.write(&[entry]));
        written.map_err(|error| KmsError::internal(&error))
    }

    /// Notes that a key was used.
    pub(super) fn used(&self, key: &Key) {
        self.service.kms.uses.note(&key.record.id, self.operation, &self.request_id, self.now_ms);
    }

    /// Stops a request that only asks whether it would succeed.
    pub(super) fn dry_run(&self, dry_run: Option<bool>) -> Result<(), KmsError> {
        if dry_run != Some(true) {
            return Ok(());
        }
        let message = "The request would have succeeded, but the DryRun option is set.";
        Err(KmsError::new("DryRunOperationException", message))
    }

    /// Changes a key. `change` is called again if another change comes first.
    pub(super) async fn change_key(
        &self,
        key: &Key,
        change: impl Fn(&mut KeyRecord) -> Result<(), KmsError>,
    ) -> Result<KeyRecord, KmsError> {
        let changed = self.service.records.change(|records| {
            let record = records.get::<KeyRecord>(&key.record.id).ok_or_else(|| gone(key))?;
            let mut record = KeyRecord::clone(&record);
            change(&mut record)?;
            Ok::<_, KmsError>((Changes::new().put(&record), record))
        });
        changed.await
    }
}

/// The error of a key that was deleted meanwhile.
pub(super) fn gone(key: &Key) -> KmsError {
    KmsError::not_found(format!("Key '{}' does not exist", key.arn))
}

/// The error of a key in a state that the operation is not for.
pub(super) fn wrong_state(arn: &str, state: KeyState) -> KmsError {
    let is = match state {
        KeyState::Enabled => "is enabled.",
        KeyState::Disabled => "is disabled.",
        KeyState::PendingDeletion => "is pending deletion.",
        KeyState::PendingImport => "is pending import.",
    };
    KmsError::state(format!("{arn} {is}"))
}
