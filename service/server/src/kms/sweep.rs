//! Changes that nobody asks for: deletions that are due, material that expired, notes that are to be written.

use super::KmsError;
use super::documents::{Alias, Grant, ImportToken, KeyRecord, KeyUse};
use crate::changes::{self, Change};
use crate::records::{Changes, Records};
use crate::service::Service;
use std::sync::Arc;

/// Deletes keys whose waiting period is over, with their aliases and grants, imported material that expired,
/// and import tokens that nobody can use any more; writes when keys were used last. The program calls it
/// every minute. Each deletion is a commit of its own, so that one that fails is tried again the next time.
pub async fn sweep(service: &Service) -> Result<(), KmsError> {
    let now_ms = service.clock.now_ms();
    let records = &service.records;
    for key in records.all::<KeyRecord>() {
        let due = key.deletion_ms.is_some_and(|at_ms| at_ms <= now_ms);
        let expired = key.material.is_some() && key.material_at(now_ms).is_none();
        if due || expired {
            changes::check::<KmsError>(service.batcher.audit())?;
        }
        if due {
            note(service, "DeleteKey", &key.id, delete_key(records, &key.id, now_ms).await).await?;
        } else if expired {
            note(service, "ExpireKeyMaterial", &key.id, expire_material(records, &key.id, now_ms).await)
                .await?;
        }
        if let Some(material) = key.material.as_ref().filter(|_| due || expired) {
            service.keys.forget(&material.id);
        }
    }
    let expired = |records: &Records| {
        let tokens = records.all::<ImportToken>();
        let tokens = tokens.iter().filter(|token| token.expires_ms <= now_ms);
        let changes = tokens.fold(Changes::new(), |changes, token| changes.delete::<ImportToken>(&token.id));
        Ok::<_, KmsError>((changes, ()))
    };
    records.change(expired).await?;
    service.kms.uses.flush(records).await?;
    service.kms.rights.forget_deleted();
    service.keys.forget_unused();
    Ok(())
}

/// Notes in the audit log what the service does to a key by itself, unless another replica was first.
async fn note(
    service: &Service,
    operation: &'static str,
    id: &str,
    done: Result<bool, KmsError>,
) -> Result<(), KmsError> {
    let change = match done {
        Ok(false) => return Ok(()),
        _ => Change::of("service", ("kms", operation), id),
    };
    changes::note(service.batcher.audit(), change, done).await.map(drop)
}

/// Deletes the key. Returns whether it was there, and due.
async fn delete_key(records: &Records, id: &str, now_ms: u64) -> Result<bool, KmsError> {
    let delete = |records: &Records| {
        let due = |key: &KeyRecord| key.deletion_ms.is_some_and(|at_ms| at_ms <= now_ms);
        if !records.get::<KeyRecord>(id).is_some_and(|key| due(&key)) {
            return Ok((Changes::new(), false));
        }
        let mut changes = Changes::new().delete::<KeyRecord>(id);
        for alias in records.all::<Alias>().iter().filter(|alias| alias.key_id == id) {
            changes = changes.delete::<Alias>(&alias.name);
        }
        for grant in records.all::<Grant>().iter().filter(|grant| grant.key_id == id) {
            changes = changes.delete::<Grant>(&grant.id);
        }
        for token in records.all::<ImportToken>().iter().filter(|token| token.key_id == id) {
            changes = changes.delete::<ImportToken>(&token.id);
        }
        if records.get::<KeyUse>(id).is_some() {
            changes = changes.delete::<KeyUse>(id);
        }
        Ok::<_, KmsError>((changes, true))
    };
    records.change(delete).await
}

/// Deletes the material of the key. Returns whether it was there, and expired.
async fn expire_material(records: &Records, id: &str, now_ms: u64) -> Result<bool, KmsError> {
    let expire = |records: &Records| {
        let expired = |key: &Arc<KeyRecord>| key.material.is_some() && key.material_at(now_ms).is_none();
        let Some(key) = records.get::<KeyRecord>(id).filter(expired) else {
            return Ok((Changes::new(), false));
        };
        let key = KeyRecord { material: None, ..KeyRecord::clone(&key) };
        Ok::<_, KmsError>((Changes::new().put(&key), true))
    };
    records.change(expire).await
}
