//! The store of many machines: tables in PostgreSQL, which any number of replicas share.

mod commit;
mod listener;
mod migrations;
mod pool;
mod tls;

use super::{Change, Row, Store, StoreError, check_names};
use commit::Commit;
use futures_util::future::BoxFuture;
use listener::Listener;
use parking_lot::Mutex;
use pool::Pool;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, Type};

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(100);
/// How often [`Store::watch`] answers although nobody said that something changed.
const POLL: Duration = Duration::from_millis(250);
/// A commit that follows another one of the same replica within this time waits up to half of it. Without a
/// pause, one replica would come first again and again, and another that wants to change the same row would
/// always read it too late.
const COURTESY: Duration = Duration::from_millis(16);

/// How long a store waits for its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostgresTimes {
    /// How long a call goes on while the database cannot be reached, as when it restarts.
    pub patience: Duration,
    /// How long one attempt may take. A connection that takes longer is given up.
    pub attempt: Duration,
    /// How long the database is asked, after that, whether a commit was made that was under way when the
    /// connection broke.
    pub settling: Duration,
}

impl Default for PostgresTimes {
    fn default() -> Self {
        let s = Duration::from_secs;
        // The database itself ends a statement after 20 seconds, which is told from a connection that is
        // silent. The last two together are shorter than a request may take.
        Self { patience: s(5), attempt: s(22), settling: s(10) }
    }
}

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
    times: PostgresTimes,
    /// Whether the last call gave up. The next one then makes one attempt, so that calls do not queue behind
    /// each other's patience.
    down: AtomicBool,
    /// The time at which this replica committed last.
    committed: Mutex<Option<Instant>>,
}

impl PostgresStore {
    /// Connects to the database at `url` (`postgres://user:password@host/database`) and brings its tables to
    /// the form that this program knows.
    ///
    /// With `sslmode=require`, `verify-ca` or `verify-full` in the URL the connection is encrypted and the
    /// server's certificate and name are checked, against the certificates of the file `sslrootcert` or else
    /// of the system. Without, the connection is plain.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::connect_within(url, PostgresTimes::default()).await
    }

    /// Connects as [`Self::connect`] does, with other times to wait.
    pub async fn connect_within(url: &str, times: PostgresTimes) -> Result<Self, StoreError> {
        let pool = Arc::new(Pool::new(tls::parse(url)?));
        let down = AtomicBool::new(false);
        let patience = Patience::new(&down, &times);
        loop {
            if let Some(made) = patience.attempt(migrations::run(&pool)).await {
                made?;
                break;
            }
        }
        let listener = Listener::start(Arc::clone(&pool));
        Ok(Self { pool, listener, times, down, committed: Mutex::default() })
    }

    /// Makes a commit, and repeats it while the database cannot be reached. `open` says at the end whether an
    /// attempt may have been made all the same.
    async fn make(&self, commit: &Commit, open: &AtomicBool) -> Result<u64, StoreError> {
        let patience = Patience::new(&self.down, &self.times);
        loop {
            if let Some(answer) = patience.attempt(commit.make(&self.pool, open)).await {
                return answer;
            }
        }
    }

    /// Finds out whether a commit was made that failed with `error` when it may have been made.
    async fn settle(&self, commit: &Commit, error: StoreError) -> Result<u64, StoreError> {
        let end = Instant::now() + self.times.settling;
        loop {
            let left = end.saturating_duration_since(Instant::now()).max(PAUSE);
            match timeout(self.times.attempt.min(left), commit.find(&self.pool)).await {
                Ok(Ok(Some(number))) => return Ok(number),
                Ok(Ok(None)) => return Err(error),
                // Also errors that the database gives: an earlier attempt may still hold the lock.
                Ok(Err(_)) | Err(_) if Instant::now() < end => sleep(PAUSE).await,
                _ => return Err(StoreError::Unknown(error.to_string())),
            }
        }
    }

    /// Waits if this replica has only just committed.
    async fn give_way(&self, commit: &Commit) {
        let committed = *self.committed.lock();
        if committed.is_some_and(|committed| committed.elapsed() < COURTESY) {
            sleep(COURTESY / 2 * u32::from(commit.token[0]) / 256).await;
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
            let patience = Patience::new(&self.down, &self.times);
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
            let commit = Commit::new(last, changes)?;
            self.give_way(&commit).await;
            let open = AtomicBool::new(false);
            let mut answer = self.make(&commit, &open).await;
            if let Err(error) = &answer
                && open.load(Ordering::Relaxed)
            {
                answer = self.settle(&commit, error.clone()).await;
            }
            if answer.is_ok() {
                *self.committed.lock() = Some(Instant::now());
            }
            answer
        })
    }

    fn watch(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { _ = timeout(POLL, self.listener.heard()).await })
    }
}

/// How long a call still goes on.
struct Patience<'a> {
    end: Instant,
    attempt: Duration,
    down: &'a AtomicBool,
}

impl<'a> Patience<'a> {
    fn new(down: &'a AtomicBool, times: &PostgresTimes) -> Self {
        let patience = if down.load(Ordering::Relaxed) { Duration::ZERO } else { times.patience };
        Self { end: Instant::now() + patience, attempt: times.attempt, down }
    }

    /// Makes one attempt. Returns `None` if another one should be made, after a pause.
    async fn attempt<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Option<Result<T, StoreError>> {
        let reason = match timeout(self.attempt, work).await {
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
            // An error without a code is not the database's: the connection to it broke.
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
