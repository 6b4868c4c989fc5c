//! How far an audit is.

use modmill::Watch;
use modmill::trees::{BatchGcdSteps, Phase};
use parking_lot::Mutex;
use std::sync::Arc;

/// A part of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Factors below 2^16 of this many moduli.
    SmallFactors(usize),
    /// The product tree of one of the subsets.
    Products { subset: usize, subsets: usize, count: usize },
    /// The factors that the numbers of one of the subsets share with any other number.
    Factors { subset: usize, subsets: usize, count: usize },
    /// The search for keys of a corpus that share factors with new ones, among this many.
    Partners(usize),
    /// The search for primes and powers among this many moduli.
    Primes(usize),
}

impl Stage {
    /// The items that the watch counts in this stage.
    fn items(self) -> usize {
        match self {
            Self::SmallFactors(count) | Self::Partners(count) | Self::Primes(count) => count,
            Self::Products { count, .. } => levels(count) * count,
            Self::Factors { count, .. } => BatchGcdSteps::new(count).items() - levels(count) * count,
        }
    }

    fn text(self, done: usize) -> String {
        let of = |subset, subsets| match subsets {
            1 => String::new(),
            _ => format!(", subset {} of {subsets}", subset + 1),
        };
        match self {
            Self::SmallFactors(_) => "small factors".to_owned(),
            Self::Partners(_) => "partners in the corpus".to_owned(),
            Self::Primes(_) => "primes and powers".to_owned(),
            Self::Products { subset, subsets, count } | Self::Factors { subset, subsets, count } => {
                let before = if let Self::Factors { .. } = self { levels(count) * count } else { 0 };
                let (phase, step, steps) = BatchGcdSteps::new(count).at(before + done);
                let name = match phase {
                    Phase::Products => "products",
                    Phase::Sums => "sums",
                    Phase::Root => "root",
                    Phase::Fractions => "remainders",
                    Phase::Divisors => "divisors",
                };
                format!("{name}, level {step} of {steps}{}", of(subset, subsets))
            }
        }
    }
}

fn levels(count: usize) -> usize {
    count.next_power_of_two().trailing_zeros() as usize
}

/// The state of an audit, which another thread may look at, and stop.
///
/// ```
/// use modmill_audit::Progress;
///
/// let progress = Progress::new();
/// assert_eq!(progress.now().text, "");
/// progress.watch().stop();
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    watch: Arc<Watch>,
    /// The stage, and the items that were counted before it.
    stage: Mutex<Option<(Stage, usize)>>,
}

/// The state of an audit at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Now {
    /// The stage in words, with the level of the tree.
    pub text: String,
    /// The items of the stage that are done.
    pub done: usize,
    /// The items of the stage.
    pub items: usize,
}

impl Progress {
    /// The state of an audit that has not begun.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The state of an audit that has not begun, and that others watch and stop too.
    #[must_use]
    pub fn watched_by(watch: &Arc<Watch>) -> Self {
        Self { watch: Arc::clone(watch), ..Self::default() }
    }

    /// The watch of the engine's calls, which stops the audit.
    #[must_use]
    pub fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }

    /// The present state.
    #[must_use]
    pub fn now(&self) -> Now {
        match *self.stage.lock() {
            None => Now { text: String::new(), done: 0, items: 0 },
            Some((stage, before)) => {
                let items = stage.items();
                // Items that a device could not finish are counted twice.
                let done = (self.watch.done() - before).min(items);
                Now { text: stage.text(done), done, items }
            }
        }
    }

    pub(crate) fn begin(&self, stage: Stage) {
        *self.stage.lock() = Some((stage, self.watch.done()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_told_with_their_levels() {
        let progress = Progress::new();
        progress.watch.add(5);
        progress.begin(Stage::Products { subset: 1, subsets: 3, count: 16 });
        progress.watch.add(33);
        let now = Now { text: "products, level 3 of 4, subset 2 of 3".to_owned(), done: 33, items: 64 };
        assert_eq!(progress.now(), now);
        progress.begin(Stage::Factors { subset: 0, subsets: 1, count: 16 });
        assert_eq!(progress.now().text, "sums, level 1 of 4");
        progress.watch.add(16 * 5);
        assert_eq!(progress.now().text, "remainders, level 1 of 4");
        progress.watch.add(16 * 6);
        assert_eq!((progress.now().done, progress.now().items), (176, 176));
    }
}
