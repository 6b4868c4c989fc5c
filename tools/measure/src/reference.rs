//! Right answers, and the comparison of everyone's answers with them.

use crate::inputs::Inputs;
use modmill::{Engine, Error, Op};
use modmill_core::sync::Mutex;
use std::collections::BTreeMap;

/// The answers of some items, computed apart from the contender that is checked.
pub(crate) struct ReferenceAnswers {
    answers: BTreeMap<usize, Vec<u64>>,
    /// The library that computed them.
    pub(crate) by: String,
}

/// The library that decides between two different answers.
const REFEREE: &str = "num-bigint";

impl ReferenceAnswers {
    pub(crate) fn new(answers: impl Iterator<Item = (usize, Vec<u64>)>, by: &str) -> Self {
        Self { answers: answers.collect(), by: by.to_owned() }
    }

    /// A sample of a GPU's batch, computed by our CPU paths: the whole batch would take too long.
    pub(crate) fn by_cpu(inputs: &Inputs, cpu: &Engine) -> Result<Self, Error> {
        // A CPU takes long for long powers, so their sample is smaller.
        let most = match inputs.workload.op {
            Op::Pow | Op::PowVartime => ((1 << 20) / inputs.workload.bits).clamp(16, 256),
            _ => 256,
        };
        let items = inputs.sample(inputs.workload.count, most);
        let answers = inputs.part(&items).compute(cpu)?;
        Ok(Self::new(items.into_iter().zip(answers.iter().map(<[u64]>::to_vec)), "modmill cpu"))
    }

    /// Some items, computed by `expected` (which uses num-bigint) on all cores.
    pub(crate) fn by_referee(items: Vec<usize>, expected: impl Fn(usize) -> Vec<u64> + Sync) -> Self {
        let queue = Mutex::new(items.into_iter());
        let next = || queue.lock().next();
        let work = || std::iter::from_fn(next).map(|item| (item, expected(item))).collect::<Vec<_>>();
        let answers: Vec<_> = std::thread::scope(|scope| {
            let others = 1..std::thread::available_parallelism().map_or(1, usize::from);
            let others: Vec<_> = others.map(|_| scope.spawn(work)).collect();
            let own = work();
            others.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).chain(own).collect()
        });
        Self::new(answers.into_iter(), REFEREE)
    }

    /// The first item whose answer differs from `answer`.
    pub(crate) fn differing(&self, answer: &[u64]) -> Option<usize> {
        self.answers.iter().find(|(_, reference)| reference.as_slice() != answer).map(|(&item, _)| item)
    }

    pub(crate) fn len(&self) -> usize {
        self.answers.len()
    }
}

/// Compares answers with the reference. Where they differ, num-bigint decides which one is wrong.
pub(crate) struct Comparison<'a> {
    inputs: &'a Inputs,
    reference: &'a ReferenceAnswers,
    /// The referee's answers of the items for which someone's answer differed.
    decided: BTreeMap<usize, Vec<u64>>,
}

impl<'a> Comparison<'a> {
    pub(crate) fn new(inputs: &'a Inputs, reference: &'a ReferenceAnswers) -> Self {
        Self { inputs, reference, decided: BTreeMap::new() }
    }

    /// The items that have a reference answer.
    pub(crate) fn items(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.reference.answers.keys().copied()
    }

    /// Whether `answer` is right. Items without a reference answer pass.
    pub(crate) fn is_right(&mut self, item: usize, answer: &[u64]) -> bool {
        if let Some(decided) = self.decided.get(&item) {
            return decided == answer;
        }
        match self.reference.answers.get(&item) {
            None => true,
            Some(reference) if reference == answer => true,
            Some(_) if self.reference.by == REFEREE => false,
            Some(_) => self.decided.entry(item).or_insert(self.inputs.expected(item)) == answer,
        }
    }
}
