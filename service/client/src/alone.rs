//! Operations without company.
//!
//! A batch of one leaves most lanes of the engine empty. Some libraries compute a single power faster. A key
//! may bring such a way to its power with it. Both ways are timed, and the faster one is taken.

use crate::Task;
use modmill_gather::{Answer, Part};
use modmill_rsa::{PrivateKey, hazmat};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use zeroize::Zeroizing;

/// The private power of one number.
pub trait PrivatePower: Send + Sync {
    /// `number^d mod n` for a big-endian number that is below the modulus and as long as the modulus. The
    /// answer is as long as the modulus, and was checked with the public exponent. `None` if it cannot be
    /// computed this way: the engine then computes it.
    ///
    /// The time must not depend on the key or on the number.
    fn power(&self, number: &[u8]) -> Option<Zeroizing<Vec<u8>>>;
}

/// The operations of each way that come first, in turns.
const TRIALS: usize = 4;
/// One in `AGAIN` operations goes the slower way. It costs less than a hundredth of the time.
const AGAIN: usize = 128;

/// Another way to the power of a key, and how long both ways take.
pub(crate) struct Alone {
    power: Box<dyn PrivatePower>,
    /// Operations so far.
    trials: AtomicUsize,
    /// The least nanoseconds of the engine and of the other way.
    engine: AtomicU64,
    other: AtomicU64,
}

impl Alone {
    pub(crate) fn new(power: Box<dyn PrivatePower>) -> Self {
        let never = || AtomicU64::new(u64::MAX);
        Self { power, trials: AtomicUsize::new(0), engine: never(), other: never() }
    }

    /// Computes one task, by the engine with `by_engine` or by the other way.
    pub(crate) fn compute(
        &self,
        key: &PrivateKey,
        task: &Task,
        by_engine: impl FnOnce() -> Result<Vec<Part>, String>,
    ) -> Result<Vec<Part>, String> {
        let trial = self.trials.fetch_add(1, Ordering::Relaxed);
        let is_other_faster = self.other.load(Ordering::Relaxed) < self.engine.load(Ordering::Relaxed);
        // The first operations of each way pay for what both prepare, and a busy machine makes any of them
        // slow, so that the least time of each counts. The slower way is tried now and then: its first times
        // may have been bad luck.
        let by_other = match trial {
            trial if trial < 2 * TRIALS => trial % 2 == 1,
            trial => is_other_faster ^ (trial % AGAIN == 0),
        };
        let start = Instant::now();
        // A panic counts as no answer.
        let by_other = by_other.then(|| catch_unwind(AssertUnwindSafe(|| self.by_other(key, task))));
        let (answer, kept) = match by_other {
            Some(Ok(Some(answer))) => (Ok(vec![Part::Items(vec![answer])]), &self.other),
            _ => (by_engine(), &self.engine),
        };
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        kept.fetch_min(nanoseconds, Ordering::Relaxed);
        answer
    }

    /// The answer of the other way. `None` if the engine has to say what is wrong with the task.
    fn by_other(&self, key: &PrivateKey, task: &Task) -> Option<Answer> {
        let public = key.public_key();
        match task {
            Task::Raw { number } if number.len() == public.size() && number[..] < *public.modulus_bytes() => {
                self.power.power(number).map(Ok)
            }
            Task::Sign { scheme, digest } if scheme.hash() != modmill_rsa::Hash::Sha1 => {
                let number = hazmat::encode(*scheme, digest.as_ref(), public.bits()).ok()?;
                self.power.power(&number).map(Ok)
            }
            Task::Decrypt { scheme, ciphertext }
                if ciphertext.len() == public.size() && ciphertext[..] < *public.modulus_bytes() =>
            {
                let mut block = self.power.power(ciphertext)?;
                let message = hazmat::decode(scheme.scheme(), key, ciphertext, &mut block);
                Some(message.map(|message| Zeroizing::new(message.to_vec())))
            }
            Task::Raw { .. } | Task::Sign { .. } | Task::Decrypt { .. } => None,
        }
    }
}

impl fmt::Debug for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Alone")
    }
}
