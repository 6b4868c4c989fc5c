//! Bodies of requests that are read as a whole, and the memory that all of them share.

use crate::metrics::Metrics;
use axum::body::Body;
use bytes::Bytes;
use http::header::EXPECT;
use http::request::Parts;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use zeroize::Zeroizing;

/// Octets of a refused request that are read and thrown away. A connection that is closed while its client still sends is
/// reset, and the client would not see the answer.
const UNWANTED: usize = 1 << 20;
/// The time that is spent on them.
const UNWANTED_TIME: Duration = Duration::from_secs(2);

/// Why a body was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unread {
    /// It is longer than allowed.
    #[error("the body is too long")]
    TooLong,
    /// All bodies that are held at present take as much memory as they may: try again later.
    #[error("too many bodies of requests are being read: try again")]
    Full,
    /// It ended early.
    #[error("the body ended early")]
    Incomplete,
}

/// The memory of bodies. A body counts from its first octets until whoever reads it is done with it.
pub struct Bodies {
    /// The most octets of all bodies together.
    most: usize,
    held: AtomicUsize,
    metrics: Option<Arc<Metrics>>,
}

impl Default for Bodies {
    fn default() -> Self {
        Self::new(256 << 20)
    }
}

impl Bodies {
    /// Memory of `most` octets.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, held: AtomicUsize::new(0), metrics: None }
    }

    /// The same memory. Bodies that find no room are counted in `metrics`.
    #[must_use]
    pub fn counted_by(self, metrics: Arc<Metrics>) -> Self {
        Self { metrics: Some(metrics), ..self }
    }

    /// The octets that are held at present.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Acquire)
    }

    /// Reads the body of a request whose head was looked at: `admitted` says who asks, or why the request is refused. The body of
    /// a refused request is not kept. `longest` is the most octets of this body.
    pub(crate) async fn read_if<T, E: From<Unread>>(
        self: &Arc<Self>,
        admitted: Result<T, E>,
        parts: &Parts,
        body: Body,
        longest: usize,
    ) -> Result<(T, Bytes), E> {
        match admitted {
            Ok(who) => Ok((who, self.read(body, longest).await?)),
            Err(refused) => {
                // A client that asked whether to send its body has not sent it.
                if !parts.headers.contains_key(EXPECT) {
                    throw_away(body).await;
                }
                Err(refused)
            }
        }
    }

    /// Reads a body of at most `longest` octets.
    pub async fn read(self: &Arc<Self>, body: Body, longest: usize) -> Result<Bytes, Unread> {
        let mut body = Limited::new(body, longest);
        let mut share = Share { bodies: Arc::clone(self), octets: 0 };
        let mut read = Octets::One(Bytes::new());
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| match is_too_long(&*error) {
                true => Unread::TooLong,
                false => Unread::Incomplete,
            })?;
            // What is no data is a trailer.
            let Ok(data) = frame.into_data() else { continue };
            // Octets count when they are here: a length that is only declared takes no room from others.
            if !share.grow(data.len()) {
                if let Some(metrics) = &self.metrics {
                    metrics.refused_body();
                }
                drop((read, share));
                throw_away(Body::new(body)).await;
                return Err(Unread::Full);
            }
            read.add(data);
        }
        Ok(Bytes::from_owner(Held { octets: read, _share: share }))
    }
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

/// A part of the memory, which is given back when it is dropped.
struct Share {
    bodies: Arc<Bodies>,
    octets: usize,
}

impl Share {
    /// Takes more. Returns whether there was room.
    fn grow(&mut self, octets: usize) -> bool {
        let room = |held: usize| held.checked_add(octets).filter(|held| *held <= self.bodies.most);
        let grown = self.bodies.held.fetch_update(Ordering::AcqRel, Ordering::Acquire, room).is_ok();
        if grown {
            self.octets += octets;
        }
        grown
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.bodies.held.fetch_sub(self.octets, Ordering::AcqRel);
    }
}

/// The octets of a body. Small bodies come in one piece, which is not copied.
enum Octets {
    One(Bytes),
    Many(Zeroizing<Vec<u8>>),
}

impl Octets {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::One(octets) => octets,
            Self::Many(octets) => octets,
        }
    }

    fn add(&mut self, data: Bytes) {
        let old = self.as_slice();
        if old.is_empty() {
            *self = Self::One(data);
            return;
        }
        let needed = old.len() + data.len();
        match self {
            Self::Many(octets) if octets.capacity() >= needed => octets.extend_from_slice(&data),
            // Memory that grows by itself leaves copies behind that are not cleared.
            _ => {
                let mut octets = Zeroizing::new(Vec::with_capacity(2 * needed));
                octets.extend_from_slice(self.as_slice());
                octets.extend_from_slice(&data);
                *self = Self::Many(octets);
            }
        }
    }
}

/// A body with its part of the memory.
struct Held {
    octets: Octets,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        self.octets.as_slice()
    }
}

#[cfg(test)]
mod tests;
