//! The tables in PostgreSQL, and how older forms of them become the present one.

use super::pool::Pool;
use super::{Failure, field};
use crate::store::StoreError;

/// The steps to the present form. Step `n` of a database that has `n` steps is the next one. Steps are added,
/// never changed.
const STEPS: [&str; 1] = ["
    CREATE TABLE modmill_head (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        sequence bigint NOT NULL
    );
    INSERT INTO modmill_head (sequence) VALUES (0);
    CREATE TABLE modmill_rows (
        kind text COLLATE \"C\" NOT NULL,
        id text COLLATE \"C\" NOT NULL,
        version bigint NOT NULL,
        body bytea,
        PRIMARY KEY (kind, id)
    );
    CREATE INDEX modmill_rows_version ON modmill_rows (version);
    CREATE TABLE modmill_commits (
        sequence bigint PRIMARY KEY,
        token bytea NOT NULL UNIQUE
    );
"];

/// A number that only this program locks in a database: the letters "modmill".
const LOCK: i64 = 0x006d_6f64_6d69_6c6c;

/// Makes the steps that the database does not have yet. Replicas that start together wait for each other.
pub(super) async fn run(pool: &Pool) -> Result<(), Failure> {
    let mut client = pool.client().await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({LOCK})")).await?;
    transaction
        .batch_execute("CREATE TABLE IF NOT EXISTS modmill_schema (version integer PRIMARY KEY, made timestamptz NOT NULL)")
        .await?;
    let row =
        transaction.query_typed_one("SELECT coalesce(max(version), 0) FROM modmill_schema", &[]).await?;
    let made: i32 = field(&row, 0)?;
    let steps = usize::try_from(made).ok().and_then(|made| STEPS.get(made..));
    let Some(steps) = steps else {
        let message =
            format!("its tables have version {made}, which is newer than this program's {}", STEPS.len());
        return Err(Failure::Final(StoreError::Damaged(message)));
    };
    for (version, step) in (made + 1..).zip(steps) {
        transaction.batch_execute(step).await?;
        transaction
            .batch_execute(&format!("INSERT INTO modmill_schema (version, made) VALUES ({version}, now())"))
            .await?;
    }
    transaction.commit().await?;
    pool.give_back(client);
    Ok(())
}
