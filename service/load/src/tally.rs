//! The counts that are kept while requests are answered.

use crate::connection::Incoming;
use crate::door::{Asked, DIGEST, Door};
use crate::error::Failures;
use modmill_server::histogram::Histogram;
use std::ops::Range;
use std::time::Instant;

/// A signature to be verified after the run.
pub(super) struct Signature {
    pub(super) key: usize,
    pub(super) digest: [u8; DIGEST],
    pub(super) signature: Vec<u8>,
}

/// The most memory for signatures that are kept, in bytes. Past it, signatures are counted as not verified.
const MOST_KEPT: usize = 512 << 20;
/// The failure of one item of a batch.
const NO_SIGNATURE: &str = "item without signature";

/// The counts. Requests count for the window that they were meant to start in; rates count the answers within
/// it.
pub(super) struct Tally {
    /// The time that is measured.
    window: Range<Instant>,
    /// One in this many signatures is kept; 0 keeps none.
    keep_every: u64,
    signatures: u64,
    kept_bytes: usize,
    /// The times from the intended start to the last byte of the answer.
    pub(super) latency: Histogram,
    /// Answers within the window.
    pub(super) requests: u64,
    /// Signatures, or other results, in those answers.
    pub(super) items: u64,
    pub(super) failures: Failures,
    pub(super) kept: Vec<Signature>,
}

impl Tally {
    pub(super) fn new(window: Range<Instant>, keep_every: u64) -> Self {
        Self {
            window,
            keep_every,
            signatures: 0,
            kept_bytes: 0,
            latency: Histogram::new(),
            requests: 0,
            items: 0,
            failures: Failures::default(),
            kept: Vec::new(),
        }
    }

    /// An empty one for the same window.
    pub(super) fn renewed(&self) -> Self {
        Self::new(self.window.clone(), self.keep_every)
    }

    /// Counts a request that was meant to start at `intended` and was over at `done`.
    pub(super) fn count(
        &mut self,
        door: &dyn Door,
        asked: &Asked,
        (intended, done): (Instant, Instant),
        outcome: &Result<Incoming, &'static str>,
    ) {
        let meant = self.window.contains(&intended);
        let mut missing = 0;
        let read = match outcome {
            Err(kind) => Err((*kind).to_owned()),
            Ok(answer) => {
                let mut digests = asked.digests.chunks_exact(DIGEST);
                door.read(asked, answer, &mut |signature| match (signature, digests.next()) {
                    (Some(signature), Some(digest)) => self.keep(asked.key, digest, signature),
                    _ => missing += 1,
                })
            }
        };
        match read {
            Ok(()) => {
                if meant {
                    self.latency.record(done - intended);
                    self.failures.add(NO_SIGNATURE, missing);
                }
                if self.window.contains(&done) {
                    self.requests += 1;
                    self.items += asked.items().saturating_sub(missing);
                }
            }
            Err(kind) if meant => self.failures.add(&kind, 1),
            Err(_) => {}
        }
    }

    fn keep(&mut self, key: usize, digest: &[u8], signature: Vec<u8>) {
        self.signatures += 1;
        let is_chosen = self.keep_every > 0 && self.signatures.is_multiple_of(self.keep_every);
        let size = signature.len() + size_of::<Signature>();
        if let (true, Ok(digest)) = (is_chosen && self.kept_bytes + size <= MOST_KEPT, digest.try_into()) {
            self.kept_bytes += size;
            self.kept.push(Signature { key, digest, signature });
        }
    }
}
