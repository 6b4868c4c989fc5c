//! The tables of the database: rows, their order, and the number of the last commit.

use super::error;
use crate::store::{Change, Row, StoreError, writes};
use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};

/// Version and body.
type Value = (u64, Option<&'static [u8]>);

/// The table from kind and identifier to version and body.
const ROWS: TableDefinition<(&str, &str), Value> = TableDefinition::new("rows");
/// Version, kind and identifier of every row, so that what changed last is found without reading the others.
const ORDER: TableDefinition<(u64, &str, &str), ()> = TableDefinition::new("order");
/// The number of the last commit.
const LAST: TableDefinition<(), u64> = TableDefinition::new("last");

/// Creates the tables of a new database, and checks that those of an old one agree with each other. Rows of
/// deleted documents go: nobody has read the store yet, so that nobody has to learn of them.
pub(super) fn prepare(database: &Database) -> Result<(), StoreError> {
    let prepare = || -> Result<bool, redb::Error> {
        let transaction = database.begin_write()?;
        let agree = {
            let mut rows = transaction.open_table(ROWS)?;
            let mut order = transaction.open_table(ORDER)?;
            let last = transaction.open_table(LAST)?.get(())?.map_or(0, |last| last.value());
            let mut agree = rows.len()? == order.len()?;
            for row in rows.iter()? {
                let (place, row) = row?;
                let ((kind, id), (version, _)) = (place.value(), row.value());
                agree &= version <= last && order.get((version, kind, id))?.is_some();
            }
            if agree {
                rows.retain(|_, (_, body)| body.is_some())?;
                let mut deleted = Vec::new();
                for place in order.iter()? {
                    let place = place?.0;
                    let (version, kind, id) = place.value();
                    if rows.get((kind, id))?.is_none() {
                        deleted.push((version, kind.to_owned(), id.to_owned()));
                    }
                }
                for (version, kind, id) in &deleted {
                    order.remove((*version, kind.as_str(), id.as_str()))?;
                }
            }
            agree
        };
        transaction.commit()?;
        Ok(agree)
    };
    match prepare().map_err(error)? {
        true => Ok(()),
        false => {
            Err(StoreError::Damaged("the tables of the store's file do not agree with each other".into()))
        }
    }
}

/// The number of the last commit, 0 in a new database.
pub(super) fn last(database: &Database) -> Result<u64, StoreError> {
    let read = || -> Result<u64, redb::Error> {
        let transaction = database.begin_read()?;
        match transaction.open_table(LAST) {
            Ok(last) => Ok(last.get(())?.map_or(0, |last| last.value())),
            Err(redb::TableError::TableDoesNotExist(_)) => Ok(0),
            Err(error) => Err(error.into()),
        }
    };
    read().map_err(error)
}

/// The rows of [`crate::store::Store::changes`].
pub(super) fn changes(database: &Database, since: u64) -> Result<(Vec<Row>, u64), StoreError> {
    let read = || -> Result<_, redb::Error> {
        let transaction = database.begin_read()?;
        let (rows, order) = (transaction.open_table(ROWS)?, transaction.open_table(ORDER)?);
        let last = transaction.open_table(LAST)?.get(())?.map_or(0, |last| last.value());
        let mut changed = Vec::new();
        for place in order.range((since.saturating_add(1), "", "")..)? {
            let place = place?.0;
            let (version, kind, id) = place.value();
            let body = rows.get((kind, id))?.map(|row| row.value().1.map(<[u8]>::to_vec));
            changed.push(body.map(|body| Row { kind: kind.into(), id: id.into(), version, body }));
        }
        Ok((changed, last))
    };
    let (rows, last) = read().map_err(error)?;
    let rows = rows.into_iter().collect::<Option<Vec<_>>>();
    Ok((rows.ok_or_else(|| StoreError::Damaged("a row is missing".into()))?, last))
}

/// The commit of [`crate::store::Store::commit_if`]. It is on disk when this returns.
pub(super) fn commit(
    database: &Database,
    expected: Option<u64>,
    changes: Vec<Change>,
) -> Result<u64, StoreError> {
    let make = || -> Result<Option<u64>, redb::Error> {
        // A transaction that is dropped changes nothing. One that is committed is durable unless told
        // otherwise.
        let transaction = database.begin_write()?;
        let number = {
            let mut rows = transaction.open_table(ROWS)?;
            let mut order = transaction.open_table(ORDER)?;
            let mut head = transaction.open_table(LAST)?;
            let last = head.get(())?.map_or(0, |last| last.value());
            if expected.is_some_and(|expected| expected != last) {
                return Ok(None);
            }
            for Change { kind, id, expected, .. } in &changes {
                let row = rows.get((kind.as_str(), id.as_str()))?;
                let version = row.and_then(|row| {
                    let (version, body) = row.value();
                    body.map(|_| version)
                });
                if version != *expected {
                    return Ok(None);
                }
            }
            let number = last + 1;
            head.insert((), number)?;
            for ((kind, id), body) in writes(changes) {
                let (kind, id) = (kind.as_str(), id.as_str());
                let before = rows.insert((kind, id), (number, body.as_deref()))?.map(|row| row.value().0);
                if let Some(before) = before {
                    order.remove((before, kind, id))?;
                }
                order.insert((number, kind, id), ())?;
            }
            number
        };
        transaction.commit()?;
        Ok(Some(number))
    };
    make().map_err(error)?.ok_or(StoreError::Conflict)
}
