//! The client's end of a connection: where it is, and whether it has shown who it is.

use http::Extensions;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests of a connection that are served at the same time before one of them was authenticated.
const UNPROVEN: usize = 16;

/// The most bytes of a body in the room that a connection has of its own.
pub(crate) const SMALL: usize = 8 << 10;

/// The client's end of a connection. Every request has it among its extensions.
#[derive(Clone)]
pub(crate) struct Peer(Arc<Inner>);

struct Inner {
    address: IpAddr,
    /// Closed once a request was authenticated.
    unproven: Arc<Semaphore>,
    /// Whether a body is in the room that the connection has of its own.
    is_small_taken: AtomicBool,
}

impl Peer {
    pub(crate) fn new(address: IpAddr) -> Self {
        let unproven = Arc::new(Semaphore::new(UNPROVEN));
        Self(Arc::new(Inner { address, unproven, is_small_taken: AtomicBool::new(false) }))
    }

    /// The peer of a request. Requests that came over no connection have none.
    pub(crate) fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get()
    }

    pub(crate) fn address(&self) -> IpAddr {
        self.0.address
    }

    /// Notes that a request of this connection was authenticated.
    pub(crate) fn prove(&self) {
        self.0.unproven.close();
    }

    /// Whether a request of this connection was authenticated.
    pub(crate) fn is_proven(&self) -> bool {
        self.0.unproven.is_closed()
    }

    /// Waits until a request may be served. A connection that is proven waits for nothing.
    pub(super) async fn admit(&self) -> Option<OwnedSemaphorePermit> {
        if self.is_proven() {
            return None;
        }
        Arc::clone(&self.0.unproven).acquire_owned().await.ok()
    }

    /// The room of [`SMALL`] bytes that every connection has of its own. `None` if another request's body is
    /// in it.
    pub(crate) fn small(&self) -> Option<Small> {
        (!self.0.is_small_taken.swap(true, Ordering::AcqRel)).then(|| Small(self.clone()))
    }
}

/// A connection's own room of [`SMALL`] bytes, which is given back when it is dropped.
pub(crate) struct Small(Peer);

impl Small {
    /// Whether a body of `octets` fits.
    pub(crate) fn fits(&self, octets: usize) -> bool {
        octets <= SMALL
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        self.0.0.is_small_taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn few_requests_are_served_before_one_is_authenticated() {
        let peer = Peer::new([127, 0, 0, 1].into());
        let mut served = Vec::new();
        for _ in 0..UNPROVEN {
            served.push(peer.admit().await.unwrap());
        }
        let waits = Duration::from_millis(20);
        assert!(tokio::time::timeout(waits, peer.admit()).await.is_err());
        served.pop();
        served.push(peer.admit().await.unwrap());
        let waiting = tokio::spawn({
            let peer = peer.clone();
            async move { peer.admit().await.is_none() }
        });
        tokio::task::yield_now().await;
        peer.prove();
        assert!(waiting.await.unwrap() && peer.is_proven());
    }

    #[test]
    fn one_body_at_a_time_has_the_room_of_its_connection() {
        let peer = Peer::new([127, 0, 0, 1].into());
        let small = peer.small().unwrap();
        assert!(small.fits(SMALL) && !small.fits(SMALL + 1));
        assert!(peer.small().is_none());
        drop(small);
        assert!(peer.small().is_some());
    }
}
