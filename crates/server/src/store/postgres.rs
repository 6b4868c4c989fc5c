//! The store of many machines: tables in PostgreSQL, which any number of replicas share.

mod commit;
mod listener;
mod migrations;
mod pool;
mod tls;

use super::{Change, Row, Store, StoreError, check_names};
use futures_util::future::BoxFuture;
use listener::Listener;
use pool::Pool;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, Type};

/// How long a call goes on while the database cannot be reached, as when it restarts.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// How long one attempt may take. A connection that takes longer is given up.
const ATTEMPT: Duration = Duration::from_secs(30);
/// How often [`Store::watch`] answers although nobody said that something changed.
const POLL: Duration = Duration::from_millis(250);
/// A commit that follows another one of the same replica within this time waits up to half of it. Without a pause, one
/// replica would come first again and again, and another that wants to change the same row would always read it too late.
const COURTESY: Duration = Duration::from_millis(16);

/// Why one attempt failed.
#[derive(Debug)]
enum Failure {
    /// The connection broke or the database is not up, so that another attempt may succeed.
    Broken(String),
    /// Another attempt would fail in the same way.
    Final(StoreError),
}

/// Rows in a PostgreSQL database. It creates the tables that it needs.
pub struct PostgresStore {
    pool: Arc<Pool>,
    listener: Listener,
    /// Whether the last call gave up. The next one then makes one attempt, so that calls do not queue behind each other's
    /// patience.
    down: AtomicBool,
    /// When this replica committed last.
    committed: Mutex<Option<Instant>>,
}

impl PostgresStore {
    /// Connects to the database at `url` (`postgres://user:password@host/database`) and brings its tables to the form that
    /// this program knows.
    ///
    /// With `sslmode=require`, `verify-ca` or `verify-full` in the URL the connection is encrypted and the server's
    /// certificate and name are checked, against the certificates of the file `sslrootcert` or else of the system. Without,
    /// the connection is plain.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let pool = Arc::new(Pool::new(tls::parse(url)?));
        let down = AtomicBool::new(false);
        let patience = Patience::new(&down);
        loop {
            if let Some(made) = patience.attempt(migrations::run(&pool)).await {
                made?;
                break;
            }
        }
        let listener = Listener::start(Arc::clone(&pool));
        Ok(Self { pool, listener, down, committed: Mutex::default() })
    }

    /// Waits if this replica has only just committed. `token` is random.
    async fn give_way(&self, token: &commit::Token) {
        let committed = *self.committed.lock().unwrap_or_else(PoisonError::into_inner);
        if committed.is_some_and(|committed| committed.elapsed() < COURTESY) {
            sleep(COURTESY / 2 * u32::from(token[0]) / 256).await;
        }
    }

    async fn read(&self, since: u64) -> Result<(Vec<Row>, u64), Failure> {
        let client = self.pool.client().await?;
        // One statement, so that all of it sees the same commits.
        let query = "SELECT head.sequence, rows.kind, rows.id, rows.version, rows.body \
                     FROM modmill_head AS head LEFT JOIN modmill_rows AS rows ON rows.version > $1";
        let rows = client.query_typed(query, &[(&number(since)?, Type::INT8)]).await?;
        self.pool.give_back(client);
        let mut last = None;
        let mut changed = Vec::with_capacity(rows.len());
        for row in &rows {
            last = Some(unsigned(field(row, 0)?)?);
            if let Some(kind) = field(row, 1)? {
                let version = unsigned(field(row, 3)?)?;
                changed.push(Row { kind, id: field(row, 2)?, version, body: field(row, 4)? });
            }
        }
        let last =
            last.ok_or_else(|| Failure::Final(StoreError::Damaged("modmill_head has no row".into())))?;
        Ok((changed, last))
    }
}

impl Store for PostgresStore {
    fn changes(&self, since: u64) -> BoxFuture<'_, Result<(Vec<Row>, u64), StoreError>> {
        Box::pin(async move {
            let patience = Patience::new(&self.down);
            loop {
                if let Some(answer) = patience.attempt(self.read(since)).await {
                    return answer;
                }
            }
        })
    }

    fn commit_if(&self, last: Option<u64>, changes: Vec<Change>) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            check_names(&changes)?;
            let token = commit::token()?;
            self.give_way(&token).await;
            let patience = Patience::new(&self.down);
            let mut ask = false;
            loop {
                let attempt = commit::make(&self.pool, &token, ask, last, &changes);
                if let Some(answer) = patience.attempt(attempt).await {
                    if answer.is_ok() {
                        *self.committed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                    }
                    return answer;
                }
                // The connection broke, and the commit was made or not: the database is asked.
                ask = true;
            }
        })
    }

    fn watch(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { _ = timeout(POLL, self.listener.heard()).await })
    }
}

/// How long a call still goes on.
struct Patience<'a> {
    end: Instant,
    down: &'a AtomicBool,
}

impl<'a> Patience<'a> {
    fn new(down: &'a AtomicBool) -> Self {
        let patience = if down.load(Ordering::Relaxed) { Duration::ZERO } else { PATIENCE };
        Self { end: Instant::now() + patience, down }
    }

    /// Makes one attempt. Returns `None` if another one should be made, after a pause.
    async fn attempt<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Option<Result<T, StoreError>> {
        let reason = match timeout(ATTEMPT, work).await {
            Ok(Ok(answer)) => {
                self.down.store(false, Ordering::Relaxed);
                return Some(Ok(answer));
            }
            Ok(Err(Failure::Final(error))) => return Some(Err(error)),
            Ok(Err(Failure::Broken(reason))) => reason,
            Err(_) => return Some(Err(StoreError::Unavailable("the database does not answer".into()))),
        };
        if Instant::now() >= self.end {
            self.down.store(true, Ordering::Relaxed);
            return Some(Err(StoreError::Unavailable(reason)));
        }
        sleep(PAUSE).await;
        None
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let text = text(&error);
        match error.code() {
            // What the database did not say comes from the way to it.
            None => Self::Broken(text),
            Some(
                &(SqlState::ADMIN_SHUTDOWN
                | SqlState::CRASH_SHUTDOWN
                | SqlState::CANNOT_CONNECT_NOW
                | SqlState::T_R_SERIALIZATION_FAILURE
                | SqlState::T_R_DEADLOCK_DETECTED
                | SqlState::CONNECTION_FAILURE
                | SqlState::CONNECTION_EXCEPTION
                | SqlState::CONNECTION_DOES_NOT_EXIST),
            ) => Self::Broken(text),
            Some(_) => Self::Final(StoreError::Unavailable(text)),
        }
    }
}

/// An error and its causes, without the statement's parameters.
fn text(error: &tokio_postgres::Error) -> String {
    if let Some(database) = error.as_db_error() {
        return format!("{} ({})", database.message(), database.code().code());
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// A field of an answer.
fn field<'a, T: FromSql<'a>>(row: &'a tokio_postgres::Row, index: usize) -> Result<T, Failure> {
    row.try_get(index).map_err(|error| Failure::Final(StoreError::Damaged(error.to_string())))
}

/// A number of a commit as the database holds it.
fn number(number: u64) -> Result<i64, Failure> {
    i64::try_from(number)
        .map_err(|_| Failure::Final(StoreError::Damaged("the number of a commit is too large".into())))
}

fn unsigned(number: i64) -> Result<u64, Failure> {
    u64::try_from(number)
        .map_err(|_| Failure::Final(StoreError::Damaged("the number of a commit is negative".into())))
}
