//! The record of a machine's work, for plots and comparisons.

/// A part of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The input side.
    Load,
    /// The radix-16 unit of this number, with its multipliers.
    Unit(usize),
    /// The carry resolver, with the output side.
    Resolver,
}

impl std::fmt::Display for Part {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Load => formatter.write_str("load"),
            Self::Unit(unit) => write!(formatter, "unit {unit}"),
            Self::Resolver => formatter.write_str("resolver"),
        }
    }
}

/// Cycles in which a part did one thing without a break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// The part.
    pub part: Part,
    /// The work: the name of a stage, or `load` or `unload`.
    pub work: String,
    /// The number of the product, from 0.
    pub product: usize,
    /// The first cycle.
    pub from: u64,
    /// The cycle after the last.
    pub to: u64,
}

/// The activities of a machine in the order in which they began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activities(Vec<Activity>);

impl Activities {
    /// Notes that `part` did `work` in `cycle`.
    pub(crate) fn note(&mut self, part: Part, work: &str, product: usize, cycle: u64) {
        let last = self.0.iter_mut().rev().find(|activity| activity.part == part);
        match last {
            Some(last) if last.to == cycle && last.work == work && last.product == product => last.to += 1,
            _ => self.0.push(Activity { part, work: work.to_owned(), product, from: cycle, to: cycle + 1 }),
        }
    }

    pub(crate) fn all(&self) -> &[Activity] {
        &self.0
    }
}

/// The two memories after the last write of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The number of the product, from 0.
    pub product: usize,
    /// The name of the stage.
    pub stage: String,
    /// The cycle of the last write.
    pub cycle: u64,
    /// The words of memories A and B. That of a bank and a row has the index `bank * rows + row`.
    pub memories: [Vec<u64>; 2],
}
