//! One commit as one transaction.

use super::pool::Pool;
use super::{Failure, field, number, unsigned};
use crate::store::{Change, StoreError, writes};
use std::collections::BTreeMap;
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;

/// How many commits are remembered by their tokens. A commit is asked for within seconds, if at all.
const REMEMBERED: i64 = 10_000;

/// What holds within a commit: it is on disk when it was made, and a replica that vanished does not keep the others waiting.
const SETTINGS: &str = "SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = '8s'; \
                        SET LOCAL statement_timeout = '20s'; SET LOCAL idle_in_transaction_session_timeout = '5s'";

/// Random bytes that name one commit.
pub(super) type Token = [u8; 16];

/// A new token.
pub(super) fn token() -> Result<Token, StoreError> {
    let mut token = [0; 16];
    getrandom::fill(&mut token).map_err(|error| StoreError::Unavailable(error.to_string()))?;
    Ok(token)
}

/// Makes the commit that `token` names. If `ask`, an earlier attempt may have made it already.
pub(super) async fn make(
    pool: &Pool,
    token: &Token,
    ask: bool,
    expected: Option<u64>,
    changes: &[Change],
) -> Result<u64, Failure> {
    let mut client = pool.client().await?;
    let transaction = client.transaction().await?;
    let made = within(&transaction, token, ask, expected, changes).await;
    match made {
        Ok(made) => {
            transaction.commit().await?;
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

async fn within(
    transaction: &Transaction<'_>,
    token: &Token,
    ask: bool,
    expected: Option<u64>,
    changes: &[Change],
) -> Result<u64, Failure> {
    transaction.batch_execute(SETTINGS).await?;
    // This waits for whoever commits at present, also for an earlier attempt that the database has not ended yet.
    let head = "SELECT sequence FROM modmill_head FOR UPDATE";
    let last = unsigned(field(&transaction.query_typed_one(head, &[]).await?, 0)?)?;
    let token = token.as_slice();
    if ask {
        let query = "SELECT sequence FROM modmill_commits WHERE token = $1";
        if let Some(row) = transaction.query_typed_opt(query, &[(&token, Type::BYTEA)]).await? {
            return unsigned(field(&row, 0)?);
        }
    }
    if expected.is_some_and(|expected| expected != last) || !as_expected(transaction, changes).await? {
        return Err(Failure::Final(StoreError::Conflict));
    }
    let next = number(last + 1)?;
    transaction.execute_typed("UPDATE modmill_head SET sequence = $1", &[(&next, Type::INT8)]).await?;
    let remember = "INSERT INTO modmill_commits (sequence, token) VALUES ($1, $2)";
    transaction.execute_typed(remember, &[(&next, Type::INT8), (&token, Type::BYTEA)]).await?;
    let forget = "DELETE FROM modmill_commits WHERE sequence < $1";
    transaction.execute_typed(forget, &[(&(next - REMEMBERED), Type::INT8)]).await?;
    let (mut kinds, mut ids, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    for ((kind, id), body) in writes(changes.to_vec()) {
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
