//! From the digests of a request to the frames of its answer: chunks are signed side by side and answered in
//! order.

use super::Bulk;
use super::chunks::BodyError;
use crate::batch::Refused;
use crate::credentials::{Credential, Principal, Right};
use crate::door;
use crate::service::Service;
use crate::shares::Share;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use modmill_client::bulk::{Status, frame};
use modmill_rsa::{PrivateKey, SignatureScheme};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Chunks that are signed at the same time.
const IN_FLIGHT: usize = 4;
/// The time after which the rights of a stream are checked again.
const CHECKED: Duration = Duration::from_secs(1);
/// How often a stream that waits for its client looks whether the service is told to end.
const LOOK: Duration = Duration::from_millis(100);
/// The digests of a chunk, for an engine with a GPU and without one. A GPU computes thousands in the time of
/// one.
const CHUNK: (usize, usize) = (16_384, 1024);
/// The contents of a request.
#[derive(Clone)]
pub(super) struct Job {
    pub(super) service: Arc<Service>,
    pub(super) principal: Arc<Principal>,
    pub(super) request_id: Arc<str>,
    pub(super) key_id: Arc<str>,
    pub(super) key: Arc<PrivateKey>,
    pub(super) scheme: SignatureScheme,
    /// The length of a signature.
    pub(super) length: usize,
    /// The place among the bulk requests that are under way.
    pub(super) _place: Arc<Share<String>>,
    /// The endpoint, and the key's name as the request has it: rights are checked again while a stream goes
    /// on.
    pub(super) bulk: Arc<Bulk>,
    pub(super) name: Arc<str>,
    /// The last commit that was seen when rights were checked, and when that was.
    pub(super) checked: Arc<Mutex<(u64, Instant)>>,
}

impl Job {
    /// The digests of a chunk.
    pub(super) fn chunk(&self) -> usize {
        if self.service.batcher.engine().cuda().is_some() { CHUNK.0 } else { CHUNK.1 }
    }

    /// Ends the stream if its credential or its right to the key is gone. This is looked at when a document
    /// has changed, and each second.
    async fn check(&self) -> Result<(), Stop> {
        let seen = self.service.records.seen();
        {
            let mut checked = self.checked.lock();
            if checked.0 == seen && checked.1.elapsed() < CHECKED {
                return Ok(());
            }
            *checked = (seen, Instant::now());
        }
        let gone = |text: String| Stop { status: Status::Request, text };
        let credential = self.service.records.get::<Credential>(&self.principal.access_key_id);
        if !credential.is_some_and(|credential| credential.rights.contains(&Right::Bulk)) {
            return Err(gone("the credential was revoked".to_owned()));
        }
        let found = super::find(&self.bulk, &self.principal, &self.name, &self.scheme).await;
        found.map(drop).map_err(|refusal| gone(refusal.1))
    }

    /// Signs a chunk. A busy service is asked again until the time of a request is over, so that a stream is
    /// slowed down and not ended.
    async fn sign(self, digests: Bytes) -> Result<Bytes, Stop> {
        self.check().await?;
        let patience = Instant::now() + Duration::from_millis(self.service.settings.deadline_ms);
        loop {
            let names = ("bulk", "sign");
            let deadline = door::deadline(&self.service);
            let origin = door::origin(&self.principal, names, &self.key_id, &self.request_id, deadline);
            let (key, digests) = (Arc::clone(&self.key), digests.clone());
            match self.service.batcher.sign_rows(origin, key, self.scheme, digests).await {
                Ok(rows) => return Ok(frame(rows.len(), rows.iter().map(Result::ok), self.length)),
                Err(Refused::Overloaded(wait)) if Instant::now() + wait < patience => {
                    tokio::time::sleep(wait).await;
                }
                Err(refused) => return Err(refused.into()),
            }
        }
    }
}

/// Why a stream ends early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) status: Status,
    pub(super) text: String,
}

/// A part of an answer, or the reason to cut it off.
pub(super) type Part = Result<Bytes, Stop>;

impl From<BodyError> for Stop {
    fn from(error: BodyError) -> Self {
        Self { status: Status::Request, text: error.to_string() }
    }
}

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Self {
        let status = match refused {
            Refused::Overloaded(_) | Refused::Late => Status::Busy,
            Refused::Draining => Status::Draining,
            _ => Status::Failed,
        };
        Self { status, text: refused.to_string() }
    }
}

/// The frames of the answers to `chunks`, in order.
pub(super) fn answers(
    job: Job,
    chunks: impl Stream<Item = Result<Bytes, Stop>> + Send,
) -> impl Stream<Item = Result<Bytes, Stop>> + Send {
    let service = Arc::clone(&job.service);
    let sign = move |chunk: Result<Bytes, Stop>| {
        // A task of its own, so that several threads put frames together. It ends with the stream: what
        // nobody reads is not signed.
        let task = chunk.map(|digests| {
            let mut task = JoinSet::new();
            task.spawn(job.clone().sign(digests));
            task
        });
        async move {
            let failed = |text: String| Stop { status: Status::Failed, text };
            let signed = task?.join_next().await.ok_or_else(|| failed("a task has ended".to_owned()))?;
            signed.map_err(|error| failed(error.to_string()))?
        }
    };
    until_drained(service, chunks).map(sign).buffered(IN_FLIGHT)
}

/// `chunks`, until the service is told to end: streams that go on would never let it.
fn until_drained(
    service: Arc<Service>,
    chunks: impl Stream<Item = Result<Bytes, Stop>> + Send,
) -> impl Stream<Item = Result<Bytes, Stop>> + Send {
    let state = (service, Box::pin(chunks), false);
    stream::unfold(state, async |(service, mut chunks, has_ended)| {
        if has_ended {
            return None;
        }
        let next = tokio::select! {
            next = chunks.next() => next?,
            () = drained(&service) => Err(Refused::Draining.into()),
        };
        let has_ended = next.is_err();
        Some((next, (service, chunks, has_ended)))
    })
}

/// Returns when the service is told to end.
async fn drained(service: &Service) {
    while !service.is_draining.load(Ordering::Acquire) {
        tokio::time::sleep(LOOK).await;
    }
}
