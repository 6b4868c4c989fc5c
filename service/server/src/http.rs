//! Connections: TLS, HTTP/1.1 and HTTP/2, limits that hold before anybody is known, health and metrics.

mod activity;
mod addresses;
mod answer;
mod answering;
mod health;
mod layers;
mod limits;
mod listener;
mod peer;
mod tls;
mod trouble;

pub(crate) use answering::Answering;
pub(crate) use health::router as health_router;
pub(crate) use layers::{Layers, layered};
pub(crate) use limits::HttpLimits;
pub(crate) use listener::listen;
#[cfg(test)]
pub(crate) use peer::SMALL;
pub(crate) use peer::{Peer, Small};
pub(crate) use tls::{Tls, TlsError, TlsFiles};
pub(crate) use trouble::Trouble;

use crate::config::Config;
use std::time::Duration;

impl HttpLimits {
    /// The limits that a configuration says.
    #[must_use]
    pub(crate) fn of(config: &Config) -> Self {
        let limits = &config.limits;
        Self {
            connections: limits.connections,
            connections_per_address: limits.connections_per_address,
            header_timeout: Duration::from_secs(limits.header_timeout_s),
            idle_timeout: Duration::from_secs(limits.idle_timeout_s),
            header_bytes: limits.header_bytes,
            headers: limits.headers,
            streams: limits.streams,
            write_timeout: Duration::from_secs(limits.write_timeout_s),
            drain: Duration::from_secs(config.drain_s),
        }
    }
}
