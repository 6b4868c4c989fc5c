//! A store in memory, for tests.

use super::{Change, Row, Store, StoreError, check_names, writes};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Rows in memory, which are lost when it is dropped.
#[derive(Debug, Default)]
pub struct MemoryStore {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    rows: BTreeMap<(String, String), Row>,
    last: u64,
}

impl Store for MemoryStore {
    fn changes(&self, since: u64) -> BoxFuture<'_, Result<(Vec<Row>, u64), StoreError>> {
        let Table { rows, last } = &*self.table.lock();
        let rows = rows.values().filter(|row| row.version > since).cloned().collect();
        let last = *last;
        Box::pin(async move { Ok((rows, last)) })
    }

    fn commit_if(&self, last: Option<u64>, changes: Vec<Change>) -> BoxFuture<'_, Result<u64, StoreError>> {
        let result = self.make(last, changes);
        Box::pin(async move { result })
    }
}

impl MemoryStore {
    fn make(&self, expected: Option<u64>, changes: Vec<Change>) -> Result<u64, StoreError> {
        check_names(&changes)?;
        let Table { rows, last } = &mut *self.table.lock();
        let as_expected = |change: &Change| {
            let row = rows.get(&(change.kind.clone(), change.id.clone()));
            row.filter(|row| row.body.is_some()).map(|row| row.version) == change.expected
        };
        if expected.is_some_and(|expected| expected != *last) || !changes.iter().all(as_expected) {
            return Err(StoreError::Conflict);
        }
        *last += 1;
        for ((kind, id), body) in writes(changes) {
            rows.insert((kind.clone(), id.clone()), Row { kind, id, version: *last, body });
        }
        Ok(*last)
    }
}
