//! The last uses of keys. A use is noted in memory and written with others now and then.

use super::documents::KeyUse;
use super::{KmsError, documents::KeyRecord};
use crate::records::{Changes, Records};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

struct Use {
    operation: &'static str,
    request_id: Arc<str>,
    at_ms: u64,
}

/// Uses that are not written yet.
#[derive(Default)]
pub(super) struct Uses(Mutex<HashMap<String, Use>>);

/// The number of uses in one commit.
const BATCH: usize = 500;

impl Uses {
    pub(super) fn note(&self, key_id: &str, operation: &'static str, request_id: &Arc<str>, at_ms: u64) {
        let new = Use { operation, request_id: Arc::clone(request_id), at_ms };
        let mut uses = self.0.lock();
        match uses.get_mut(key_id) {
            Some(old) => *old = new,
            None => {
                uses.insert(key_id.to_owned(), new);
            }
        }
    }

    /// The last use of a key.
    pub(super) fn last(&self, records: &Records, key_id: &str) -> Option<KeyUse> {
        let noted = {
            let uses = self.0.lock();
            uses.get(key_id).map(|noted| document(key_id, noted))
        };
        let written = records.get::<KeyUse>(key_id).map(|written| KeyUse::clone(&written));
        noted.into_iter().chain(written).max_by_key(|found| found.at_ms)
    }

    /// Writes what was noted. What is not written because the store fails is lost until the next use.
    pub(super) async fn flush(&self, records: &Records) -> Result<(), KmsError> {
        let noted = std::mem::take(&mut *self.0.lock());
        let documents: Vec<KeyUse> = noted.iter().map(|(key_id, noted)| document(key_id, noted)).collect();
        for documents in documents.chunks(BATCH) {
            let written = records.change(|records| {
                let newer = |new: &&KeyUse| {
                    records.get::<KeyRecord>(&new.key_id).is_some()
                        && records.get::<KeyUse>(&new.key_id).is_none_or(|old| old.at_ms < new.at_ms)
                };
                let changes = documents.iter().filter(newer).fold(Changes::new(), Changes::put);
                Ok::<_, KmsError>((changes, ()))
            });
            written.await?;
        }
        Ok(())
    }
}

fn document(key_id: &str, noted: &Use) -> KeyUse {
    KeyUse {
        key_id: key_id.to_owned(),
        operation: noted.operation.to_owned(),
        request_id: noted.request_id.to_string(),
        at_ms: noted.at_ms,
    }
}
