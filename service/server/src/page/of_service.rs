//! The page of a running service.

use super::{Replica, Watched};
use crate::credentials::Principal;
use crate::door;
use crate::kms::Alias;
use crate::metrics::Snapshot;
use crate::service::Service;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Seconds that the page shows.
const SHOWN: usize = 900;

impl Watched for Arc<Service> {
    type Snapshot = Snapshot;

    fn snapshot(&self, after: Option<u64>) -> Snapshot {
        let mut snapshot = self.metrics.history().snapshot(SHOWN);
        snapshot.seconds.retain(|second| after.is_none_or(|after| second.second > after));
        let aliases = self.records.all::<Alias>();
        for key in &mut snapshot.keys {
            let own = aliases.iter().find(|alias| alias.key_id == key.key_id);
            key.alias = own.map(|alias| alias.name.clone());
        }
        snapshot
    }

    fn principal(&self, token: &str) -> Option<Principal> {
        door::principal(self, token)
    }

    fn minute_ms(&self) -> [f64; 3] {
        self.metrics.history().snapshot(60).overall_ms
    }

    fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    fn replicas(&self) -> Vec<Replica> {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let uptime = self.metrics.history().snapshot(1).uptime;
        vec![Replica { name, version: env!("CARGO_PKG_VERSION").to_owned(), uptime }]
    }
}
