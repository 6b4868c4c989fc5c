//! Bodies of requests that are read as a whole, and the memory that all of them share.
//!
//! Each principal has a share of the memory, and so has everybody who names an access key and has not shown
//! yet to have its secret (`Holder`). Bodies of up to `SMALL` bytes are in the room that each connection has
//! of its own, so that requests of ordinary length are answered whatever others hold. A body has to arrive at
//! a least rate.

mod octets;

use crate::credentials::Principal;
use crate::http::{Peer, Small};
use crate::metrics::Metrics;
use crate::shares::{Share, Shares};
use axum::body::Body;
use bytes::Bytes;
use http::header::EXPECT;
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body as _;
use octets::Octets;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Bytes of a refused request that are read and thrown away. A connection that is closed while its client
/// still sends is reset, and the client would not see the answer.
const UNWANTED: usize = 1 << 20;
/// The time that is spent on them.
const UNWANTED_TIME: Duration = Duration::from_secs(2);

/// The time over which the rate of a body is looked at.
const WINDOW: Duration = Duration::from_secs(10);

/// Why a body was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unread {
    /// It is longer than allowed.
    #[error("the body is too long")]
    TooLong,
    /// The bodies that its sender, or all together, hold at present take as much memory as they may: try
    /// again later.
    #[error("too many bodies of requests are being read: try again")]
    Full,
    /// It came more slowly than allowed.
    #[error("the body came too slowly")]
    Slow,
    /// It ended early.
    #[error("the body ended early")]
    Incomplete,
}

/// Whose memory a body takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// The principal of this name, which is authenticated.
    Principal(String),
    /// Somebody at an address who names an access key, or nothing. If it is the key's owner, only the body
    /// shows it.
    Unproven { address: Option<IpAddr>, access_key_id: String },
}

impl Holder {
    /// Whoever sent a request. The principal without a name stands for all who are not known.
    pub(crate) fn of(principal: &Principal, parts: &Parts) -> Self {
        match &principal.name[..] {
            "" => Self::unproven("", parts),
            name => Self::Principal(name.to_owned()),
        }
    }

    /// Whoever sent a request that names an access key.
    pub(crate) fn unproven(access_key_id: &str, parts: &Parts) -> Self {
        let address = Peer::of(&parts.extensions).map(Peer::address);
        Self::Unproven { address, access_key_id: access_key_id.to_owned() }
    }
}

/// The memory of bodies. A body counts from its first bytes until whoever reads it is done with it.
pub struct Bodies {
    shares: Arc<Shares<Holder>>,
    /// The least bytes of a body in a window.
    least: usize,
    window: Duration,
    metrics: Option<Arc<Metrics>>,
}

impl Default for Bodies {
    fn default() -> Self {
        Self::new(256 << 20)
    }
}

impl Bodies {
    /// Memory of `most` bytes, of which a holder alone gets half. Bodies may come at any rate, but may not
    /// stand still.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { shares: Shares::new(most), least: 1, window: WINDOW, metrics: None }
    }

    /// This memory with a least rate: a body that has fewer than `per_second` bytes a second, on the average
    /// of ten seconds, is not read on.
    #[must_use]
    pub fn with_least_rate(self, per_second: usize) -> Self {
        let least = per_second.saturating_mul(WINDOW.as_secs() as usize).max(1);
        Self { least, ..self }
    }

    /// This memory with counters: bodies that find no room, or come too slowly, are counted in `metrics`.
    #[must_use]
    pub fn counted_by(self, metrics: Arc<Metrics>) -> Self {
        Self { metrics: Some(metrics), ..self }
    }

    /// The bytes that are held at present, but for those in the rooms of connections.
    #[must_use]
    pub fn held(&self) -> usize {
        self.shares.held()
    }

    /// A share of `holder` with nothing in it, for what is read part by part.
    #[cfg(feature = "arrow")]
    pub(crate) fn open(&self, holder: Holder) -> Share<Holder> {
        self.shares.open(holder)
    }

    /// Reads the body of a request whose head was looked at: `admitted` says who asks, or why the request is
    /// refused, and `holder` whose memory the body takes. The body of a refused request is not kept.
    /// `longest` is the most bytes of this body.
    pub(crate) async fn read_if<T, E: From<Unread>>(
        &self,
        admitted: Result<T, E>,
        holder: impl FnOnce(&T) -> Holder,
        parts: &Parts,
        body: Body,
        longest: usize,
    ) -> Result<(T, Bytes), E> {
        let peer = Peer::of(&parts.extensions);
        match admitted {
            Ok(who) => {
                let holder = holder(&who);
                if let (Holder::Principal(_), Some(peer)) = (&holder, peer) {
                    peer.prove();
                }
                let room = Room { small: peer.and_then(Peer::small), share: self.shares.open(holder) };
                Ok((who, self.read(room, body, longest).await?))
            }
            Err(refused) => {
                // A client that asked whether to send its body has not sent it.
                if !parts.headers.contains_key(EXPECT) {
                    throw_away(body).await;
                }
                Err(refused)
            }
        }
    }

    /// Reads a body of at most `longest` bytes into `room`.
    async fn read(&self, mut room: Room, body: Body, longest: usize) -> Result<Bytes, Unread> {
        let mut body = Limited::new(body, longest);
        let declared = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
        let mut octets = Octets::default();
        let mut window = Window { end: Instant::now() + self.window, octets: 0 };
        loop {
            let Ok(frame) = timeout_at(window.end, body.frame()).await else {
                if window.octets < self.least {
                    return Err(self.refuse(Unread::Slow));
                }
                window = Window { end: Instant::now() + self.window, octets: 0 };
                continue;
            };
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|error| match is_too_long(&*error) {
                true => Unread::TooLong,
                false => Unread::Incomplete,
            })?;
            // A frame that is no data is a trailer.
            let Ok(data) = frame.into_data() else { continue };
            if data.is_empty() {
                continue;
            }
            window.octets += data.len();
            // Bytes count when they are here: a length that is only declared takes no room from others.
            let needed = octets.needed(data.len(), declared.unwrap_or(longest));
            if !room.hold(needed) {
                drop((octets, room));
                throw_away(Body::new(body)).await;
                return Err(self.refuse(Unread::Full));
            }
            octets.add(data, needed);
        }
        Ok(Bytes::from_owner(Held { octets, _room: room }))
    }

    fn refuse(&self, unread: Unread) -> Unread {
        if let Some(metrics) = &self.metrics {
            metrics.refused_body();
        }
        unread
    }
}

/// A part of the time in which a body arrives, and what came in it.
struct Window {
    end: Instant,
    octets: usize,
}

/// Whether an error is, or comes from, the limit of a body's length.
fn is_too_long(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| error.is::<LengthLimitError>())
}

/// Reads a body without keeping it, as far as it is worth the while.
async fn throw_away(body: Body) {
    let mut body = Limited::new(body, UNWANTED);
    let read = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = tokio::time::timeout(UNWANTED_TIME, read).await;
}

/// The room of one body: its connection's own, or a share of what all have together.
struct Room {
    small: Option<Small>,
    share: Share<Holder>,
}

impl Room {
    /// Makes room for a body that takes `octets`. Returns whether there was some.
    fn hold(&mut self, octets: usize) -> bool {
        if self.small.as_ref().is_some_and(|small| small.fits(octets)) {
            return true;
        }
        self.small = None;
        self.share.grow_to(octets)
    }
}

/// A body with its room.
struct Held {
    octets: Octets,
    _room: Room,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        self.octets.as_slice()
    }
}

#[cfg(test)]
mod tests;
