//! A call of the batcher, and the pieces in which it is computed.

use super::task::{Origin, Refused};
use bytes::Bytes;
use modmill_rsa::{ItemError, PrivateKey, PrivateTask, PublicKey, PublicTask, SignatureScheme};
use parking_lot::{Mutex, MutexGuard};
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::oneshot;
use zeroize::Zeroizing;

/// The bytes or the error of one item.
pub(super) type Answer = Result<Zeroizing<Vec<u8>>, ItemError>;

/// Answers of consecutive items.
pub(super) enum Part {
    Items(Vec<Answer>),
    Rows(modmill_rsa::Rows),
}

impl Part {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Rows(rows) => rows.len(),
        }
    }

    pub(super) fn get(&self, item: usize) -> Result<&[u8], &ItemError> {
        match self {
            Self::Items(items) => items[item].as_ref().map(|octets| &octets[..]),
            Self::Rows(rows) => rows.get(item),
        }
    }
}

/// The operations that a call asks for.
pub(super) enum Work {
    Private { key: Arc<PrivateKey>, tasks: Vec<PrivateTask> },
    Rows { key: Arc<PrivateKey>, scheme: SignatureScheme, digests: Bytes },
    Public { key: Arc<PublicKey>, tasks: Vec<PublicTask> },
}

impl Work {
    /// The number of items.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Private { tasks, .. } => tasks.len(),
            Self::Rows { scheme, digests, .. } => digests.len() / scheme.hash().len(),
            Self::Public { tasks, .. } => tasks.len(),
        }
    }

    pub(super) fn class(&self) -> Class {
        match self {
            Self::Private { key, .. } | Self::Rows { key, .. } => {
                Class { is_private: true, bits: key.bits() }
            }
            Self::Public { key, .. } => Class { is_private: false, bits: key.bits() },
        }
    }
}

/// Operations that can be computed as one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class {
    pub(super) is_private: bool,
    /// The length of the moduli.
    pub(super) bits: usize,
}

/// All answers of a call, or why there are none. Parts come with the number of their first item, in order.
pub(super) type Reply = Result<Vec<(usize, Part)>, Refused>;

/// A call. Its pieces may be computed by several workers at the same time; the last one sends the reply.
pub(super) struct Call {
    pub(super) origin: Origin,
    pub(super) work: Work,
    progress: Mutex<Progress>,
}

struct Progress {
    parts: Vec<(usize, Part)>,
    missing: usize,
    reply: Option<oneshot::Sender<Reply>>,
}

impl Call {
    pub(super) fn new(origin: Origin, work: Work) -> (Arc<Self>, oneshot::Receiver<Reply>) {
        let (sender, receiver) = oneshot::channel();
        let progress = Progress { parts: Vec::new(), missing: work.len(), reply: Some(sender) };
        (Arc::new(Self { origin, work, progress: Mutex::new(progress) }), receiver)
    }

    /// Whether somebody waits for the answers.
    pub(super) fn is_wanted(&self) -> bool {
        self.progress().reply.as_ref().is_some_and(|reply| !reply.is_closed())
    }

    /// Takes the answers of the items from `first` on. The last ones complete the reply.
    pub(super) fn answer(&self, first: usize, part: Part) {
        let mut progress = self.progress();
        progress.missing = progress.missing.saturating_sub(part.len());
        progress.parts.push((first, part));
        if progress.missing == 0
            && let Some(reply) = progress.reply.take()
        {
            let mut parts = std::mem::take(&mut progress.parts);
            drop(progress);
            parts.sort_unstable_by_key(|(first, _)| *first);
            // The caller may have left.
            let _ = reply.send(Ok(parts));
        }
    }

    /// Ends the call without answers.
    pub(super) fn refuse(&self, refused: Refused) {
        if let Some(reply) = self.progress().reply.take() {
            let _ = reply.send(Err(refused));
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock()
    }
}

/// Consecutive items of a call.
pub(super) struct Piece {
    pub(super) call: Arc<Call>,
    pub(super) items: Range<usize>,
}
