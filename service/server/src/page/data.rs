//! The figures that the page shows.

use crate::credentials::Principal;
use serde::Serialize;

/// The source of the page's figures.
pub trait Watched: Send + Sync + 'static {
    /// The figures of the last quarter of an hour. As JSON it has:
    ///
    /// | field | meaning |
    /// |---|---|
    /// | `uptime` | seconds since the service started |
    /// | `seconds` | a list in order: `second` counted from the start, `operations`, `items`, `refused`, `p50_ms`, `p99_ms`, `p999_ms`, `queue`, `batches`, `mean_batch`, `largest_batch`, `gpu_share` from 0 to 1, `busy` in seconds, `errors` by door |
    /// | `keys` | the keys used most, with `key_id`, `uses` and, where there is one, `alias` |
    type Snapshot: Serialize;

    /// The figures of the last quarter of an hour, of which `seconds` has those after the second `after`.
    fn snapshot(&self, after: Option<u64>) -> Self::Snapshot;

    /// The principal with this token. Only a principal with the right to watch sees the page.
    fn principal(&self, token: &str) -> Option<Principal>;

    /// The percentiles 50, 99 and 99.9 of latencies in the last minute, in milliseconds.
    fn minute_ms(&self) -> [f64; 3];

    /// Whether the service takes no new requests because it shuts down.
    fn is_draining(&self) -> bool;

    /// The replicas that are known. This one is the first.
    fn replicas(&self) -> Vec<Replica>;
}

/// A process of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replica {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// For how many seconds it has been up.
    pub uptime: u64,
}

/// The answer to a question of the page.
#[derive(Serialize)]
pub(super) struct Data<S> {
    replica: String,
    version: String,
    draining: bool,
    minute_ms: [f64; 3],
    replicas: Vec<Replica>,
    snapshot: S,
}

impl<S: Serialize> Data<S> {
    pub(super) fn of(watched: &impl Watched<Snapshot = S>, after: Option<u64>) -> Self {
        let replicas = watched.replicas();
        let own = replicas.first();
        Self {
            replica: own.map(|own| own.name.clone()).unwrap_or_default(),
            version: own.map(|own| own.version.clone()).unwrap_or_default(),
            draining: watched.is_draining(),
            minute_ms: watched.minute_ms(),
            replicas,
            snapshot: watched.snapshot(after),
        }
    }
}
