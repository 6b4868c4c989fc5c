//! The body of an answer on its way to the client.

use super::activity::UnderWay;
use bytes::Bytes;
use http::Version;
use hyper::body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// The most bytes of a part. A client has to take each part in time, so that this is also the least that it
/// takes in that time.
const PART: usize = 64 << 10;

/// The body of an answer. Until it has been sent, its request is under way.
///
/// HTTP/2 keeps the last part that it was given for as long as the client's window is closed, and the body is
/// gone by then. Its last part therefore is one byte: it is taken when the window is open for all before it.
pub(super) struct Answer {
    body: axum::body::Body,
    /// Data that was not given out yet.
    rest: Bytes,
    /// The bytes that are kept for the last part.
    last: usize,
    /// The number of the part that the client has to take.
    part: Option<u64>,
    under_way: UnderWay,
}

impl Answer {
    pub(super) fn new(body: axum::body::Body, version: Version, under_way: UnderWay) -> Self {
        let last = usize::from(version == Version::HTTP_2);
        Self { body, rest: Bytes::new(), last, part: Some(under_way.wait()), under_way }
    }

    /// The next part of the data that is here.
    fn split(&mut self) -> Option<Bytes> {
        let length = match self.rest.len() {
            0 => return None,
            1 => 1,
            length => (length - self.last).min(PART),
        };
        Some(self.rest.split_to(length))
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        // Whoever asks for the next part has taken the one before.
        if let Some(part) = this.part.take() {
            this.under_way.taken(part);
        }
        let mut next = this.split().map(|part| Ok(Frame::data(part)));
        if next.is_none() {
            match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(frame))) => {
                    next = Some(Ok(match frame.into_data() {
                        Ok(data) => {
                            this.rest = data;
                            Frame::data(this.split().unwrap_or_default())
                        }
                        Err(trailers) => trailers,
                    }));
                }
                Poll::Ready(end) => next = end,
            }
        }
        if next.is_some() {
            this.part = Some(this.under_way.wait());
        }
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let upper = hint.upper();
        hint.set_lower(hint.lower() + rest);
        if let Some(upper) = upper {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(part) = self.part {
            self.under_way.taken(part);
        }
    }
}
