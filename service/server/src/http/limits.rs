//! The limits of connections.

use std::time::Duration;

/// Limits of connections. They hold before anybody is authenticated.
#[derive(Debug, Clone)]
pub(crate) struct HttpLimits {
    /// Connections that are open at the same time.
    pub connections: usize,
    /// Connections from one address, or from one IPv6 network of 64 bits.
    pub connections_per_address: usize,
    /// The time within which the first request of a connection arrives.
    pub header_timeout: Duration,
    /// The time after which a connection without requests is closed.
    pub idle_timeout: Duration,
    /// The most bytes of a request's headers.
    pub header_bytes: usize,
    /// The most lines of a request's headers.
    pub headers: usize,
    /// Requests under way on one connection of HTTP/2.
    pub streams: u32,
    /// The time within which a client takes the next part of an answer.
    pub write_timeout: Duration,
    /// The time that requests under way have to end.
    pub drain: Duration,
}
