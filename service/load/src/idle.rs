//! Connections that are open and do nothing.

use crate::connection::Connection;
use crate::door;
use crate::endpoint::Endpoint;
use crate::error::{Error, Failures};
use crate::process::{Process, allow_files};
use http_body_util::Full;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Connections that are opened at the same time.
const AT_ONCE: usize = 64;
/// The time for a connection and its first answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The cost of idle connections.
#[derive(Debug, Clone, Serialize)]
pub struct Idle {
    /// Connections that were answered once.
    pub opened: usize,
    /// Connections that were still answered at the end.
    pub open_at_end: usize,
    /// Connections that could not be opened or were closed, by kind.
    pub failures: Failures,
    /// The server's memory in use before, in bytes.
    pub memory_before: u64,
    /// The server's memory in use with all connections open, in bytes.
    pub memory_open: u64,
}

impl std::fmt::Display for Idle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mib = |bytes: u64| bytes as f64 / 1048576.0;
        let added = self.memory_open.saturating_sub(self.memory_before);
        let each = added as f64 / self.opened.max(1) as f64 / 1024.0;
        write!(
            f,
            "{} connections open, {} at the end; errors {}\nmemory {:.1} MiB before, {:.1} MiB with them: {each:.1} KiB each",
            self.opened,
            self.open_at_end,
            self.failures,
            mib(self.memory_before),
            mib(self.memory_open),
        )
    }
}

/// Opens `count` connections, sends one request for `path` on each, lets them rest, and asks again. `opened`
/// is told how many were answered.
pub async fn idle(
    endpoint: &Endpoint,
    process: Process,
    (count, path): (usize, &str),
    rest: Duration,
    mut opened: impl FnMut(usize),
) -> Result<Idle, Error> {
    allow_files(count as u64 + 64);
    let memory_before = process.memory()?;
    let endpoint = Arc::new(endpoint.clone());
    let fresh = (0..count).map(|_| Connection::new(Arc::clone(&endpoint), None)).collect();
    let mut failures = Failures::default();
    let connections = ask_all(fresh, &endpoint, path, &mut failures, &mut opened).await?;
    tokio::time::sleep(rest).await;
    let memory_open = process.memory()?;
    let answered = connections.len();
    // A connection that the server closed must not be opened again by the question.
    let (connections, closed): (Vec<_>, Vec<_>) =
        connections.into_iter().partition(|connection| connection.is_open());
    failures.add("closed by the server", closed.len() as u64);
    let at_end = ask_all(connections, &endpoint, path, &mut failures, &mut |_| {}).await?;
    Ok(Idle { opened: answered, open_at_end: at_end.len(), failures, memory_before, memory_open })
}

/// Sends a request on every connection, and returns those that were answered.
async fn ask_all(
    mut waiting: Vec<Connection>,
    endpoint: &Endpoint,
    path: &str,
    failures: &mut Failures,
    answered: &mut dyn FnMut(usize),
) -> Result<Vec<Connection>, Error> {
    let mut kept = Vec::with_capacity(waiting.len());
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() < AT_ONCE {
            let Some(mut connection) = waiting.pop() else { break };
            let request = door::start(endpoint, http::Method::GET, path)
                .body(Full::default())
                .map_err(door::not_a_request)?;
            under_way.spawn(async move {
                let answer = tokio::time::timeout(PATIENCE, connection.send(request)).await;
                (connection, answer.unwrap_or(Err("timeout")))
            });
        }
        match under_way.join_next().await {
            None => return Ok(kept),
            // Any answer will do: what is asked about is the connection.
            Some(Ok((connection, Ok(_)))) => {
                kept.push(connection);
                answered(kept.len());
            }
            Some(Ok((_, Err(kind)))) => failures.add(kind, 1),
            Some(Err(_)) => failures.add("task failed", 1),
        }
    }
}
