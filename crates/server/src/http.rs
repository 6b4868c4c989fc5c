//! Connections: TLS, HTTP/1.1 and HTTP/2, limits that hold before anybody is known, health and metrics.

mod addresses;
mod health;
mod layers;
mod listener;
mod tls;

pub use health::router as health_router;
pub use layers::{Layers, layered};
pub use listener::{HttpLimits, listen};
pub use tls::{Tls, TlsError, TlsFiles};

use crate::config::Config;
use std::time::Duration;

impl HttpLimits {
    /// The limits that a configuration says.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let limits = &config.limits;
        Self {
            connections: limits.connections,
            connections_per_address: limits.connections_per_address,
            header_timeout: Duration::from_secs(limits.header_timeout_s),
            idle_timeout: Duration::from_secs(limits.idle_timeout_s),
            header_bytes: limits.header_bytes,
            headers: limits.headers,
            streams: limits.streams,
            drain: Duration::from_secs(config.drain_s),
        }
    }
}
