//! The suite that every backend and every family of algorithms runs.
//!
//! Inputs come from fixed seeds, so that a case that fails once fails again. A failure shows the inputs
//! that caused it. A case that panics is a failed case, and the suite goes on.

mod batches;
mod check;
mod errors;
mod exponents;
mod identities;
mod integers;
mod known;
mod lengths;
mod powers;
mod primes;
mod products;
mod residues;
mod sharing;

use modmill::Engine;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How long the suite may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// For emulated devices, which take milliseconds for a block, and for a first look: every kind of case,
    /// with few lengths and values.
    Brief,
    /// The slowest path takes some seconds on one core.
    Quick,
    /// Takes minutes: more values at every length, and full exponents at large lengths too.
    Full,
}

impl Effort {
    /// The first number for a quick run, the second for a full one. A brief run gets a tenth of the first,
    /// and at least one unless the quick run has none.
    fn choose(self, quick: usize, full: usize) -> usize {
        match self {
            Self::Brief => quick.div_ceil(10),
            Self::Quick => quick,
            Self::Full => full,
        }
    }

    /// The lengths in bits, or the counts, that a run tests: all of them, but for a brief run only every
    /// sixth, and none above 260.
    fn some(self, all: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let all = all.into_iter();
        match self {
            Self::Brief => all.filter(|&length| length <= 260).step_by(6).collect(),
            Self::Quick | Self::Full => all.collect(),
        }
    }
}

/// A case of the suite, and its outcome.
#[derive(Debug, Clone)]
pub struct Case {
    /// The name of the case.
    pub name: String,
    /// An error describes the first wrong answer and the inputs that caused it.
    pub outcome: Outcome,
}

/// The outcome of a case.
pub type Outcome = Result<(), String>;

/// Runs every case on an engine, and reports each one when it ends.
pub fn run(engine: &Engine, effort: Effort, report: &mut dyn FnMut(Case)) {
    let mut suite = Suite { engine, effort, report };
    known::run(&mut suite);
    lengths::run(&mut suite);
    exponents::run(&mut suite);
    batches::run(&mut suite);
    sharing::run(&mut suite);
    identities::run(&mut suite);
    errors::run(&mut suite);
    primes::run(&mut suite);
    products::run(&mut suite);
    integers::run(&mut suite);
    residues::run(&mut suite);
    powers::run(&mut suite);
}

struct Suite<'a> {
    engine: &'a Engine,
    effort: Effort,
    report: &'a mut dyn FnMut(Case),
}

impl Suite<'_> {
    /// Runs one case.
    fn case(&mut self, name: impl Into<String>, check: impl FnOnce(&Engine) -> Outcome) {
        let outcome = catch_unwind(AssertUnwindSafe(|| check(self.engine))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("panicked: {}", text.unwrap_or("without a message")))
        });
        (self.report)(Case { name: name.into(), outcome });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failed_case_and_the_suite_goes_on() {
        let engine = Engine::new().unwrap();
        let mut cases = Vec::new();
        let mut report = |case| cases.push(case);
        let mut suite = Suite { engine: &engine, effort: Effort::Quick, report: &mut report };
        suite.case("bad", |_| panic!("boom {}", 1));
        suite.case("good", |_| Ok(()));
        assert_eq!(cases[0].outcome, Err("panicked: boom 1".to_owned()));
        assert_eq!((cases[1].name.as_str(), &cases[1].outcome), ("good", &Ok(())));
    }
}
