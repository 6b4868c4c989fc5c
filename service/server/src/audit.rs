//! The audit log: an append-only file with a line for every private operation and every change of what the
//! service keeps, chained by hashes so that a missing, changed or moved line shows.
//!
//! A line is a JSON object whose last field is `hash`: SHA-256 of the hash of the line before it and of the
//! line without that field. Lines are numbered. The chain goes on from file to file. The file `head` has the
//! number and the hash of the last line, so that lines missing at the end show, too. Whoever can write to the
//! folder can write a whole new chain: an operator who wants proof against that keeps heads elsewhere, as
//! `verify` prints them.

mod files;
mod line;
mod log;
mod recover;
mod verify;

pub use verify::{Finding, Report, verify};

use crate::batch::Origin;
use crate::clock::Clock;
use log::Log;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a log that could not be written is left alone before it is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// The times at which lines are forced to the disk. They are handed to the system before answers are given in
/// any case, and survive the end of the program; this is about the end of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Whenever the system does so.
    None,
    /// Before the answers of every batch.
    Batch,
    /// Once in every interval.
    Interval(Duration),
}

/// The operator's settings of the audit log.
#[derive(Debug, Clone)]
pub struct AuditSettings {
    /// The times at which lines are forced to the disk.
    pub sync: Sync,
    /// The length with which a file is closed and the next one begun.
    pub file_bytes: u64,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self { sync: Sync::Interval(Duration::from_secs(1)), file_bytes: 256 << 20 }
    }
}

/// The input of an operation, or the particulars of a change.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// The digest that was signed.
    Digest(&'a [u8]),
    /// SHA-256 of the ciphertext or of the blinded message.
    Hashed([u8; 32]),
    /// Digests that were signed together, side by side.
    Digests {
        /// The digests.
        digests: &'a [u8],
        /// Their number.
        count: usize,
    },
    /// A change of what the service keeps.
    Change {
        /// SHA-256 of what was received for it.
        received: Option<[u8; 32]>,
        /// Its particulars; null if there are none.
        particulars: &'a Value,
    },
}

/// A private operation that was computed, or a change that was asked for.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The principal that asked, and its operation.
    pub origin: &'a Origin,
    /// The input of the operation, or the particulars of the change.
    pub subject: Subject<'a>,
    /// Why there is no answer.
    pub error: Option<String>,
}

/// Why the audit log cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// Another process writes the log.
    #[error("{} is in use by another process", .0.display())]
    InUse(PathBuf),
}

impl AuditError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |error| Self::File { path, error }
    }
}

/// The audit log of one service.
pub struct Audit {
    log: Mutex<Log>,
    is_broken: AtomicBool,
    /// Whether a thread tries a broken log again at present.
    is_trying: AtomicBool,
    tried: Mutex<Instant>,
    sync: Sync,
    clock: Clock,
}

impl Audit {
    /// Opens the log in `folder`, which is made if it is not there, and makes good what a sudden end left: a
    /// line that was not written whole is kept in a file of its own, and the chain says so.
    pub fn open(folder: &Path, settings: &AuditSettings, clock: Clock) -> Result<Self, AuditError> {
        Self::open_for("the service starts", folder, settings, clock)
    }

    /// Opens the log as [`Audit::open`] does. `why` is its first line.
    pub fn open_for(
        why: &str,
        folder: &Path,
        settings: &AuditSettings,
        clock: Clock,
    ) -> Result<Self, AuditError> {
        let log = Log::open(folder, settings.file_bytes, clock.now_ms(), why)?;
        Ok(Self {
            log: Mutex::new(log),
            is_broken: AtomicBool::new(false),
            is_trying: AtomicBool::new(false),
            tried: Mutex::new(Instant::now()),
            sync: settings.sync,
            clock,
        })
    }

    /// Writes lines for operations, in one piece. When it returns, the system has them. If it fails, none of
    /// the answers may be given, and the log refuses operations until it can be written again.
    pub fn write(&self, entries: &[Entry<'_>]) -> Result<(), AuditError> {
        let mut log = self.log();
        let written = log.append(self.clock.now_ms(), entries);
        let written = match self.sync {
            Sync::Batch => written.and_then(|()| log.sync()),
            _ => written,
        };
        self.note_failure(&written);
        drop(log);
        written
    }

    /// Whether lines can be written. This never waits for the disk: a log that could not be written is tried
    /// again by a thread of its own, after a second at the earliest, and counts as broken until that has
    /// succeeded.
    #[must_use]
    pub fn is_writable(self: &Arc<Self>) -> bool {
        if !self.is_broken.load(Ordering::Acquire) {
            return true;
        }
        let mut tried = self.tried.lock();
        if tried.elapsed() >= PAUSE && !self.is_trying.swap(true, Ordering::AcqRel) {
            *tried = Instant::now();
            let audit = Arc::clone(self);
            let thread =
                std::thread::Builder::new().name("audit log".into()).spawn(move || audit.try_again());
            if let Err(error) = thread {
                tracing::error!(%error, "no thread to try the audit log again");
                self.is_trying.store(false, Ordering::Release);
            }
        }
        false
    }

    /// Writes a note to a log that could not be written. If that succeeds, the log can be used again.
    fn try_again(&self) {
        let mut log = self.log();
        let works = log
            .note(self.clock.now_ms(), "the log could not be written for a time")
            .and_then(|()| log.sync());
        self.is_broken.store(works.is_err(), Ordering::Release);
        drop(log);
        self.is_trying.store(false, Ordering::Release);
    }

    /// Marks the log as broken if `written` is an error. The caller holds the log.
    fn note_failure(&self, written: &Result<(), AuditError>) {
        if written.is_err() {
            self.is_broken.store(true, Ordering::Release);
            *self.tried.lock() = Instant::now();
        }
    }

    /// Forces all lines to the disk. If that fails, nothing more is written until a note in the chain says
    /// so: the system forgets lines that it could not write.
    pub fn sync_now(&self) -> Result<(), AuditError> {
        let mut log = self.log();
        let synced = log.sync();
        self.note_failure(&synced);
        drop(log);
        synced
    }

    /// How often [`Audit::sync_now`] is to be called.
    #[must_use]
    pub fn interval(&self) -> Option<Duration> {
        match self.sync {
            Sync::Interval(interval) => Some(interval),
            Sync::None | Sync::Batch => None,
        }
    }

    /// The number and the hash of the last line.
    #[must_use]
    pub fn head(&self) -> (u64, String) {
        let last = self.log().last();
        (last.number, crate::hex::encode(&last.hash))
    }

    /// Makes every write fail, or lets them succeed again.
    #[cfg(test)]
    pub(crate) fn fail(&self, fails: bool) {
        self.log().fails = fails;
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock()
    }
}

#[cfg(test)]
mod tests;
