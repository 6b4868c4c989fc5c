//! One commit as one transaction.

use super::pool::Pool;
use super::{Failure, field, number, unsigned};
use crate::store::{Change, StoreError, writes};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;

/// How many commits are remembered by their tokens. A commit is asked for within seconds, if at all.
const REMEMBERED: i64 = 10_000;

/// The settings of a commit: it is on disk when it was made, and a replica that vanished does not keep the
/// others waiting.
const SETTINGS: &str = "SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '8s'; \
                        SET LOCAL statement_timeout = '20s'; SET LOCAL idle_in_transaction_session_timeout = '5s'";

/// A commit: what it changes, and random bytes that name it.
pub(super) struct Commit {
    pub(super) token: [u8; 16],
    /// The number that the last commit must have.
    last: Option<u64>,
    changes: Vec<Change>,
}

impl Commit {
    pub(super) fn new(last: Option<u64>, changes: Vec<Change>) -> Result<Self, StoreError> {
        let mut token = [0; 16];
        getrandom::fill(&mut token).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        Ok(Self { token, last, changes })
    }

    /// Makes the commit. `open` says before whether an earlier attempt may have made it already, and after
    /// whether this one may have: the database was told to commit, and did not answer.
    pub(super) async fn make(&self, pool: &Pool, open: &AtomicBool) -> Result<u64, Failure> {
        let mut client = pool.client().await?;
        let transaction = client.transaction().await?;
        match self.within(&transaction, open).await {
            Ok(made) => {
                open.store(true, Ordering::Relaxed);
                transaction.commit().await?;
                open.store(false, Ordering::Relaxed);
                pool.give_back(client);
                Ok(made)
            }
            Err(Failure::Final(error)) => {
                // The next statement on this connection comes after the end of the transaction.
                drop(transaction);
                pool.give_back(client);
                Err(Failure::Final(error))
            }
            Err(broken) => Err(broken),
        }
    }

    /// The number of the commit if it was made.
    pub(super) async fn find(&self, pool: &Pool) -> Result<Option<u64>, Failure> {
        let mut client = pool.client().await?;
        let transaction = client.transaction().await?;
        lock(&transaction).await?;
        let found = self.found(&transaction).await?;
        transaction.rollback().await?;
        pool.give_back(client);
        Ok(found)
    }

    /// The number of the commit if an earlier attempt made it.
    async fn found(&self, transaction: &Transaction<'_>) -> Result<Option<u64>, Failure> {
        let query = "SELECT sequence FROM modmill_commits WHERE token = $1";
        let found = transaction.query_typed_opt(query, &[(&self.token.as_slice(), Type::BYTEA)]).await?;
        found.map(|row| unsigned(field(&row, 0)?)).transpose()
    }

    async fn within(&self, transaction: &Transaction<'_>, open: &AtomicBool) -> Result<u64, Failure> {
        let last = lock(transaction).await?;
        if open.load(Ordering::Relaxed) {
            if let Some(number) = self.found(transaction).await? {
                return Ok(number);
            }
            // The lock is ours, so that no earlier attempt goes on.
            open.store(false, Ordering::Relaxed);
        }
        if self.last.is_some_and(|expected| expected != last)
            || !as_expected(transaction, &self.changes).await?
        {
            return Err(Failure::Final(StoreError::Conflict));
        }
        let next = number(last + 1)?;
        transaction.execute_typed("UPDATE modmill_head SET sequence = $1", &[(&next, Type::INT8)]).await?;
        let remember = "INSERT INTO modmill_commits (sequence, token) VALUES ($1, $2)";
        transaction
            .execute_typed(remember, &[(&next, Type::INT8), (&self.token.as_slice(), Type::BYTEA)])
            .await?;
        let forget = "DELETE FROM modmill_commits WHERE sequence < $1";
        transaction.execute_typed(forget, &[(&(next - REMEMBERED), Type::INT8)]).await?;
        let (mut kinds, mut ids, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
        for ((kind, id), body) in writes(self.changes.clone()) {
            kinds.push(kind);
            ids.push(id);
            bodies.push(body);
        }
        let write = "INSERT INTO modmill_rows (kind, id, version, body) \
                     SELECT kind, id, $1, body FROM unnest($2, $3, $4) AS new (kind, id, body) \
                     ON CONFLICT (kind, id) DO UPDATE SET version = excluded.version, body = excluded.body";
        let parameters: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 4] = [
            (&next, Type::INT8),
            (&kinds, Type::TEXT_ARRAY),
            (&ids, Type::TEXT_ARRAY),
            (&bodies, Type::BYTEA_ARRAY),
        ];
        transaction.execute_typed(write, &parameters).await?;
        transaction.batch_execute("NOTIFY modmill_changed").await?;
        unsigned(next)
    }
}

/// Takes the lock that every commit holds to its end. Returns the number of the last commit. This waits for
/// whoever commits at present, also for an earlier attempt that the database has not ended yet.
async fn lock(transaction: &Transaction<'_>) -> Result<u64, Failure> {
    transaction.batch_execute(SETTINGS).await?;
    let head = "SELECT sequence FROM modmill_head FOR UPDATE";
    unsigned(field(&transaction.query_typed_one(head, &[]).await?, 0)?)
}

/// Whether every row has the version that `changes` expect.
async fn as_expected(transaction: &Transaction<'_>, changes: &[Change]) -> Result<bool, Failure> {
    let kinds: Vec<&str> = changes.iter().map(|change| change.kind.as_str()).collect();
    let ids: Vec<&str> = changes.iter().map(|change| change.id.as_str()).collect();
    let query = "SELECT rows.kind, rows.id, rows.version FROM modmill_rows AS rows \
                 JOIN unnest($1, $2) AS place (kind, id) ON rows.kind = place.kind AND rows.id = place.id \
                 WHERE rows.body IS NOT NULL";
    let found =
        transaction.query_typed(query, &[(&kinds, Type::TEXT_ARRAY), (&ids, Type::TEXT_ARRAY)]).await?;
    let mut versions = BTreeMap::new();
    for row in &found {
        let place: (&str, &str) = (field(row, 0)?, field(row, 1)?);
        versions.insert(place, unsigned(field(row, 2)?)?);
    }
    let version = |change: &Change| versions.get(&(change.kind.as_str(), change.id.as_str())).copied();
    Ok(changes.iter().all(|change| version(change) == change.expected))
}
