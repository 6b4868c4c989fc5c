//! The time that batches have lost by not waiting for kernels that take long to compile.
//!
//! The residue family is the fastest at most lengths, and takes a compiler up to ten seconds. Other kernels
//! are there within a second or two, and may have computed a batch by then. Whether to wait is the question
//! whether to rent or to buy: other kernels compute as long as all batches together have lost less time by
//! that than compiling takes. So the loss is never more than the time of compiling, however many batches
//! come, and few items never wait.

use crate::part::Part;
use crate::variant::Variant;
use modmill_core::Family;
use modmill_core::sync::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Seconds of compiling that are waited for without further ado.
pub(crate) const SHORT: f64 = 4.0;

/// The time that batches have lost by not waiting for kernels, and the kernels that are known to be at hand.
#[derive(Default)]
pub(crate) struct Patience {
    lost: Mutex<HashMap<(Variant, Part), f64>>,
    at_hand: Mutex<HashMap<(Variant, Part, bool), bool>>,
    /// Calls for which batches wait for every kernel.
    endless: AtomicUsize,
}

/// While it lives, batches wait for the kernels that suit them best.
pub(crate) struct Endless<'a>(&'a Patience);

impl Drop for Endless<'_> {
    fn drop(&mut self) {
        self.0.endless.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Faster kernels that a plan does not wait for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PassedOver {
    pub(crate) variant: Variant,
    pub(crate) part: Part,
    /// Seconds that the batch loses.
    pub(crate) loss: f64,
}

/// Seconds that a compiler takes for the kernels of a layout, about: measured with NVRTC 13 for an H200.
pub(crate) fn compile_seconds(variant: &Variant) -> f64 {
    match variant.family {
        Family::Rns => 1.0 + 8.0 * f64::from(variant.words) / 128.0,
        _ => 1.0,
    }
}

impl Patience {
    /// Makes batches wait for the kernels that suit them best, until what is returned is dropped.
    pub(crate) fn endless(&self) -> Endless<'_> {
        self.endless.fetch_add(1, Ordering::Relaxed);
        Endless(self)
    }

    /// Whether batches wait for every kernel.
    pub(crate) fn is_endless(&self) -> bool {
        self.endless.load(Ordering::Relaxed) > 0
    }

    /// Notes that a batch was computed without kernels that take long to compile.
    pub(crate) fn note(&self, passed_over: &PassedOver) {
        *self.lost.lock().entry((passed_over.variant, passed_over.part)).or_default() += passed_over.loss;
    }

    /// Whether kernels need not be compiled, by the last look. `look` is told whether it is the first one.
    pub(crate) fn is_at_hand(&self, key: (Variant, Part, bool), look: impl FnOnce(bool) -> bool) -> bool {
        let known = self.at_hand.lock().get(&key).copied();
        let is_at_hand = known == Some(true) || look(known.is_none());
        self.at_hand.lock().insert(key, is_at_hand);
        is_at_hand
    }

    /// Seconds that batches have lost so far by not waiting for kernels.
    pub(crate) fn lost(&self, variant: Variant, part: Part) -> f64 {
        self.lost.lock().get(&(variant, part)).copied().unwrap_or(0.0)
    }
}
