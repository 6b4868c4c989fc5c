//! The steps of a tree, which a watch counts.

use crate::Engine;
use modmill_core::{Error, watched};

/// Computes the steps of a tree: a step is a level, or what is done at the root or with all leaves. A step
/// counts as many items as the column has, and is not begun when the watch has stopped.
pub(super) struct Steps<'a> {
    watched: &'a Engine,
    /// The engine for the parts of a step, which count nothing.
    engine: Engine,
    /// The items that a step counts.
    items: usize,
}

impl<'a> Steps<'a> {
    pub(super) fn new(engine: &'a Engine, items: usize) -> Self {
        Self { watched: engine, engine: engine.watched_by(None), items }
    }

    pub(super) fn run<T>(&self, step: impl FnOnce(&Engine) -> Result<T, Error>) -> Result<T, Error> {
        watched(self.watched.watch(), self.items, || step(&self.engine)).unwrap_or(Err(Error::Interrupted))
    }
}

/// A part of a batch gcd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The products, from the leaves to the root.
    Products,
    /// The sums of fractions, from the leaves to the root.
    Sums,
    /// The fraction at the root.
    Root,
    /// The fractions, from the root to the leaves.
    Fractions,
    /// The remainders and the divisors of all leaves.
    Divisors,
}

/// The steps of [`batch_gcd`](super::batch_gcd) for a column: each counts as many items of a watch as the
/// column has.
///
/// ```
/// use modmill::trees::{BatchGcdSteps, Phase};
///
/// let steps = BatchGcdSteps::new(1000);
/// assert_eq!(steps.items(), 33 * 1000);
/// assert_eq!(steps.at(0), (Phase::Products, 1, 10));
/// assert_eq!(steps.at(15_999), (Phase::Sums, 6, 10));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct BatchGcdSteps {
    count: usize,
    levels: usize,
}

impl BatchGcdSteps {
    /// The steps for a column of `count` numbers.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { count, levels: count.next_power_of_two().trailing_zeros() as usize }
    }

    /// The items that a watch has counted at the end.
    #[must_use]
    pub fn items(&self) -> usize {
        (3 * self.levels + 3) * self.count
    }

    /// The phase that is computed when a watch has counted `done` items, its step from one on, and the number
    /// of its steps.
    #[must_use]
    pub fn at(&self, done: usize) -> (Phase, usize, usize) {
        let mut step = done / self.count.max(1);
        let phases = [
            (Phase::Products, self.levels),
            (Phase::Sums, self.levels),
            (Phase::Root, 1),
            (Phase::Fractions, self.levels),
        ];
        for (phase, steps) in phases {
            if step < steps {
                return (phase, step + 1, steps);
            }
            step -= steps;
        }
        (Phase::Divisors, step.min(1) + 1, 2)
    }
}
