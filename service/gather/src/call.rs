//! A call, and the pieces in which it is computed.

use crate::Refused;
use bytes::Bytes;
use modmill_core::sync::{Mutex, MutexGuard};
use modmill_rsa::{ItemError, PrivateKey, PrivateTask, PublicKey, PublicTask, SignatureScheme};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use zeroize::Zeroizing;

/// A caller: the one who asks for a call.
pub trait Caller: Send + Sync + 'static {
    /// The way back to the caller.
    type Way: Send;

    /// The name that turns and shares of the room go by.
    fn principal(&self) -> &str;

    /// Whether the answers are of no use any more at `now`.
    fn is_late(&self, now: Instant) -> bool;

    /// Whether somebody waits at the end of `way`.
    fn is_wanted(way: &Self::Way) -> bool;

    /// Sends the answers. The caller may have left.
    fn send(way: Self::Way, reply: Reply);
}

/// The bytes or the error of one item.
pub type Answer = Result<Zeroizing<Vec<u8>>, ItemError>;

/// Answers of consecutive items.
pub enum Part {
    /// Answers that have memory of their own.
    Items(Vec<Answer>),
    /// Signatures side by side.
    Rows(modmill_rsa::Rows),
}

impl Part {
    /// The number of items.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a part has an item at least")]
    pub fn len(&self) -> usize {
        match self {
            Self::Items(items) => items.len(),
            Self::Rows(rows) => rows.len(),
        }
    }

    /// The answer of an item.
    pub fn get(&self, item: usize) -> Result<&[u8], &ItemError> {
        match self {
            Self::Items(items) => items[item].as_ref().map(|octets| &octets[..]),
            Self::Rows(rows) => rows.get(item),
        }
    }
}

/// The operations that a call asks for.
pub enum Work {
    /// Private operations.
    Private {
        /// Their key.
        key: Arc<PrivateKey>,
        /// The tasks.
        tasks: Vec<PrivateTask>,
    },
    /// Signatures of digests that lie side by side. They are answered by [`Part::Rows`] where they are a
    /// batch of their own.
    Rows {
        /// Their key.
        key: Arc<PrivateKey>,
        /// The scheme, whose hash says how long a digest is.
        scheme: SignatureScheme,
        /// The digests.
        digests: Bytes,
    },
    /// Public operations.
    Public {
        /// Their key.
        key: PublicKey,
        /// The tasks.
        tasks: Vec<PublicTask>,
    },
}

impl Work {
    /// The number of items.
    #[must_use]
    pub fn items(&self) -> usize {
        match self {
            Self::Private { tasks, .. } => tasks.len(),
            Self::Rows { scheme, digests, .. } => digests.len() / scheme.hash().len(),
            Self::Public { tasks, .. } => tasks.len(),
        }
    }

    /// The class of the operations.
    #[must_use]
    pub fn class(&self) -> Class {
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
pub struct Class {
    /// Whether they need private keys.
    pub is_private: bool,
    /// The length of the moduli.
    pub bits: usize,
}

/// All answers of a call, or why there are none. Parts come with the number of their first item, in order.
pub type Reply = Result<Vec<(usize, Part)>, Refused>;

/// A call. Its pieces may be computed by several threads at the same time; the last one sends the reply.
pub struct Call<C: Caller> {
    /// The caller.
    pub caller: C,
    /// The work that the caller asks for.
    pub work: Work,
    progress: Mutex<Progress<C::Way>>,
}

struct Progress<Way> {
    parts: Vec<(usize, Part)>,
    missing: usize,
    way: Option<Way>,
}

impl<C: Caller> Call<C> {
    /// A call whose answers go `way`.
    #[must_use]
    pub fn new(caller: C, work: Work, way: C::Way) -> Arc<Self> {
        let progress = Progress { parts: Vec::new(), missing: work.items(), way: Some(way) };
        Arc::new(Self { caller, work, progress: Mutex::new(progress) })
    }

    /// Whether somebody waits for the answers.
    pub fn is_wanted(&self) -> bool {
        self.progress().way.as_ref().is_some_and(C::is_wanted)
    }

    /// Takes the answers of the items from `first` on. The last ones complete the reply.
    pub fn answer(&self, first: usize, part: Part) {
        let mut progress = self.progress();
        progress.missing = progress.missing.saturating_sub(part.len());
        progress.parts.push((first, part));
        if progress.missing == 0
            && let Some(way) = progress.way.take()
        {
            let mut parts = std::mem::take(&mut progress.parts);
            drop(progress);
            parts.sort_unstable_by_key(|(first, _)| *first);
            C::send(way, Ok(parts));
        }
    }

    /// Ends the call without answers.
    pub fn refuse(&self, refused: Refused) {
        let way = self.progress().way.take();
        if let Some(way) = way {
            C::send(way, Err(refused));
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress<C::Way>> {
        self.progress.lock()
    }
}

/// Consecutive items of a call.
pub struct Piece<C: Caller> {
    /// The call.
    pub call: Arc<Call<C>>,
    /// The items.
    pub items: Range<usize>,
}
