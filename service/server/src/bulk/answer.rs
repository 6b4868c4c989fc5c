//! From the body of a request to the body of its answer, in the form of the request.

use super::chunks::Chunks;
use super::pipeline::{Job, Part, Stop, answers};
use axum::body::Body;
use futures_util::{StreamExt, stream};
use modmill_client::bulk::{Status, end};
#[cfg(feature = "arrow")]
use std::time::Duration;
use tokio::sync::mpsc;

/// Answers that wait to be read.
const UNREAD: usize = 2;
/// How long the status of an Arrow answer waits for the first signatures, or for what is wrong with the
/// request.
#[cfg(feature = "arrow")]
const FIRST_ANSWER: Duration = Duration::from_secs(1);

/// The form of the request and of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Digests side by side, answered by frames.
    Digests,
    /// Arrow, answered by Arrow.
    #[cfg(feature = "arrow")]
    Arrow,
}

/// Starts to sign what comes in `body`, and returns the body of the answer.
///
/// Frames have a place for the reason why a stream ends, and Arrow has none. So an Arrow answer begins with
/// its first signatures, and what is wrong before them is an error.
pub(super) async fn start(job: Job, format: Format, body: Body) -> Result<Body, Stop> {
    #[cfg_attr(not(feature = "arrow"), allow(unused_mut))]
    let (sender, mut receiver) = mpsc::channel(UNREAD);
    let first = match format {
        Format::Digests => {
            tokio::spawn(digests(job, body, sender));
            None
        }
        #[cfg(feature = "arrow")]
        Format::Arrow => {
            tokio::spawn(super::arrow::run(job, body, sender));
            // A client that waits for the status before it sends gets it.
            tokio::time::timeout(FIRST_ANSWER, receiver.recv()).await.ok().flatten().transpose()?
        }
    };
    let others = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
    let parts = stream::iter(first.map(Ok)).chain(others);
    Ok(Body::from_stream(parts.map(|part: Part| part.map_err(|stop| std::io::Error::other(stop.text)))))
}

async fn digests(job: Job, body: Body, sender: mpsc::Sender<Part>) {
    let chunks = Chunks::new(body.into_data_stream(), job.scheme.hash().len(), job.chunk());
    let chunks = stream::unfold(chunks, async |mut chunks| Some((chunks.next().await?, chunks)));
    let mut frames = Box::pin(answers(job, chunks.map(|chunk| chunk.map_err(Stop::from))));
    while let Some(frame) = frames.next().await {
        match frame {
            Ok(frame) => {
                // Nobody reads any more: what was not signed yet is not signed.
                if sender.send(Ok(frame)).await.is_err() {
                    return;
                }
            }
            Err(Stop { status, text }) => {
                let _ = sender.send(Ok(end(status, &text))).await;
                return;
            }
        }
    }
    let _ = sender.send(Ok(end(Status::Complete, ""))).await;
}
