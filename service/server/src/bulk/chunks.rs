//! Cuts a body into chunks of whole digests.

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use std::time::Duration;

/// A chunk that is not full is handed on when nothing came for this long.
const LINGER: Duration = Duration::from_millis(2);

/// Why a body is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    /// The body ends within a digest.
    #[error("the request ends within a digest: {0} bytes are too many")]
    Truncated(usize),
    /// The body was cut off.
    #[error("the request was cut off: {0}")]
    Broken(String),
}

/// The digests of a body in chunks.
pub(super) struct Chunks<S> {
    body: S,
    buffer: BytesMut,
    /// The length of a digest.
    record: usize,
    /// The length of a full chunk.
    full: usize,
    end: Option<Result<(), BodyError>>,
}

impl<S, E> Chunks<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: std::fmt::Display,
{
    /// Chunks of at most `records` digests of `record` bytes.
    pub(super) fn new(body: S, record: usize, records: usize) -> Self {
        Self { body, buffer: BytesMut::new(), record, full: record * records, end: None }
    }

    /// The next chunk, or what is wrong after the last one.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, BodyError>> {
        loop {
            if self.buffer.len() >= self.full {
                return Some(Ok(self.buffer.split_to(self.full).freeze()));
            }
            let whole = self.buffer.len() - self.buffer.len() % self.record;
            match &self.end {
                Some(_) if whole > 0 => return Some(Ok(self.buffer.split_to(whole).freeze())),
                Some(end) => {
                    let rest = std::mem::take(&mut self.buffer).len();
                    let end = match end {
                        Ok(()) if rest > 0 => Err(BodyError::Truncated(rest)),
                        end => end.clone(),
                    };
                    self.end = Some(Ok(()));
                    return end.err().map(Err);
                }
                None => {}
            }
            let next = if whole > 0 {
                match tokio::time::timeout(LINGER, self.body.next()).await {
                    Ok(next) => next,
                    Err(_) => return Some(Ok(self.buffer.split_to(whole).freeze())),
                }
            } else {
                self.body.next().await
            };
            match next {
                Some(Ok(bytes)) => self.buffer.extend_from_slice(&bytes),
                Some(Err(error)) => self.end = Some(Err(BodyError::Broken(error.to_string()))),
                None => self.end = Some(Ok(())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    async fn all(pieces: Vec<Result<&'static [u8], &'static str>>) -> (Vec<Bytes>, Option<BodyError>) {
        let body = stream::iter(pieces.into_iter().map(|piece| piece.map(Bytes::from_static)));
        let mut chunks = Chunks::new(body, 2, 3);
        let mut found = Vec::new();
        loop {
            match chunks.next().await {
                Some(Ok(chunk)) => found.push(chunk),
                Some(Err(error)) => {
                    assert_eq!(chunks.next().await, None, "an error is the last");
                    return (found, Some(error));
                }
                None => return (found, None),
            }
        }
    }

    #[tokio::test]
    async fn chunks_hold_whole_digests() {
        let (chunks, error) = all(vec![Ok(b"a"), Ok(b"bcdefgh"), Ok(b"")]).await;
        assert_eq!((chunks, error), (vec![Bytes::from_static(b"abcdef"), Bytes::from_static(b"gh")], None));
        assert_eq!(all(vec![]).await, (vec![], None));
        let (chunks, error) = all(vec![Ok(b"abc")]).await;
        assert_eq!((chunks, error), (vec![Bytes::from_static(b"ab")], Some(BodyError::Truncated(1))));
        let (chunks, error) = all(vec![Ok(b"ab"), Err("reset")]).await;
        assert_eq!(
            (chunks, error),
            (vec![Bytes::from_static(b"ab")], Some(BodyError::Broken("reset".into())))
        );
    }

    #[tokio::test]
    async fn digests_do_not_wait_for_a_full_chunk() {
        let body = stream::iter([Ok::<_, String>(Bytes::from_static(b"ab"))]).chain(stream::pending());
        let mut chunks = Chunks::new(Box::pin(body), 2, 3);
        assert_eq!(chunks.next().await, Some(Ok(Bytes::from_static(b"ab"))));
    }
}
